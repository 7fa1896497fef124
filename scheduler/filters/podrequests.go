package filters

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	helpers "k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// requestRules are what decides how much a pod takes, besides the pod.
type requestRules struct {
	// podLevel: what the pod as a whole requests counts instead of the sum of its containers (gate
	// PodLevelResources).
	podLevel bool
	// statuses: what a running pod has counts as well as what its spec says (gate InPlacePodVerticalScaling).
	statuses bool
	// podLevelStatuses: so does what the pod as a whole has (gate InPlacePodLevelResourcesVerticalScaling).
	podLevelStatuses bool
	// devices: what allocated devices take of the node counts (gate DRANodeAllocatableResources).
	devices bool
	// perContainer: the larger of spec and status is taken for each container before they are summed up, only
	// for containers that keep running, and only if the status has resources. Before 1.37.
	perContainer bool
	// scheduler is the configuration, which decides what a profile asks.
	scheduler *schedulerconfig.Config
	// overheadEnds: what a device takes of the node for each container that uses it counts only as long as
	// the container runs. Before 1.38 it counts all the time.
	overheadEnds bool
}

func requestRulesOf(s *inspect.Snapshot) requestRules {
	f, release := s.Features(), s.Release().Modelled()
	return requestRules{
		podLevel:         f.Enabled(inspect.GatePodLevelResources),
		statuses:         f.Enabled(inspect.GateInPlacePodVerticalScaling),
		podLevelStatuses: f.Enabled(inspect.GateInPlacePodLevelResourcesVerticalScaling) && !release.Before(35, 0),
		devices:          f.Enabled(inspect.GateNodeAllocatableResources) && !release.Before(37, 0),
		perContainer:     release.Before(37, 0),
		scheduler:        s.Scheduler(),
		overheadEnds:     !release.Before(38, 0),
	}
}

// asked is what a pod that is not on a node yet asks for.
func (r requestRules) asked(pod *corev1.Pod) amounts {
	return newCounter(requestRules{podLevel: r.podLevel}).taken(pod)
}

// counter counts what one pod after another takes. It keeps the memory that it computes in.
type counter struct {
	rules requestRules
	known names

	pod        *corev1.Pod
	infeasible bool // the pod cannot become what its spec says
	total      sum  // what is counted at the moment
	most       sum  // the most that the pod takes
	// What containers take while init containers run: those that keep running, the most at any time, and one.
	sidecars, initMost, one sum
	// fills are counted of every container that says nothing of the resource. See filled.
	fills []part
	// level is what the pod as a whole requests, or nil.
	level *sum
}

func newCounter(rules requestRules) *counter { return &counter{rules: rules, known: names{}} }

// taken is what a pod on a node takes of it.
func (c *counter) taken(pod *corev1.Pod) amounts {
	c.count(pod)
	return c.most.amounts(c.known)
}

// count puts into most what a pod takes.
func (c *counter) count(pod *corev1.Pod) {
	c.pod, c.infeasible = pod, c.rules.statuses && helpers.IsPodResizeInfeasible(pod)
	c.most.clear()
	c.containers()
	if c.rules.podLevel && pod.Spec.Resources != nil {
		c.overridePodLevel()
	}
	c.most.add(pod.Spec.Overhead)
}

// containers puts into most what the containers of the pod take together.
func (c *counter) containers() {
	status := &c.pod.Status
	switch {
	case c.rules.statuses && c.rules.perContainer:
		c.atMost((*counter).addLarger, false)
	case !c.rules.statuses || !c.hasStatus():
		c.atMost((*counter).addRequests, true)
	default:
		if !c.infeasible {
			c.atMost((*counter).addRequests, true)
		}
		if c.rules.podLevelStatuses && status.AllocatedResources != nil && status.Resources != nil && status.Resources.Requests != nil {
			c.most.max(sumOf(status.AllocatedResources))
			c.most.max(sumOf(status.Resources.Requests))
			return
		}
		c.atMost((*counter).addAllocated, true)
		c.atMost((*counter).addActuated, false)
	}
}

// hasStatus reports whether the status of the pod says anything of resources.
func (c *counter) hasStatus() bool {
	status := &c.pod.Status
	if c.infeasible || status.Resources != nil || status.AllocatedResources != nil {
		return true
	}
	for _, statuses := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Resources != nil || statuses[i].AllocatedResources != nil {
				return true
			}
		}
	}
	return false
}

// atMost raises most to what the containers take together at any time, if take adds to total what one does,
// of which it is told whether it ends before others begin. Init containers run one after the other, before
// the others, and those that never end run besides all that come later.
func (c *counter) atMost(take func(c *counter, container *corev1.Container, ends bool), withDevices bool) {
	c.total.clear()
	withDevices = withDevices && c.rules.devices
	for i := range c.pod.Spec.Containers {
		c.fill(take, &c.pod.Spec.Containers[i], false)
		c.addOverhead(&c.pod.Spec.Containers[i], withDevices)
	}
	if len(c.pod.Spec.InitContainers) > 0 {
		c.initContainers(take, withDevices)
	}
	if withDevices {
		c.addDevices()
	}
	c.most.max(&c.total)
}

func (c *counter) initContainers(take func(c *counter, container *corev1.Container, ends bool), withDevices bool) {
	c.sidecars.clear()
	c.initMost.clear()
	others := c.total
	c.total = c.one
	for i := range c.pod.Spec.InitContainers {
		container := &c.pod.Spec.InitContainers[i]
		c.total.clear()
		c.fill(take, container, !isSidecar(container))
		c.addOverhead(container, withDevices)
		if isSidecar(container) {
			others.plus(&c.total)
			c.sidecars.plus(&c.total)
			c.initMost.max(&c.sidecars)
		} else {
			c.total.plus(&c.sidecars)
			c.initMost.max(&c.total)
		}
	}
	c.one, c.total = c.total, others
	c.total.max(&c.initMost)
}

// isSidecar reports whether an init container keeps running.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// addRequests adds what a container requests. A limit without a request is a request, as the API server makes
// it.
func (c *counter) addRequests(container *corev1.Container, _ bool) { c.total.addRequests(container) }

func (s *sum) addRequests(container *corev1.Container) {
	s.add(container.Resources.Requests)
	for name, quantity := range container.Resources.Limits {
		if _, ok := container.Resources.Requests[name]; !ok {
			s.addOne(name, quantity)
		}
	}
}

// addAllocated adds what the kubelet has granted a container.
func (c *counter) addAllocated(container *corev1.Container, _ bool) {
	switch status := c.status(container); {
	case status != nil && status.AllocatedResources != nil:
		c.total.add(status.AllocatedResources)
	case !c.infeasible:
		c.total.addRequests(container)
	}
}

// addActuated adds what a container really has.
func (c *counter) addActuated(container *corev1.Container, ends bool) {
	if status := c.status(container); status != nil && status.Resources != nil && status.Resources.Requests != nil {
		c.total.add(status.Resources.Requests)
	} else {
		c.addAllocated(container, ends)
	}
}

// addLarger adds the larger of what a container requests and has, if it is one that keeps running.
func (c *counter) addLarger(container *corev1.Container, ends bool) {
	status := c.status(container)
	if ends || status == nil || status.Resources == nil {
		c.total.addRequests(container)
		return
	}
	var most sum
	if !c.infeasible {
		most.addRequests(container)
	}
	most.max(sumOf(status.Resources.Requests))
	most.max(sumOf(status.AllocatedResources))
	c.total.plus(&most)
}

// status returns the status of a container, or nil. If there are several, the first counts, and before 1.37
// the last.
func (c *counter) status(container *corev1.Container) (found *corev1.ContainerStatus) {
	for _, statuses := range [][]corev1.ContainerStatus{c.pod.Status.ContainerStatuses, c.pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == container.Name {
				if found = &statuses[i]; !c.rules.perContainer {
					return found
				}
			}
		}
	}
	return found
}

// overridePodLevel puts what the pod as a whole requests in place of what its containers do.
func (c *counter) overridePodLevel() {
	requests, status := c.level, &c.pod.Status
	if len(c.fills) == 0 {
		requests = c.podLevelRequests()
		c.level = requests
	}
	if len(requests.parts) == 0 {
		return
	}
	effective := requests
	if c.rules.podLevelStatuses && c.rules.statuses && status.Resources != nil {
		effective = &sum{}
		if !c.infeasible {
			effective.plus(requests)
		}
		effective.max(sumOf(status.Resources.Requests))
		effective.max(sumOf(status.AllocatedResources))
	}
	names := effective
	if c.rules.perContainer {
		names = requests
	}
	for _, p := range names.parts {
		if helpers.IsSupportedPodLevelResource(p.name) {
			*c.most.at(p.name) = *effective.at(p.name)
		}
	}
}

// podLevelRequests are those of the pod as a whole that can be made so. A limit without a request is a
// request, as the API server makes it, unless containers request the resource and may have more together than
// each for itself.
func (c *counter) podLevelRequests() *sum {
	out := &sum{}
	for name, quantity := range c.pod.Spec.Resources.Requests {
		if helpers.IsSupportedPodLevelResource(name) {
			out.addOne(name, quantity)
		}
	}
	for name, quantity := range c.pod.Spec.Resources.Limits {
		huge := strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if helpers.IsSupportedPodLevelResource(name) && !out.has(name) && (huge || !c.most.has(name)) {
			out.addOne(name, quantity)
		}
	}
	return out
}

// addOverhead adds what devices take of the node for a container, if that ends with the container.
func (c *counter) addOverhead(container *corev1.Container, withDevices bool) {
	if !withDevices || !c.rules.overheadEnds {
		return
	}
	for i := range c.pod.Status.NodeAllocatableResourceClaimStatuses {
		claim := &c.pod.Status.NodeAllocatableResourceClaimStatuses[i]
		for _, name := range claim.Containers {
			for j := range claim.Overhead {
				if o := &claim.Overhead[j]; name == container.Name && o.PerContainer != nil {
					c.total.addOne(o.Name, *o.PerContainer)
				}
			}
		}
	}
}

// addDevices adds what the devices of the pod take of the node, but for what addOverhead adds.
func (c *counter) addDevices() {
	for i := range c.pod.Status.NodeAllocatableResourceClaimStatuses {
		claim := &c.pod.Status.NodeAllocatableResourceClaimStatuses[i]
		for j := range claim.Mapping {
			if m := &claim.Mapping[j]; m.Quantity != nil {
				c.total.addOne(m.Name, *m.Quantity)
			}
		}
		for j := range claim.Overhead {
			o := &claim.Overhead[j]
			if o.PerPod != nil {
				c.total.addOne(o.Name, *o.PerPod)
			}
			for range claim.Containers {
				if o.PerContainer != nil && !c.rules.overheadEnds {
					c.total.addOne(o.Name, *o.PerContainer)
				}
			}
		}
	}
}
