package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

// Asks is what a claim asks for, in a few words: "5 gpu, 1 nic". It is safe to show.
func Asks(spec *resourcev1.ResourceClaimSpec) string {
	var parts []string
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		if r.Exactly != nil {
			parts = append(parts, amount(r.Exactly.AllocationMode, r.Exactly.Count, r.Exactly.DeviceClassName))
			continue
		}
		var alternatives []string
		for j := range r.FirstAvailable {
			sub := &r.FirstAvailable[j]
			alternatives = append(alternatives, amount(sub.AllocationMode, sub.Count, sub.DeviceClassName))
		}
		parts = append(parts, strings.Join(alternatives, " or "))
	}
	return strings.Join(parts, ", ")
}

func amount(mode resourcev1.DeviceAllocationMode, count int64, class string) string {
	if mode == resourcev1.DeviceAllocationModeAll {
		return "all " + ShortDriver(class)
	}
	return fmt.Sprintf("%d %s", max(1, count), ShortDriver(class))
}

// RuleSelects says which devices a DeviceTaintRule is for: "driver gpu.example.com, pool gpu-b-03". It is not
// sanitised.
func RuleSelects(snapshot *inspect.Snapshot, r *resourcev1.DeviceTaintRule) string {
	s := r.Spec.DeviceSelector
	switch {
	case s == nil && snapshot.NoSelectorEvictsAll():
		return "every device"
	case s == nil && snapshot.NoSelectorTaintsAll():
		return "every device, for the scheduler only"
	case s == nil:
		return "no device"
	}
	var parts []string
	for _, part := range []struct {
		name  string
		value *string
	}{{"driver", s.Driver}, {"pool", s.Pool}, {"device", s.Device}} {
		if part.value != nil {
			parts = append(parts, part.name+" "+*part.value)
		}
	}
	if len(parts) == 0 {
		return "every device"
	}
	return strings.Join(parts, ", ")
}

// Expressions are the CEL expressions of selectors.
func Expressions(selectors []resourcev1.DeviceSelector) (all []string) {
	for i := range selectors {
		if cel := selectors[i].CEL; cel != nil {
			all = append(all, cel.Expression)
		}
	}
	return all
}

// ClassesOf are the device classes that a claim names, each once, in the order of its requests.
func ClassesOf(spec *resourcev1.ResourceClaimSpec) []string {
	var names []string
	for _, asked := range inspect.AskedBy(spec) {
		if !slices.Contains(names, asked.Class) {
			names = append(names, asked.Class)
		}
	}
	return names
}

// PoolRef names a pool.
func PoolRef(id inspect.PoolID) Ref { return Ref{Kind: Pool, Name: id.Driver + "/" + id.Pool} }

// Refused reports whether the scheduler has refused a pod that waits for a node, and since when.
func Refused(p *corev1.Pod) (since time.Time, refused bool) {
	since, refused = usage.RefusedSince(p)
	return since, refused && p.Spec.NodeName == "" && !inspect.Ended(p)
}

// ControllerOf is the topmost of the controllers of a pod, if it has one.
func ControllerOf(s *inspect.Snapshot, ref inspect.PodRef) (top Ref, ok bool) {
	pod, ok := s.Pod(ref)
	if !ok {
		return Ref{}, false
	}
	chain := inspect.Controllers(pod, nil)
	if len(chain) == 0 {
		return Ref{}, false
	}
	owner := chain[len(chain)-1]
	return Ref{Kind: Kind(owner.Kind), Namespace: ref.Namespace, Name: owner.Name}, true
}
