package inspect

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var update = flag.Bool("update", false, "write the golden file again; read it before you keep it")

// TestReducedPodHasTheFields: of a pod in which every field says something, just the fields of the golden
// file are left.
func TestReducedPodHasTheFields(t *testing.T) {
	pod := &corev1.Pod{}
	fill(reflect.ValueOf(&pod.Spec).Elem())
	fill(reflect.ValueOf(&pod.Status).Elem())
	ReducePod(pod)
	got := strings.Join(append(set("spec", reflect.ValueOf(pod.Spec)), set("status", reflect.ValueOf(pod.Status))...), "\n") + "\n"
	const golden = "testdata/reducedpod.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("fields that are left (-want +got):\n%s", diff)
	}
}

// fill gives every field below a value that is not zero; lists get one element.
func fill(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch o := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*o = resource.MustParse("5")
		return
	case *metav1.Time:
		*o = metav1.Unix(1, 0)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	}
}

// set are the paths of the fields below a value that are not zero. What only selects or tolerates is not gone
// into.
func set(path string, v reflect.Value) []string {
	if v.IsZero() {
		return nil
	}
	switch v.Interface().(type) {
	case resource.Quantity, metav1.Time, metav1.LabelSelector, corev1.NodeSelector, corev1.Toleration:
		return []string{path}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return set(path, v.Elem())
	case reflect.Slice:
		return set(path+"[]", v.Index(0))
	case reflect.Struct:
		var out []string
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			at := path
			if name != "" {
				at += "." + name
			}
			out = append(out, set(at, v.Field(i))...)
		}
		if len(out) == 0 {
			return []string{path}
		}
		return out
	}
	return []string{path}
}

// TestReducedContainerStatuses: a container that does what it should has no status left, and one of which the
// spec does not say all keeps what it has.
func TestReducedContainerStatuses(t *testing.T) {
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	has := func(cpu string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: list(cpu), Limits: list("9")}
	}
	kept := func(cpu string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: list(cpu)}
	}
	pending := []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
	tests := map[string]struct {
		conditions []corev1.PodCondition
		in         corev1.ContainerStatus
		want       *corev1.ContainerStatus
	}{
		"runs": {in: corev1.ContainerStatus{
			Ready: true, Image: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, AllocatedResources: list("1"), Resources: has("1000m"),
		}},
		"has ended well": {in: corev1.ContainerStatus{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
		}},
		"waits": {
			in: corev1.ContainerStatus{
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}, AllocatedResources: list("1"),
			},
			want: &corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}},
		},
		"was killed": {
			in: corev1.ContainerStatus{RestartCount: 3, Ready: true, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", Message: "the last words", ContainerID: "c"},
			}},
			want: &corev1.ContainerStatus{RestartCount: 3, Ready: true, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"},
			}},
		},
		"has a broken device": {
			in:   corev1.ContainerStatus{AllocatedResourcesStatus: []corev1.ResourceStatus{{Name: "claim:gpu"}}},
			want: &corev1.ContainerStatus{AllocatedResourcesStatus: []corev1.ResourceStatus{{Name: "claim:gpu"}}},
		},
		"has not shrunk yet": {
			in:   corev1.ContainerStatus{AllocatedResources: list("1"), Resources: has("2")},
			want: &corev1.ContainerStatus{AllocatedResources: list("1"), Resources: kept("2")},
		},
		"has less of other things": {
			in:   corev1.ContainerStatus{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1")}}},
			want: &corev1.ContainerStatus{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1")}}},
		},
		"cannot be resized": {
			conditions: pending,
			in:         corev1.ContainerStatus{AllocatedResources: list("1"), Resources: has("1")},
			want:       &corev1.ContainerStatus{AllocatedResources: list("1"), Resources: kept("1")},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.in.Name = "main"
			var want []corev1.ContainerStatus
			if tt.want != nil {
				tt.want.Name = "main"
				want = []corev1.ContainerStatus{*tt.want}
			}
			pod := &corev1.Pod{
				Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list("1")}}}},
				Status: corev1.PodStatus{Conditions: tt.conditions, ContainerStatuses: []corev1.ContainerStatus{tt.in}},
			}
			pod.Spec.InitContainers, pod.Status.InitContainerStatuses = pod.Spec.Containers, pod.Status.ContainerStatuses
			ReducePod(pod)
			for _, got := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestReducedConditions: what follows from the phase is dropped; as long as a pod does not run, or something
// is not as it should be, conditions stay.
func TestReducedConditions(t *testing.T) {
	all := func(status corev1.ConditionStatus) (out []corev1.PodCondition) {
		for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers, corev1.ContainersReady, corev1.PodReady, "example.com/other"} {
			out = append(out, corev1.PodCondition{Type: kind, Status: status})
		}
		return out
	}
	for _, tt := range []struct {
		phase  corev1.PodPhase
		status corev1.ConditionStatus
		want   string
	}{
		{corev1.PodRunning, corev1.ConditionTrue, "[Ready example.com/other]"},
		{corev1.PodSucceeded, corev1.ConditionTrue, "[Ready example.com/other]"},
		{corev1.PodRunning, corev1.ConditionFalse, "[PodScheduled Initialized PodReadyToStartContainers ContainersReady Ready example.com/other]"},
		{corev1.PodPending, corev1.ConditionTrue, "[PodScheduled Initialized PodReadyToStartContainers ContainersReady Ready example.com/other]"},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: tt.phase, Conditions: all(tt.status)}}
		ReducePod(pod)
		var got []corev1.PodConditionType
		for _, c := range pod.Status.Conditions {
			got = append(got, c.Type)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s, all %s: %v, want %s", tt.phase, tt.status, got, tt.want)
		}
	}
}

// TestReducedPodDropsWhatSaysNothing, such as an empty affinity and the policy that all pods have.
func TestReducedPodDropsWhatSaysNothing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority),
		Affinity: &corev1.Affinity{
			NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{},
		},
		Volumes: []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
		Containers: []corev1.Container{{
			Ports:        []corev1.ContainerPort{{ContainerPort: 80}},
			VolumeMounts: []corev1.VolumeMount{{Name: "settings"}},
		}},
	}}
	ReducePod(pod)
	if diff := cmp.Diff(corev1.PodSpec{Containers: []corev1.Container{{}}}, pod.Spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	host := &corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}}}
	if ReducePod(host); len(host.Spec.Containers[0].Ports) != 1 {
		t.Error("a port of a pod in the host's network is lost")
	}
	never := &corev1.Pod{Spec: corev1.PodSpec{PreemptionPolicy: ptr.To(corev1.PreemptNever)}}
	if ReducePod(never); never.Spec.PreemptionPolicy == nil {
		t.Error("a pod that never preempts may do so now")
	}
}

func TestReduceAnnotations(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"volume.kubernetes.io/selected-node": "n1", "pv.kubernetes.io/bind-completed": "yes", "example.com/password": "secret",
		"kubectl.kubernetes.io/last-applied-configuration": "{}",
	}}}
	ReduceAnnotations(claim)
	var got []string
	for key := range claim.Annotations {
		got = append(got, key)
	}
	slices.Sort(got)
	if want := []string{"pv.kubernetes.io/bind-completed", "volume.kubernetes.io/selected-node"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	bare := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/a": "b"}}}
	if ReduceAnnotations(bare); bare.Annotations != nil {
		t.Errorf("an empty map is left: %v", bare.Annotations)
	}
}
