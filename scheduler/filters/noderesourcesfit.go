package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareNodeResourcesFit is the plugin NodeResourcesFit: what a pod requests must be left on its node, and
// room for one more pod. An extended resource that no device plugin offers on the node is no matter of this
// plugin if devices of a class provide it.
func prepareNodeResourcesFit(p *Prepared) (check, Outcome) {
	if unknown := p.unknownNode(NodeResourcesFit, "what there is of CPU, memory and other resources"); len(unknown.Doubts) > 0 {
		return always(unknown), unknownRuntime(p.Pod)
	}
	c := nodeResourcesFit{
		files:   p.snapshot.ServerVersion() == "",
		unknown: p.unknownPods(NodeResourcesFit, "others may take what the pod asks for"),
	}
	for _, amount := range p.rules.asked(p.Pod) {
		if amount.Value > 0 && !p.profile.Ignores(amount.Resource) {
			c.wanted = append(c.wanted, wanted{Amount: amount, classes: p.classesFor(amount.Resource)})
		}
	}
	if p.unlikeLater() {
		c.unknown.and(doubt(Doubt{
			Plugin: NodeResourcesFit, Resource: inspect.Classes, Key: "before 1.35",
			Message: "Kubernetes 1.34 may ask for more devices, or those of another class, for extended resources (feature gate DRAExtendedResource)",
		}))
	}
	if p.devicesTakeResources() {
		c.unknown.and(doubt(Doubt{
			Plugin: NodeResourcesFit, Resource: inspect.Slices, Key: "devices",
			Message: "devices may take CPU or memory of the node besides what the pod requests (feature gate DRANodeAllocatableResources)",
		}))
	}
	return c, unknownRuntime(p.Pod)
}

type nodeResourcesFit struct {
	wanted  []wanted // what the pod asks for, without zeros, sorted by resource
	files   bool     // nodes may be written by hand, and say less than kubelets do
	unknown Outcome  // of what passes
}

// wanted is what a pod asks for of a resource.
type wanted struct {
	Amount
	classes classes
}

// classes says whether a device class provides a resource where no device plugin offers it.
type classes struct {
	some bool
	// unsure is why that is not known, or "".
	unsure string
	// unlisted: on nodes that list the resource with an amount of 0, no class provides it. In 1.34.
	unlisted bool
}

// provide reports whether devices of a class, not a device plugin, provide the resource on a node, or may do
// so.
func (c classes) provide(n *nodeInfo, resource corev1.ResourceName) bool {
	if n.allocatable.of(resource) > 0 || c.unlisted && n.allocatable.has(resource) {
		return false
	}
	return c.some || c.unsure != ""
}

func (c nodeResourcesFit) on(n *nodeInfo) Outcome {
	var out Outcome
	var silent []string
	if c.files && !n.lists(corev1.ResourcePods) {
		silent = append(silent, "pods")
	} else if n.left(corev1.ResourcePods) < 1 {
		out.Refusals = append(out.Refusals, tooManyPods(n))
	}
	for i := range c.wanted {
		w := &c.wanted[i]
		allocatable, used := n.allocatable.of(w.Resource), n.used.of(w.Resource)
		switch {
		case c.files && reportedByKubelets(w.Resource) && !n.lists(w.Resource):
			silent = append(silent, string(w.Resource))
		case w.classes.provide(n, w.Resource):
			if w.classes.unsure != "" {
				out.and(doubt(Doubt{Plugin: NodeResourcesFit, Resource: inspect.Classes, Key: string(w.Resource), Message: w.classes.unsure}))
			}
		case w.Value == countless || used == countless:
			out.and(doubt(Doubt{
				Plugin: NodeResourcesFit, Resource: inspect.Pods, Key: "countless " + string(w.Resource),
				Message: "of " + string(w.Resource) + " more is asked for than can be counted",
			}))
		case w.Value > allocatable-used:
			out.Refusals = append(out.Refusals, insufficient(w.Amount, used, allocatable, stopped(n.Node, w.Resource)))
		}
	}
	if len(silent) > 0 {
		out.and(doubt(Doubt{
			Plugin: NodeResourcesFit, Resource: inspect.Nodes, Key: strings.Join(silent, " "),
			Message: "the node does not say how much it has of " + strings.Join(silent, ", "),
		}))
	}
	if len(out.Refusals) == 0 {
		out.Doubts = append(out.Doubts, c.unknown.Doubts...)
	}
	return out
}

// listed are the resources that every pod takes, of which a node says how much it has.
type listed struct{ cpu, memory, storage, pods bool }

func listedIn(list corev1.ResourceList) listed {
	has := func(resource corev1.ResourceName) bool { _, ok := list[resource]; return ok }
	return listed{has(corev1.ResourceCPU), has(corev1.ResourceMemory), has(corev1.ResourceEphemeralStorage), has(corev1.ResourcePods)}
}

// lists reports whether a node says how much it has of a resource, be it nothing.
func (n *nodeInfo) lists(resource corev1.ResourceName) bool {
	switch resource {
	case corev1.ResourceCPU:
		return n.listed.cpu
	case corev1.ResourceMemory:
		return n.listed.memory
	case corev1.ResourceEphemeralStorage:
		return n.listed.storage
	case corev1.ResourcePods:
		return n.listed.pods
	}
	_, ok := allocatableOf(n.Node)[resource]
	return ok
}

// allocatableOf is what the pods on a node can take together. All that the node has, if it does not say, as
// the API server makes it.
func allocatableOf(node *corev1.Node) corev1.ResourceList {
	if node.Status.Allocatable == nil {
		return node.Status.Capacity
	}
	return node.Status.Allocatable
}

// reportedByKubelets reports whether every kubelet says how much its node has of a resource.
func reportedByKubelets(resource corev1.ResourceName) bool {
	switch resource {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	return false
}

func tooManyPods(n *nodeInfo) Refusal {
	r := Refusal{
		Plugin: NodeResourcesFit, Code: TooManyPods, Key: "pods", Resource: corev1.ResourcePods,
		Requested: 1, Used: int64(len(n.pods)), Allocatable: n.allowed,
	}
	switch n.allowed {
	case 0:
		r.Message = "the node takes no pods"
	case 1:
		r.Message = fmt.Sprintf("the node takes 1 pod, and has %d", r.Used)
	default:
		r.Message = fmt.Sprintf("the node takes %d pods, and has %d", n.allowed, r.Used)
	}
	return r
}

// stopped is how many a node has of an extended resource of which it can give none.
func stopped(node *corev1.Node, resource corev1.ResourceName) int64 {
	capacity := node.Status.Capacity[resource]
	if left := allocatableOf(node)[resource]; !inspect.IsExtendedResource(resource) || left.Sign() > 0 {
		return 0
	}
	return max(0, capacity.Value())
}

func insufficient(a Amount, used, allocatable, stopped int64) Refusal {
	r := Refusal{
		Plugin: NodeResourcesFit, Code: InsufficientResources, Key: string(a.Resource), Resource: a.Resource,
		Requested: a.Value, Used: used, Allocatable: allocatable, Stopped: stopped,
	}
	if r.Unresolvable = a.Value > allocatable; r.Unresolvable {
		r.Key += " in all"
	}
	all, left := Amount{a.Resource, allocatable}, Amount{a.Resource, allocatable - used}
	ask := "the pod asks for "
	switch {
	case stopped > 0:
		r.Key += ", stopped"
		r.Message = ask + a.String() + "; " + r.WhyStopped()
	case allocatable <= 0:
		r.Message = ask + a.String() + "; the node has none"
	case left.Value <= 0:
		r.Message = ask + a.String() + "; of " + all.number(false) + ", nothing is left"
	case a.number(true) == left.number(false): // what is missing is less than what is shown of both
		r.Message = ask + a.exact() + "; of " + all.exactNumber() + ", " + left.exactNumber() + left.verb() + " left"
	default:
		r.Message = ask + a.String() + "; of " + all.number(false) + ", " + left.number(false) + left.verb() + " left"
	}
	return r
}

// WhyStopped says why the node can give nothing of the resource though it has some.
func (r *Refusal) WhyStopped() string {
	if r.Stopped == 1 {
		return "the 1 that the node has is unhealthy, or its device plugin has stopped"
	}
	return fmt.Sprintf("all %d that the node has are unhealthy, or its device plugin has stopped", r.Stopped)
}

// classesFor says whether a device class provides a resource.
func (p *Prepared) classesFor(resource corev1.ResourceName) classes {
	s := p.snapshot
	if !s.Features().Enabled(inspect.GateExtendedResource) {
		return classes{}
	}
	class := s.ClassOfExtendedResource(resource)
	if s.Release().Modelled().Before(35, 0) {
		return p.classesBefore35(resource, class)
	}
	switch {
	case class == nil && inspect.IsExtendedResource(resource) && p.unread(inspect.Classes, len(s.Around().Classes)):
		return classes{unsure: "not all device classes were read: one may provide " + string(resource)}
	case class == nil:
		return classes{}
	case string(resource) == resourcev1.ResourceDeviceClassPrefix+class.Name && class.Spec.ExtendedResourceName != nil && s.Release().Modelled().Before(38, 0):
		// A class that loses its extended resource to another one before the scheduler knows it is not found
		// by its implicit name either. The other one is newer, so it came before only if the scheduler has
		// since read all classes, by their names.
		if other := s.ClassOfExtendedResource(corev1.ResourceName(*class.Spec.ExtendedResourceName)); other != nil && other.Name < class.Name {
			return classes{unsure: fmt.Sprintf("the scheduler may not know that class %s provides %s, because class %s has the same extended resource", class.Name, resource, other.Name)}
		}
	}
	return classes{some: true}
}

// classesBefore35 are the rules of 1.34: a class with an extended resource has no implicit one, and as long
// as a pod asks for no resource with a domain of its own, the plugin passes all that a node does not list.
func (p *Prepared) classesBefore35(resource corev1.ResourceName, class *resourcev1.DeviceClass) classes {
	own := false
	for _, a := range p.rules.asked(p.Pod) {
		own = own || a.Value != 0 && isExtended(a.Resource)
	}
	implicit := class != nil && string(resource) == resourcev1.ResourceDeviceClassPrefix+class.Name
	switch {
	case reportedByKubelets(resource):
		return classes{}
	case !own || class != nil && (!implicit || class.Spec.ExtendedResourceName == nil):
		return classes{some: true, unlisted: true}
	case p.unread(inspect.Classes, len(p.snapshot.Around().Classes)):
		return classes{unlisted: true, unsure: "not all device classes were read: one may provide " + string(resource)}
	}
	return classes{}
}

// unlikeLater reports whether 1.34, where device classes that provide extended resources are alpha, may make
// another claim for the pod than later releases, whose rules stand for it. It asks for devices for each
// container, also for an init container that could hand them on, and for what a device plugin offers as well
// if it asks for any; of several classes with one resource it takes any.
func (p *Prepared) unlikeLater() bool {
	s := p.snapshot
	if !s.Release().Modelled().Before(35, 0) || !s.Features().Enabled(inspect.GateExtendedResource) {
		return false
	}
	asked, many := 0, len(p.Pod.Spec.ResourceClaims) > 0
	for _, containers := range [][]corev1.Container{p.Pod.Spec.InitContainers, p.Pod.Spec.Containers} {
		for i := range containers {
			for name := range containers[i].Resources.Requests {
				if s.ClassOfExtendedResource(name) == nil {
					continue
				}
				asked++
				named := 0
				for _, class := range s.Around().Classes {
					if class.Spec.ExtendedResourceName != nil && *class.Spec.ExtendedResourceName == string(name) {
						named++
					}
				}
				many = many || asked > 1 || named != 1
			}
		}
	}
	return asked > 0 && many
}

// devicesTakeResources reports whether devices that the pod could get may take CPU, memory or other resources
// of their node, or before 1.37 those that other pods have. How much depends on the devices, of which this
// package knows nothing.
func (p *Prepared) devicesTakeResources() bool {
	s := p.snapshot
	if !s.Features().Enabled(inspect.GateNodeAllocatableResources) {
		return false
	}
	if s.Release().Modelled().Before(37, 0) { // its objects are of a form that is not read any more
		return len(p.Pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(s.Objects().Pods, func(pod *corev1.Pod) bool {
			return len(pod.Status.NodeAllocatableResourceClaimStatuses) > 0
		})
	}
	claims := len(p.Pod.Spec.ResourceClaims) > 0
	for _, a := range p.rules.asked(p.Pod) {
		claims = claims || s.ClassOfExtendedResource(a.Resource) != nil
	}
	return claims && (takesResources(s.Around().Slices) || p.unread(inspect.Slices, len(s.Around().Slices)))
}

// takesResources reports whether there is a device that takes resources of its node.
func takesResources(slices []*resourcev1.ResourceSlice) bool {
	for _, slice := range slices {
		for i := range slice.Spec.Devices {
			if len(slice.Spec.Devices[i].NodeAllocatableResources) > 0 {
				return true
			}
		}
	}
	return false
}
