package question_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// gpus is a claim for a number of devices.
func gpus(name string, count int64) *resourcev1.ResourceClaim {
	c := explaintest.GPUClaim(count, "any")
	c.Name = name
	return c
}

// podOf is a pod that uses claims.
func podOf(name string, priority int32, claims ...string) *corev1.Pod {
	p := explaintest.NewPod(func(p *corev1.PodSpec) {
		uses(p, claims...)
		p.Priority = ptr.To(priority)
	})
	p.Name = name
	return p
}

// created is an object with the time at which it was created.
func created(pod *corev1.Pod, second int64) *corev1.Pod {
	pod.CreationTimestamp = metav1.Unix(second, 0)
	return pod
}

// onNode is a pod that is on a node.
func onNode(node string, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeName = node
	return pod
}

// answersInShort are the answers, each as: verdict, devices, after whom, and the verdict alone.
func answersInShort(answers []*explain.Explanation) []string {
	var out []string
	for _, e := range answers {
		text := string(e.Verdict)
		if e.Allocation != nil {
			for _, d := range e.Allocation.Devices {
				text += " " + d.ID.Pool + "/" + d.ID.Device
			}
		}
		if e.Turn != nil {
			text += " after"
			for _, s := range e.Turn.After {
				text += " " + s.Name
			}
			if e.Turn.Alone != "" {
				text += fmt.Sprintf(", alone %s on %d", e.Turn.Alone, e.Turn.AloneNodes.Allocatable)
			}
		}
		out = append(out, text)
	}
	return out
}

// TestObjectsGivesEachDeviceOnce asks about several on two nodes with one device each, or as a case says.
func TestObjectsGivesEachDeviceOnce(t *testing.T) {
	one, two, three, both := gpus("one", 1), gpus("two", 1), gpus("three", 1), gpus("both", 2)
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "t"}}
	template.Spec.Spec = one.Spec
	tests := []struct {
		name     string
		nodes    []int // devices
		pods     []*corev1.Pod
		subjects []metav1.Object
		want     []string
	}{
		{"as many as there are", []int{1, 1}, nil, []metav1.Object{one, two},
			[]string{"Allocatable n0/d00", "Allocatable n1/d00 after one"}},
		{"one too many", []int{1, 1}, nil, []metav1.Object{one, two, three},
			[]string{"Allocatable n0/d00", "Allocatable n1/d00 after one", "Unsatisfiable after one two, alone Allocatable on 2"}},
		{"who gets nothing takes nothing", []int{1, 1}, nil, []metav1.Object{both, two},
			[]string{"Unsatisfiable", "Allocatable n0/d00"}},
		{"twice the same", []int{1}, nil, []metav1.Object{one, one},
			[]string{"Allocatable n0/d00", "Allocatable n0/d00"}},
		{"a template takes nothing", []int{1}, nil, []metav1.Object{template, one},
			[]string{"Allocatable n0/d00", "Allocatable n0/d00"}},
		// Alone, one would go to n0, where two does not fit beside it.
		{"claims and then their pod", []int{1, 2}, nil, []metav1.Object{one, two, podOf("p", 0, "one", "two")},
			[]string{"Allocatable n0/d00", "Allocatable n0/d00", "Allocatable n1/d00 n1/d01"}},
		{"two claims of one pod", []int{1}, []*corev1.Pod{podOf("p", 0, "one", "two")}, []metav1.Object{one, two},
			[]string{"Allocatable n0/d00", "Allocatable n0/d00"}},
		{"pods by priority", []int{1}, nil, []metav1.Object{podOf("low", 1, "one"), podOf("high", 2, "two")},
			[]string{"Unsatisfiable after high, alone Allocatable on 1", "Allocatable n0/d00"}},
		{"claims by the priority of their pods", []int{1}, []*corev1.Pod{podOf("low", 1, "one"), podOf("high", 2, "two")}, []metav1.Object{one, two},
			[]string{"Unsatisfiable after two, alone Allocatable on 1", "Allocatable n0/d00"}},
		{"of equal priority the earlier first", []int{1}, nil, []metav1.Object{podOf("new", 0, "one"), created(podOf("later", 0, "two"), 2), created(podOf("sooner", 0, "three"), 1)},
			[]string{"Unsatisfiable after sooner, alone Allocatable on 1", "Unsatisfiable after sooner, alone Allocatable on 1", "Allocatable n0/d00"}},
		{"a pod that is on its node without devices", []int{1, 1}, nil, []metav1.Object{onNode("n1", podOf("a", 0, "one")), podOf("b", 0, "two")},
			[]string{"Allocatable n1/d00", "Allocatable n0/d00 after a"}},
		{"which of one second comes first is not known", []int{1}, nil, []metav1.Object{created(podOf("a", 0, "one"), 1), created(podOf("b", 0, "two"), 1)},
			[]string{"Unknown", "Unknown after a, alone Allocatable on 1"}},
		{"pods that share a claim", []int{1, 1}, nil, []metav1.Object{podOf("p", 0, "one"), podOf("q", 0, "one")},
			[]string{"Allocatable n0/d00", "Allocated n0/d00 after p"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(tt.nodes...)
			o.Claims, o.Pods = []*resourcev1.ResourceClaim{one, two, three, both}, tt.pods
			for _, s := range tt.subjects {
				if pod, ok := s.(*corev1.Pod); ok {
					o.Pods = append(o.Pods, pod)
				}
			}
			answers, err := question.Objects(t.Context(), explaintest.NewCluster(o), tt.subjects, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(answersInShort(answers), "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestObjectsGivesEachShareOnce asks for shares of a device that has room for two of them.
func TestObjectsGivesEachShareOnce(t *testing.T) {
	o := explaintest.NodesWithDevices(1)
	device := &o.Slices[0].Spec.Devices[0]
	device.AllowMultipleAllocations = ptr.To(true)
	device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("10Gi")}}
	var subjects []metav1.Object
	for _, name := range []string{"one", "two", "three"} {
		c := gpus(name, 1)
		c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
			Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("5Gi")},
		}
		subjects = append(subjects, c)
	}
	answers, err := question.Objects(t.Context(), explaintest.NewCluster(o), subjects, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "Allocatable n0/d00\nAllocatable n0/d00 after one\nUnsatisfiable after one two, alone Allocatable on 1"
	if got := strings.Join(answersInShort(answers), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNothingSupposedIsReleased: the second pod would fit on n1 if the first had not got the device of n0,
// where it has to run, for the claim that they share; but there is nothing to release yet.
func TestNothingSupposedIsReleased(t *testing.T) {
	o := explaintest.NodesWithDevices(1, 3)
	o.Claims = []*resourcev1.ResourceClaim{gpus("one", 1), gpus("both", 2)}
	o.Pods = []*corev1.Pod{podOf("p", 0, "one"), podOf("q", 0, "one", "both")}
	o.Pods[0].Spec.Affinity = onlyOn("n0")
	answers, err := question.Objects(t.Context(), explaintest.NewCluster(o), []metav1.Object{o.Pods[0], o.Pods[1]}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := answersInShort(answers)[1], "Unsatisfiable after p, alone Allocatable on 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if slices.ContainsFunc(answers[1].Fixes, func(f explain.Fix) bool { return f.Kind == explain.ReleaseClaim }) {
		t.Errorf("a fix releases what nobody holds: %+v", answers[1].Fixes)
	}
}

// TestDevicesAreOfTheNode: nodes whose devices look alike are decided once; where a filter refuses the first
// of them, the devices are those of the one that is left.
func TestDevicesAreOfTheNode(t *testing.T) {
	o := explaintest.NodesWithDevices(1, 1)
	o.Nodes[0].Spec.Unschedulable = true
	o.Claims = []*resourcev1.ResourceClaim{gpus("one", 1)}
	o.Pods = []*corev1.Pod{podOf("p", 0, "one")}
	e, err := question.Pod(t.Context(), explaintest.NewCluster(o), inspect.PodRef{Namespace: "ml", Name: "p"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := answersInShort([]*explain.Explanation{e})[0]; got != "Allocatable n1/d00" {
		t.Errorf("got %s, want a device of n1, where the pod can be", got)
	}
}

// onlyOn lets a pod run on one node.
func onlyOn(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}}}
}

// TestChoiceForOthers asks about pods whose answers depend, or do not, on the node that the scheduler chooses
// for those before.
func TestChoiceForOthers(t *testing.T) {
	tests := []struct {
		name  string
		nodes []int // devices
		pods  []*corev1.Pod
		want  []string
	}{
		{"beside it there is no room for two", []int{1, 2}, []*corev1.Pod{podOf("p", 0, "one"), podOf("q", 0, "both")},
			[]string{"Allocatable n0/d00", "Unknown after p"}},
		{"a third node has room", []int{1, 2, 2}, []*corev1.Pod{podOf("p", 0, "one"), podOf("q", 0, "both")},
			[]string{"Allocatable n0/d00", "Allocatable n1/d00 n1/d01 after p"}},
		{"all are taken in any case", []int{1, 1}, []*corev1.Pod{podOf("p", 0, "one"), podOf("q", 0, "two"), podOf("r", 0, "three")},
			[]string{"Allocatable n0/d00", "Allocatable n1/d00 after p", "Unsatisfiable after p q, alone Allocatable on 2"}},
		{"on the node of a claim that they share", []int{1, 3}, []*corev1.Pod{podOf("p", 0, "one"), podOf("q", 0, "one", "both")},
			[]string{"Allocatable n0/d00", "Unknown after p, alone Allocatable on 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(tt.nodes...)
			o.Claims = []*resourcev1.ResourceClaim{gpus("one", 1), gpus("two", 1), gpus("three", 1), gpus("both", 2)}
			o.Pods = tt.pods
			var subjects []metav1.Object
			for _, pod := range tt.pods {
				subjects = append(subjects, pod)
			}
			answers, err := question.Objects(t.Context(), explaintest.NewCluster(o), subjects, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(answersInShort(answers), "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, e := range answers {
				t.Log(e.Message, e.Partial)
			}
		})
	}
}

// TestSupposedHolderIsNamed: the conflict names the claim that has got the only device.
func TestSupposedHolderIsNamed(t *testing.T) {
	o := explaintest.NodesWithDevices(1)
	o.Claims = []*resourcev1.ResourceClaim{gpus("one", 1), gpus("two", 1)}
	answers, err := question.Objects(t.Context(), explaintest.NewCluster(o), []metav1.Object{o.Claims[0], o.Claims[1]}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := answers[1]
	if e.Conflict == nil || !slices.ContainsFunc(e.Conflict.Requirements, func(r explain.Requirement) bool {
		return r.Holder != nil && r.Holder.Claim == inspect.ClaimRef{Namespace: "ml", Name: "one"}
	}) {
		t.Errorf("the conflict does not name the claim that has the device: %+v", e.Conflict)
	}
	if slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == explain.ReleaseClaim }) {
		t.Errorf("a fix releases what nobody holds: %+v", e.Fixes)
	}
}

// TestObjectsByScores: b fits on n0 alone, and kube-scheduler puts a there, since it has more room left. That
// is known once it is known what kube-scheduler likes nodes by.
func TestObjectsByScores(t *testing.T) {
	s, err := scenario.LoadPods("../../testdata/several/pods-last-one-depends.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		by   replay.Choosing
		want explain.Verdict
	}{
		{"images are not known", replay.Choosing{}, explain.Unknown},
		{"all is known", replay.Choosing{Images: scores.ImagesOf(s.Snapshot.Nodes()), Workloads: &inspect.Selecting{}}, explain.Unsatisfiable},
	} {
		var subjects []metav1.Object
		for i := range s.Wants {
			pod, _ := s.Snapshot.Pod(s.Wants[i].Pod)
			subjects = append(subjects, pod)
		}
		answers, err := question.Objects(t.Context(), scheduler.NewCluster(s.Snapshot, scheduler.Options{}), subjects, question.Options{Choosing: test.by})
		if err != nil {
			t.Fatal(err)
		}
		if got := answers[1]; got.Verdict != test.want || !slices.ContainsFunc(got.Fixes, func(f explain.Fix) bool { return f.Kind == explain.PinPod }) {
			t.Errorf("%s: %s, fixes %+v", test.name, got.Message, got.Fixes)
		}
	}
}
