package cycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A device class can provide an extended resource. A pod asks for "example.com/gpu: 2", and the scheduler
// makes a special claim for it, which exists only once the pod is scheduled.
//
// On a node that offers the resource through a device plugin the plugin provides it, on any other the class
// does. So the claim can differ from node to node. Each container gets a request "container-<i>-request-<j>",
// where i counts init containers and containers, and j the sorted names of its resources. Init containers
// that end leave their devices to later containers, so only the largest remainder is asked for in addition.
// The rules are those of Kubernetes 1.37 (scheduler plugin DynamicResources).

// extended are the extended resources of a pod, as a whatif.ClaimPerNode.
type extended struct {
	s       *inspect.Snapshot
	pod     *corev1.Pod
	classes map[corev1.ResourceName]string // of resources that a class provides
	others  []corev1.ResourceName          // of resources that none does
}

// Extends reports whether a pod asks for extended resources of which a class provides some.
func Extends(s *inspect.Snapshot, pod *corev1.Pod) bool { return extendedOf(s, pod) != nil }

// extendedOf returns the extended resources of a pod. It is nil if no class provides any of them.
func extendedOf(s *inspect.Snapshot, pod *corev1.Pod) *extended {
	if !s.Features().Enabled(inspect.GateExtendedResource) {
		return nil
	}
	x := &extended{s: s, pod: pod, classes: map[corev1.ResourceName]string{}}
	for _, c := range AllContainers(pod) {
		for name, quantity := range RequestsOf(c) {
			switch class := s.ClassOfExtendedResource(name); {
			case quantity.IsZero() || !inspect.IsExtendedResource(name):
			case class != nil:
				x.classes[name] = class.Name
			case !slices.Contains(x.others, name):
				x.others = append(x.others, name)
			}
		}
	}
	slices.Sort(x.others)
	if len(x.classes) == 0 {
		return nil
	}
	return x
}

// AllContainers returns the init containers of a pod, and then its containers.
func AllContainers(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			out = append(out, &containers[i])
		}
	}
	return out
}

// RequestsOf returns the requests of a container. A limit without a request is a request, as the API server
// makes it.
func RequestsOf(c *corev1.Container) corev1.ResourceList {
	out := maps.Clone(c.Resources.Limits)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, c.Resources.Requests)
	return out
}

// On returns the special claim for a node. It is nil if device plugins provide everything there. misfit says
// why the node cannot provide some resource at all. It is nil if it can.
func (x *extended) On(node *corev1.Node) (claim *resourcev1.ResourceClaim, misfit *explain.Reason) {
	offered := func(name corev1.ResourceName) (resource.Quantity, bool) {
		q, ok := node.Status.Allocatable[name]
		return q, ok
	}
	for _, name := range x.others {
		if _, ok := offered(name); !ok {
			r := whatif.UnsuitableFor(words.Key("extended resource", name), "neither the node nor a device class provides the extended resource %s", name)
			return nil, &r
		}
	}
	var names []corev1.ResourceName
	for name := range x.classes {
		if q, ok := offered(name); !ok || q.IsZero() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	claim = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: x.pod.Namespace, Name: x.pod.Name + whatif.ExtendedSuffix}}
	for _, name := range names {
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, x.requests(name)...)
	}
	slices.SortFunc(claim.Spec.Devices.Requests, func(a, b resourcev1.DeviceRequest) int { return cmp.Compare(a.Name, b.Name) })
	return claim, nil
}

// Of returns the special claims of another pod.
func (x *extended) Of(pod *corev1.Pod) whatif.ClaimPerNode {
	if of := extendedOf(x.s, pod); of != nil {
		return of
	}
	return nil
}

// requests returns the requests of all containers for one resource.
func (x *extended) requests(name corev1.ResourceName) []resourcev1.DeviceRequest {
	containers := AllContainers(x.pod)
	lasting := make([]*resourcev1.DeviceRequest, len(containers)) // of containers that keep running
	for i, c := range containers {
		if !x.ends(i, c) {
			lasting[i] = x.request(i, c, name, nil)
		}
	}
	var most *resourcev1.DeviceRequest
	for i, c := range containers {
		if !x.ends(i, c) {
			continue
		}
		if r := x.request(i, c, name, lasting[i:]); r != nil && (most == nil || most.Exactly.Count < r.Exactly.Count) {
			most = r
		}
	}
	var out []resourcev1.DeviceRequest
	for _, r := range append(lasting, most) {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// ends reports whether a container ends before the containers of the pod run.
func (x *extended) ends(index int, c *corev1.Container) bool {
	sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	return index < len(x.pod.Spec.InitContainers) && !sidecar
}

// request is what one container needs of a resource beyond what it can reuse. It is nil if that is nothing.
func (x *extended) request(index int, c *corev1.Container, name corev1.ResourceName, reusable []*resourcev1.DeviceRequest) *resourcev1.DeviceRequest {
	requests := RequestsOf(c)
	quantity := requests[name]
	needed, ok := quantity.AsInt64()
	if !ok || needed == 0 {
		return nil
	}
	for _, r := range reusable {
		if r != nil {
			needed -= r.Exactly.Count
		}
	}
	if needed <= 0 {
		return nil
	}
	position := slices.Index(slices.Sorted(maps.Keys(requests)), name)
	return &resourcev1.DeviceRequest{
		Name: fmt.Sprintf("container-%d-request-%d", index, position),
		Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: x.classes[name], AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: needed,
		},
	}
}
