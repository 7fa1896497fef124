package requirement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var featureKind = Kind{name: explain.FeatureRequired, Importance: 9, list: listFeatures}

func listFeatures(_ context.Context, s *site) []Relaxable {
	out := s.featuresOfPools()
	for i := range s.exam.Requests {
		out = append(out, s.featuresOf(&s.exam.Requests[i])...)
	}
	return out
}

// featuresOfPools are the gates without which the scheduler passes over slices of pools.
func (s *site) featuresOfPools() []Relaxable {
	var out []Relaxable
	ignored := s.Snapshot.IgnoredOn(s.Node)
	for i, p := range ignored {
		if i > 0 && ignored[i-1].Gate == p.Gate {
			continue
		}
		out = append(out, offFeature(explain.Requirement{
			Kind: explain.FeatureRequired, Path: "feature gate " + string(p.Gate), Pool: p.ID,
			Message: fmt.Sprintf("the feature gate %s is off, so slices of pool %s are ignored", p.Gate, p.ID),
		}, p.Gate))
	}
	return out
}

func (s *site) featuresOf(r *allocator.ExaminedRequest) []Relaxable {
	var out []Relaxable
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
		claim := s.Q.Claims[r.Claim]
		out = append(out, offFeature(explain.Requirement{
			Kind: explain.FeatureRequired, Claim: inspect.RefOf(claim), Request: r.Name,
			Path:    "feature gate " + string(failure.Feature),
			Message: fmt.Sprintf("the feature gate %s is off, and devices need it", failure.Feature),
		}, gates...))
	}
	return out
}

// offFeature is that feature gates are off without which devices cannot be had. It is given up by turning
// them on.
func offFeature(r explain.Requirement, gates ...inspect.Gate) droppable {
	e := whatif.GatesEdit{Gates: gates}
	return dropping(r, e, 4, CostFeature, explain.EnableFeature, Enabling(e).Message)
}

// Enabling proposes to turn on feature gates.
func Enabling(e whatif.GatesEdit) Change {
	names := words.Each(e.Gates, func(g inspect.Gate) string { return string(g) })
	return Change{
		Kind: explain.EnableFeature, Cost: CostFeature, Edits: []whatif.Edit{e}, Key: e.Key(),
		Message: "turn on the feature gate " + strings.Join(names, " and "),
	}
}
