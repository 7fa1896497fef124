package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var featureKind = kind{name: FeatureRequired, importance: 9, list: listFeatures}

// featureRequirement is a feature gate that is off, and without which devices cannot be had. It is given up by turning
// the gate on.
type featureRequirement struct {
	Requirement
	edit gatesEdit
}

func listFeatures(_ context.Context, s *site) []requirement {
	var out []requirement
	for i := range s.exam.Requests {
		out = append(out, s.featuresOf(&s.exam.Requests[i])...)
	}
	return out
}

func (s *site) featuresOf(r *allocator.ExaminedRequest) []requirement {
	var out []requirement
	var known []inspect.Gate
	for i := range r.Devices {
		failure := r.Devices[i].Fails(allocator.FeatureDisabled)
		if failure == nil || slices.Contains(known, failure.Feature) {
			continue
		}
		known = append(known, failure.Feature)
		gates := []inspect.Gate{failure.Feature}
		if failure.Feature == inspect.GateDeviceBindingConditions { // works only with the other
			gates = append(gates, inspect.GateDeviceStatus)
		}
		claim := s.q.claims[r.Claim]
		out = append(out, featureRequirement{Requirement{
			Kind: FeatureRequired, Claim: inspect.RefOf(claim), Request: r.Name,
			Path:    "feature gate " + string(failure.Feature),
			Message: fmt.Sprintf("the feature gate %s is off, and devices need it", failure.Feature),
		}, gatesEdit{gates}})
	}
	return out
}

func (r featureRequirement) describe() *Requirement { return &r.Requirement }
func (r featureRequirement) relaxing() edit         { return r.edit }
func (r featureRequirement) effort(*question) int   { return 4 }
func (r featureRequirement) price(*question) int    { return costFeature }

func (r featureRequirement) propose(_ context.Context, _ *clusterSandbox, node inspect.NodeName) ([]change, error) {
	c := enabling(r.edit)
	c.node = node
	return []change{c}, nil
}

func (r featureRequirement) combine(context.Context, *combination, int) (part, error) {
	return part{EnableFeature, r.edit.key(), enabling(r.edit).message}, nil
}

// enabling proposes to turn on feature gates.
func enabling(e gatesEdit) change {
	var names []string
	for _, g := range e.gates {
		names = append(names, string(g))
	}
	return change{
		kind: EnableFeature, cost: costFeature, edits: []edit{e}, key: e.key(),
		message: "turn on the feature gate " + strings.Join(names, " and "),
	}
}
