package filters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// randomPod has containers of all kinds, and a status as kubelets report it or would never do.
type randomPod struct{ *rand.Rand }

func (r randomPod) list() corev1.ResourceList {
	if r.IntN(5) == 0 {
		return nil
	}
	out := corev1.ResourceList{}
	texts := []string{"0", "1", "2", "1500m", "1m", "3Gi", "1500M", "999m"}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "pods", "nonsense"} {
		if r.IntN(2) == 0 {
			out[name] = resource.MustParse(texts[r.IntN(len(texts))])
		}
	}
	return out
}

func (r randomPod) container(i int) (corev1.Container, corev1.ContainerStatus) {
	c := corev1.Container{Name: fmt.Sprint("c", i)}
	c.Resources.Requests = r.list()
	status := corev1.ContainerStatus{Name: c.Name}
	if r.IntN(2) == 0 {
		status.AllocatedResources = r.list()
	}
	if r.IntN(2) == 0 {
		status.Resources = &corev1.ResourceRequirements{Requests: r.list()}
	}
	return c, status
}

func (r randomPod) pod() *corev1.Pod {
	pod := &corev1.Pod{}
	for i := range r.IntN(3) {
		c, status := r.container(i)
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		if r.IntN(3) > 0 {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
	for i := range r.IntN(4) {
		c, status := r.container(10 + i)
		if r.IntN(2) == 0 {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
		if r.IntN(3) > 0 {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		}
	}
	if r.IntN(2) == 0 {
		pod.Spec.Overhead = r.list()
	}
	if r.IntN(2) == 0 {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: r.list()}
	}
	r.status(&pod.Status)
	return pod
}

func (r randomPod) status(status *corev1.PodStatus) {
	if r.IntN(3) == 0 {
		status.AllocatedResources = r.list()
	}
	if r.IntN(3) == 0 {
		status.Resources = &corev1.ResourceRequirements{Requests: r.list()}
	}
	if r.IntN(4) == 0 {
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: []string{corev1.PodReasonInfeasible, corev1.PodReasonDeferred}[r.IntN(2)]}}
	}
	if r.IntN(3) == 0 {
		status.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{{
			Containers: []string{"c0", "c1"},
			Mapping:    []corev1.NodeAllocatableMappedResources{{Name: "cpu", Quantity: ptr.To(resource.MustParse("2500m"))}, {Name: "memory"}},
			Overhead:   []corev1.NodeAllocatableOverheadResources{{Name: "memory", PerPod: ptr.To(resource.MustParse("1Mi")), PerContainer: ptr.To(resource.MustParse("500m"))}},
		}}
	}
}

// TestTakenAsUpstream compares what pods take with what the library of Kubernetes computes, under all gates.
func TestTakenAsUpstream(t *testing.T) {
	r := randomPod{rand.New(rand.NewPCG(1, 2))}
	reused := newCounter(requestRules{})
	differ := map[string]int{}
	for range effort.Of(4000, 1000) {
		pod := r.pod()
		plain := fmt.Sprint(takenBy(requestRules{}, pod))
		for bits := range 16 {
			rules := requestRules{podLevel: bits&1 > 0, statuses: bits&2 > 0, podLevelStatuses: bits&4 > 0, devices: bits&8 > 0}
			reused.rules = rules
			got, want := reused.taken(pod), upstreamTaken(rules, pod)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: %v, want %v\n%+v", rules, got, want, pod)
			}
			if fmt.Sprint(got) != plain {
				differ[fmt.Sprintf("%+v", rules)]++
			}
		}
	}
	if len(differ) < 12 {
		t.Errorf("the gates make too little difference: %v", differ)
	}
}

func takenBy(rules requestRules, pod *corev1.Pod) amounts {
	return newCounter(rules).taken(pod)
}

// upstreamTaken is what the scheduler counts, from what the library says.
func upstreamTaken(rules requestRules, pod *corev1.Pod) amounts {
	var out amounts
	for name, quantity := range helpers.PodRequests(pod, helpers.PodResourcesOptions{
		SkipPodLevelResources: !rules.podLevel, UseStatusResources: rules.statuses,
		InPlacePodLevelResourcesVerticalScalingEnabled: rules.podLevelStatuses, UseDRANodeAllocatableResourceClaimStatus: rules.devices,
	}) {
		switch name {
		case "cpu":
			out.add(amounts{{name, quantity.MilliValue()}})
		case "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi":
			out.add(amounts{{name, quantity.Value()}})
		}
	}
	return out
}

// TestTaken has cases that the library does not decide, or decided otherwise in older releases.
func TestTaken(t *testing.T) {
	newest := requestRules{podLevel: true, statuses: true, podLevelStatuses: true}
	older := newest
	older.perContainer = true
	limits := corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Limits: list("cpu", "2", "memory", "1Gi"), Requests: list("cpu", "1")}}},
	}}
	podLimits := corev1.Pod{Spec: corev1.PodSpec{
		Resources:  &corev1.ResourceRequirements{Limits: list("cpu", "8", "memory", "4Gi", "hugepages-2Mi", "8Mi", "example.com/gpu", "3")},
		Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("cpu", "1", "hugepages-2Mi", "2Mi")}}},
	}}
	allocatedOnly := corev1.Pod{
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", AllocatedResources: list("cpu", "2")}}},
	}
	crossed := corev1.Pod{
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}}, {Name: "b", Resources: corev1.ResourceRequirements{Requests: list("cpu", "4")}}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Name: "a", AllocatedResources: list("cpu", "3"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3")}},
			{Name: "b", AllocatedResources: list("cpu", "2"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "2")}}}},
	}
	ended := corev1.Pod{
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}}}},
		Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{Name: "a", AllocatedResources: list("cpu", "3"), Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3")}}}},
	}
	twice := corev1.Pod{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")}}}},
		Status: corev1.PodStatus{
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "a", Resources: &corev1.ResourceRequirements{Requests: list("cpu", "2")}}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "a", Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3")}}},
		},
	}
	whole := corev1.Pod{
		Spec: corev1.PodSpec{
			Resources:  &corev1.ResourceRequirements{Requests: list("cpu", "2")},
			Containers: []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Requests: list("memory", "2Gi")}}},
		},
		Status: corev1.PodStatus{Resources: &corev1.ResourceRequirements{Requests: list("cpu", "3", "memory", "1Gi")}},
	}
	for name, test := range map[string]struct {
		pod         *corev1.Pod
		new, before amounts
	}{
		"a limit without a request is one": {&limits, amounts{{"cpu", 1000}, {"memory", 1 << 30}}, amounts{{"cpu", 1000}, {"memory", 1 << 30}}},
		"limits of the pod, of what no container requests and of huge pages": {&podLimits,
			amounts{{"cpu", 1000}, {"hugepages-2Mi", 8 << 20}, {"memory", 4 << 30}}, amounts{{"cpu", 1000}, {"hugepages-2Mi", 8 << 20}, {"memory", 4 << 30}}},
		"allocated, but no resources in the status": {&allocatedOnly, amounts{{"cpu", 2000}}, amounts{{"cpu", 1000}}},
		// 1.37 takes the larger of 1+4 and 3+2, before it was 3+4.
		"one container shrinks while another grows":             {&crossed, amounts{{"cpu", 5000}}, amounts{{"cpu", 7000}}},
		"an init container that ends has more than it requests": {&ended, amounts{{"cpu", 3000}}, amounts{{"cpu", 1000}}},
		"a container has two statuses":                          {&twice, amounts{{"cpu", 2000}}, amounts{{"cpu", 3000}}},
		// The status of the pod as a whole also counts for what only its containers request.
		"the pod has more of one and less of another": {&whole, amounts{{"cpu", 3000}, {"memory", 1 << 30}}, amounts{{"cpu", 3000}, {"memory", 2 << 30}}},
	} {
		if got := takenBy(newest, test.pod); !slices.Equal(got, test.new) {
			t.Errorf("%s: %v, want %v", name, got, test.new)
		}
		if got := takenBy(older, test.pod); !slices.Equal(got, test.before) {
			t.Errorf("%s, before 1.37: %v, want %v", name, got, test.before)
		}
	}
}

// TestRequestRules says which gates count in which release.
func TestRequestRules(t *testing.T) {
	for minor, want := range map[int]requestRules{
		34: {podLevel: true, statuses: true, perContainer: true},
		35: {podLevel: true, statuses: true, perContainer: true},
		36: {podLevel: true, statuses: true, podLevelStatuses: true, perContainer: true},
		37: {podLevel: true, statuses: true, podLevelStatuses: true},
	} {
		s := inspect.New(inspect.Objects{}, inspect.Config{Features: inspect.DefaultFeatures(minor)})
		if got := requestRulesOf(s); got != want {
			t.Errorf("1.%d: %+v, want %+v", minor, got, want)
		}
	}
}
