package filters

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// requestRules are what decides how much a pod takes, besides the pod.
type requestRules struct {
	// podLevel: what the pod as a whole requests counts instead of the sum of its containers (gate PodLevelResources).
	podLevel bool
	// statuses: what a running pod has counts as well as what its spec says (gate InPlacePodVerticalScaling).
	statuses bool
	// podLevelStatuses: so does what the pod as a whole has (gate InPlacePodLevelResourcesVerticalScaling).
	podLevelStatuses bool
	// devices: what allocated devices take of the node counts (gate DRANodeAllocatableResources).
	devices bool
	// perContainer: the larger of spec and status is taken for each container before they are summed up, only for containers
	// that keep running, and only if the status has resources. Before 1.37.
	perContainer bool
}

func requestRulesOf(s *inspect.Snapshot) requestRules {
	f, release := s.Features(), s.Release().Modelled()
	return requestRules{
		podLevel:         f.Enabled(inspect.GatePodLevelResources),
		statuses:         f.Enabled(inspect.GateInPlacePodVerticalScaling),
		podLevelStatuses: f.Enabled(inspect.GateInPlacePodLevelResourcesVerticalScaling) && !release.Before(35, 0),
		devices:          f.Enabled(inspect.GateNodeAllocatableResources) && !release.Before(37, 0),
		perContainer:     release.Before(37, 0),
	}
}

// asked is what a pod that is not on a node yet asks for.
func (r requestRules) asked(pod *corev1.Pod) amounts {
	return requestRules{podLevel: r.podLevel}.taken(pod)
}

// taken is what a pod on a node takes of it.
func (r requestRules) taken(pod *corev1.Pod) amounts {
	sum := r.containers(pod)
	if r.podLevel && pod.Spec.Resources != nil {
		r.overridePodLevel(sum, pod)
	}
	sum.add(pod.Spec.Overhead)
	return sum.amounts()
}

// containers is what the containers of a pod take together.
func (r requestRules) containers(pod *corev1.Pod) *sum {
	infeasible := r.statuses && helpers.IsPodResizeInfeasible(pod)
	switch {
	case r.statuses && r.perContainer:
		return together(pod, func(total *sum, c *corev1.Container, ends bool) { addLarger(total, pod, c, ends, infeasible) })
	case !r.statuses || !hasStatus(pod):
		spec := together(pod, addRequests)
		r.addDevices(spec, pod)
		return spec
	}
	out := &sum{}
	if !infeasible {
		out = together(pod, addRequests)
		r.addDevices(out, pod)
	}
	if r.podLevelStatuses && pod.Status.AllocatedResources != nil && pod.Status.Resources != nil && pod.Status.Resources.Requests != nil {
		out.max(sumOf(pod.Status.AllocatedResources))
		out.max(sumOf(pod.Status.Resources.Requests))
		return out
	}
	allocated := together(pod, func(total *sum, c *corev1.Container, _ bool) { addAllocated(total, c, statusOf(pod, c), infeasible) })
	r.addDevices(allocated, pod)
	out.max(allocated)
	out.max(together(pod, func(total *sum, c *corev1.Container, _ bool) {
		if status := statusOf(pod, c); status != nil && status.Resources != nil && status.Resources.Requests != nil {
			total.add(status.Resources.Requests)
		} else {
			addAllocated(total, c, status, infeasible)
		}
	}))
	return out
}

// hasStatus reports whether the status of a pod says anything of resources.
func hasStatus(pod *corev1.Pod) bool {
	if pod.Status.Resources != nil || pod.Status.AllocatedResources != nil {
		return true
	}
	has := func(s corev1.ContainerStatus) bool { return s.Resources != nil || s.AllocatedResources != nil }
	return slices.ContainsFunc(pod.Status.ContainerStatuses, has) || slices.ContainsFunc(pod.Status.InitContainerStatuses, has) ||
		helpers.IsPodResizeInfeasible(pod)
}

// together is what the containers of a pod take together at any time, if take adds what one does, of which it is told whether
// it ends before others begin. Init containers run one after the other, before the others, and those that never end run
// besides all that come later.
func together(pod *corev1.Pod, take func(total *sum, c *corev1.Container, ends bool)) *sum {
	total := &sum{}
	for i := range pod.Spec.Containers {
		take(total, &pod.Spec.Containers[i], false)
	}
	var sidecars, most sum
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if isSidecar(c) {
			take(total, c, false)
			take(&sidecars, c, false)
			most.max(&sidecars)
			continue
		}
		now := sum{parts: slices.Clone(sidecars.parts)}
		take(&now, c, true)
		most.max(&now)
	}
	total.max(&most)
	return total
}

// isSidecar reports whether an init container keeps running.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// addRequests adds what a container requests. A limit without a request is a request, as the API server makes it.
func addRequests(total *sum, c *corev1.Container, _ bool) {
	total.add(c.Resources.Requests)
	for name, quantity := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; !ok {
			total.addOne(name, quantity)
		}
	}
}

// addAllocated adds what the kubelet has granted a container.
func addAllocated(total *sum, c *corev1.Container, status *corev1.ContainerStatus, infeasible bool) {
	switch {
	case status != nil && status.AllocatedResources != nil:
		total.add(status.AllocatedResources)
	case !infeasible:
		addRequests(total, c, false)
	}
}

// addLarger adds the larger of what a container requests and has, if it is one that keeps running.
func addLarger(total *sum, pod *corev1.Pod, c *corev1.Container, ends, infeasible bool) {
	status := statusOf(pod, c)
	if ends || status == nil || status.Resources == nil {
		addRequests(total, c, ends)
		return
	}
	var most sum
	if !infeasible {
		addRequests(&most, c, ends)
	}
	most.max(sumOf(status.Resources.Requests))
	most.max(sumOf(status.AllocatedResources))
	total.plus(&most)
}

// statusOf returns the status of a container, or nil.
func statusOf(pod *corev1.Pod, c *corev1.Container) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == c.Name {
				return &statuses[i]
			}
		}
	}
	return nil
}

// overridePodLevel puts what the pod as a whole requests in place of what its containers do.
func (r requestRules) overridePodLevel(total *sum, pod *corev1.Pod) {
	requests := podLevelRequests(total, pod)
	if len(requests.parts) == 0 {
		return
	}
	effective := requests
	if r.podLevelStatuses && r.statuses && pod.Status.Resources != nil {
		effective = &sum{}
		if !helpers.IsPodResizeInfeasible(pod) {
			effective.plus(requests)
		}
		effective.max(sumOf(pod.Status.Resources.Requests))
		effective.max(sumOf(pod.Status.AllocatedResources))
	}
	names := effective
	if r.perContainer {
		names = requests
	}
	for _, p := range names.parts {
		if helpers.IsSupportedPodLevelResource(p.name) {
			*total.at(p.name) = *effective.at(p.name)
		}
	}
}

// podLevelRequests are those of a pod as a whole that can be made so. A limit without a request is a request, as the API
// server makes it, unless containers request the resource and may have more together than each for itself.
func podLevelRequests(containers *sum, pod *corev1.Pod) *sum {
	out := &sum{}
	for name, quantity := range pod.Spec.Resources.Requests {
		if helpers.IsSupportedPodLevelResource(name) {
			out.addOne(name, quantity)
		}
	}
	for name, quantity := range pod.Spec.Resources.Limits {
		huge := strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if helpers.IsSupportedPodLevelResource(name) && !out.has(name) && (huge || !containers.has(name)) {
			out.addOne(name, quantity)
		}
	}
	return out
}

// addDevices adds what the devices of a pod take of the node.
func (r requestRules) addDevices(total *sum, pod *corev1.Pod) {
	if !r.devices {
		return
	}
	for i := range pod.Status.NodeAllocatableResourceClaimStatuses {
		claim := &pod.Status.NodeAllocatableResourceClaimStatuses[i]
		for j := range claim.Mapping {
			if m := &claim.Mapping[j]; m.Quantity != nil {
				total.addOne(m.Name, *m.Quantity)
			}
		}
		for j := range claim.Overhead {
			o := &claim.Overhead[j]
			if o.PerPod != nil {
				total.addOne(o.Name, *o.PerPod)
			}
			for range claim.Containers {
				if o.PerContainer != nil {
					total.addOne(o.Name, *o.PerContainer)
				}
			}
		}
	}
}
