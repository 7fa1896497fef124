package usage

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// keys are the rows that a claim is in, whatever it holds.
func (c *counter) keys(claim *resourcev1.ResourceClaim) []Key {
	switch c.by {
	case Class:
		return classes(claim)
	case Workload:
		return c.workloads(claim)
	case Driver:
		return drivers(claim)
	case Queue, Cohort:
		return c.named(claim)
	case Namespace:
	}
	return []Key{{Namespace: claim.Namespace}}
}

// keyOf is the row, by class or driver, of a device that a claim holds. The grip of one that no slice
// publishes has no device.
func (c *counter) keyOf(claim *resourcev1.ResourceClaim, g grip) Key {
	if c.by == Class {
		return Key{Name: ClassOf(claim, g.result.Request)}
	}
	key := Key{Name: g.result.Driver}
	if g.device != nil {
		key.Model = inspect.ModelOf(g.device.Device)
	}
	return key
}

// classes are those of the devices of a claim, or, while it has none, those that it asks for; of alternatives
// the first.
func classes(claim *resourcev1.ResourceClaim) []Key {
	var out []Key
	add := func(class string) {
		if key := (Key{Name: class}); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	if allocation := claim.Status.Allocation; allocation != nil {
		for i := range allocation.Devices.Results {
			add(ClassOf(claim, allocation.Devices.Results[i].Request))
		}
		return out
	}
	for i := range claim.Spec.Devices.Requests {
		class, _ := asked(&claim.Spec.Devices.Requests[i])
		add(class)
	}
	return out
}

// wanted is how many devices a claim without devices asks for, at least, of the classes that are meant.
func wanted(claim *resourcev1.ResourceClaim, meant func(class string) bool) int {
	if claim.Status.Allocation != nil {
		return 0
	}
	sum := 0
	for i := range claim.Spec.Devices.Requests {
		if class, n := asked(&claim.Spec.Devices.Requests[i]); meant(class) {
			sum += n
		}
	}
	return sum
}

// asked is what a request asks for, of alternatives the first: of which class, and how many, where all count
// as one.
func asked(r *resourcev1.DeviceRequest) (class string, count int) {
	mode, n := resourcev1.DeviceAllocationMode(""), int64(0)
	switch {
	case r.Exactly != nil:
		class, mode, n = r.Exactly.DeviceClassName, r.Exactly.AllocationMode, r.Exactly.Count
	case len(r.FirstAvailable) > 0:
		first := &r.FirstAvailable[0]
		class, mode, n = first.DeviceClassName, first.AllocationMode, first.Count
	}
	if mode == resourcev1.DeviceAllocationModeAll {
		n = 1
	}
	return class, int(max(0, min(n, maxAsked)))
}

// maxAsked is more devices than a claim can have, however many it asks for.
const maxAsked = resourcev1.AllocationResultsMaxSize

// ClassOf is the class of the request that got a device, "request" or "request/subrequest", or "" if the
// claim has no such request.
func ClassOf(claim *resourcev1.ResourceClaim, request string) string {
	name, sub, _ := strings.Cut(request, "/")
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		if r.Name != name {
			continue
		}
		if r.Exactly != nil {
			return r.Exactly.DeviceClassName
		}
		for j := range r.FirstAvailable {
			if r.FirstAvailable[j].Name == sub {
				return r.FirstAvailable[j].DeviceClassName
			}
		}
	}
	return ""
}

// drivers are the row of what has no driver yet, for a claim without devices. Where it has some, each is in
// its own row.
func drivers(claim *resourcev1.ResourceClaim) []Key {
	if claim.Status.Allocation == nil {
		return []Key{{}}
	}
	return nil
}

// named are the rows that the caller knows, or else that of what is in none.
func (c *counter) named(claim *resourcev1.ResourceClaim) []Key {
	var out []Key
	for _, name := range c.names(claim) {
		out = append(out, Key{Name: name})
	}
	if len(out) == 0 {
		out = []Key{{}}
	}
	return out
}

// workloads are those of the pods that use a claim. Of a claim that no pod uses it is the owner, or else the
// claim itself.
func (c *counter) workloads(claim *resourcev1.ResourceClaim) []Key {
	var out []Key
	add := func(kind, name string) {
		if key := (Key{Namespace: claim.Namespace, Kind: kind, Name: name}); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, consumer := range claim.Status.ReservedFor {
		if consumer.Resource != "pods" || consumer.APIGroup != "" {
			add(consumer.Resource, consumer.Name)
		}
	}
	for _, ref := range c.snapshot.PodsOf(inspect.RefOf(claim)) {
		pod, ok := c.snapshot.Pod(ref)
		if !ok {
			add("Pod", ref.Name)
			continue
		}
		kind, name := "Pod", pod.Name
		if chain := inspect.Controllers(pod, nil); len(chain) > 0 {
			top := chain[len(chain)-1]
			kind, name = top.Kind, top.Name
		}
		add(kind, name)
	}
	if owner := metav1.GetControllerOf(claim); len(out) == 0 && owner != nil {
		add(owner.Kind, owner.Name)
	}
	if len(out) == 0 {
		add("ResourceClaim", claim.Name)
	}
	return out
}
