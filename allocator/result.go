package allocator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func nodeName(node *corev1.Node) inspect.NodeName { return inspect.NodeName(node.Name) }

// allocations makes the allocation results of a finished search. The scheduler draws share IDs at random;
// here a share has an empty one, which whoever writes the allocation replaces.
func (w *walk) allocations() ([]resourcev1.AllocationResult, error) {
	out := make([]resourcev1.AllocationResult, len(w.problem.claims))
	for i, claim := range w.problem.claims {
		result := &out[i]
		result.Devices.Results = make([]resourcev1.DeviceRequestAllocationResult, 0, len(w.picks[i]))
		for _, p := range w.picks[i] {
			result.Devices.Results = append(result.Devices.Results, w.deviceResult(p))
		}
		result.Devices.Config = claim.configs(&w.view.cluster.rules)
		selector, err := w.nodeSelector(i)
		if err != nil {
			return nil, &AbortError{Code: Malformed, Claim: claim.ref, Selector: -1, Err: err}
		}
		result.NodeSelector = selector
	}
	return out, nil
}

func (w *walk) deviceResult(p pick) resourcev1.DeviceRequestAllocationResult {
	c := &w.view.candidates[p.candidate]
	r := resourcev1.DeviceRequestAllocationResult{
		Request: p.alternative.name, Driver: c.id.Driver, Pool: c.id.Pool, Device: c.id.Device,
		Tolerations: p.alternative.claim.tolerationsOf(p.alternative.name),
	}
	if w.view.cluster.rules.noTolerations {
		r.Tolerations = nil
	}
	if p.alternative.admin {
		admin := true
		r.AdminAccess = &admin
	}
	if c.shareable {
		r.ShareID = new(types.UID)
	}
	if len(p.consumed) > 0 {
		r.ConsumedCapacity = make(map[resourcev1.QualifiedName]resource.Quantity, len(p.consumed))
		for name, q := range p.consumed {
			r.ConsumedCapacity[w.view.cluster.publishedName(c.device, c.id.Driver, name)] = q.DeepCopy()
		}
	}
	if w.view.cluster.features.DeviceBindingAndStatus {
		r.BindingConditions = c.device.BindingConditions
		r.BindingFailureConditions = c.device.BindingFailureConditions
	}
	if w.view.cluster.rules.nodeOperations {
		r.SkipNodeOperations = c.slice.Spec.SkipNodeOperations
	}
	return r
}

// tolerationsOf returns the tolerations of the request or subrequest of that name. The scheduler finds
// them by name when it writes the result; so where two requests have one name, which the API server
// refuses, those of the first are written for both.
func (c *claimProblem) tolerationsOf(name string) []resourcev1.DeviceToleration {
	for _, request := range c.requests {
		for _, a := range request.alternatives {
			if a.name == name {
				return a.tolerations
			}
		}
	}
	return nil
}

// chosen returns the alternative of a request that a finished search settled on.
func (r *requestProblem) chosen() *alternative { return r.alternatives[r.settled] }

// nodeSelector says on which nodes the allocation can be used. It is nil if on all. A device that is local to
// a node, or binds to it, restricts it to that node; otherwise the selectors of the devices add up.
func (w *walk) nodeSelector(claim int) (*corev1.NodeSelector, error) {
	term := corev1.NodeSelectorTerm{}
	for _, p := range w.picks[claim] {
		c := &w.view.candidates[p.candidate]
		name, selector := c.slice.Spec.NodeName, c.slice.Spec.NodeSelector
		if isTrue(c.slice.Spec.PerDeviceNodeSelection) {
			name, selector = c.device.NodeName, c.device.NodeSelector
		}
		binds := isTrue(c.device.BindsToNode) && !w.view.cluster.rules.basic
		if name != nil && w.view.cluster.rules.basic {
			return thisNode(*name), nil
		}
		if name != nil || binds {
			return thisNode(w.view.node.Name), nil
		}
		if selector == nil || len(selector.NodeSelectorTerms) == 0 {
			continue
		}
		if n := len(selector.NodeSelectorTerms); n > 1 {
			return nil, fmt.Errorf("the node selector of ResourceSlice %s has %d terms, only one is supported", c.slice.Name, n)
		}
		term.MatchFields = addRequirements(term.MatchFields, selector.NodeSelectorTerms[0].MatchFields)
		term.MatchExpressions = addRequirements(term.MatchExpressions, selector.NodeSelectorTerms[0].MatchExpressions)
	}
	if len(term.MatchFields) == 0 && len(term.MatchExpressions) == 0 {
		return nil, nil
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}, nil
}

func thisNode(name string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
	}}}
}

func addRequirements(to, from []corev1.NodeSelectorRequirement) []corev1.NodeSelectorRequirement {
	for _, r := range from {
		if !slices.ContainsFunc(to, func(have corev1.NodeSelectorRequirement) bool { return sameRequirement(have, r) }) {
			to = append(to, r)
		}
	}
	return to
}

// sameRequirement compares values as sets.
func sameRequirement(a, b corev1.NodeSelectorRequirement) bool {
	subset := func(x, y []string) bool {
		return !slices.ContainsFunc(x, func(v string) bool { return !slices.Contains(y, v) })
	}
	return a.Key == b.Key && a.Operator == b.Operator && subset(a.Values, b.Values) && subset(b.Values, a.Values)
}
