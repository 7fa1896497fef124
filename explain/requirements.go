package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RequirementKind says what a requirement of a conflict is.
type RequirementKind string

// The kinds, those first that a user can do least about. Relaxing a requirement means what is said
// behind it.
const (
	// CountersRequired is that devices of a pool must not draw more than there is of the counters that they share:
	// there is plenty of each. Nobody can do that; it says why devices cannot be had together.
	CountersRequired RequirementKind = "Counters"
	// ClassTermRequired is a term of a selector of the DeviceClass: the term is dropped.
	ClassTermRequired RequirementKind = "ClassTerm"
	// PoolRequired is that a pool must be complete and valid: it is taken with the slices that are
	// published, without what contradicts itself in them.
	PoolRequired RequirementKind = "PoolComplete"
	// FeatureRequired is a feature gate that is off: it is turned on.
	FeatureRequired RequirementKind = "Feature"
	// TaintRequired is that a taint must be tolerated: a toleration for its key and effect is added.
	TaintRequired RequirementKind = "Taint"
	// HeldRequired is that a claim keeps its devices: it is released.
	HeldRequired RequirementKind = "HeldBy"
	// CapacityRequired is a requested capacity: the least amount is asked for, or none at all on a node
	// where no device has the capacity. (Not to ask for any may be to ask for the whole.)
	CapacityRequired RequirementKind = "Capacity"
	// TermRequired is a term of a selector of the request: the term is dropped.
	TermRequired RequirementKind = "Term"
	// ConstraintRequired is a constraint: it is dropped.
	ConstraintRequired RequirementKind = "Constraint"
	// CountRequired is a number of devices above one, or all: one device is asked for.
	CountRequired RequirementKind = "Count"
	// RequestRequired is a request as such: it is dropped.
	RequestRequired RequirementKind = "Request"
)

var kindOrder = []RequirementKind{
	CountersRequired, ClassTermRequired, PoolRequired, FeatureRequired, TaintRequired, HeldRequired, CapacityRequired,
	TermRequired, ConstraintRequired, CountRequired, RequestRequired,
}

func (k RequirementKind) rank() int { return slices.Index(kindOrder, k) }

// atom is a requirement with the edit that relaxes it.
type atom struct {
	Requirement
	edit edit
}

// requirements lists what decides about the node, in a fixed order. nil: the scheduler gives up.
func (l *local) requirements(ctx context.Context) ([]atom, error) {
	if l.requiredKnown {
		return l.required, nil
	}
	exam, err := l.examination(ctx)
	if err != nil || exam == nil {
		return nil, err
	}
	out := []atom{}
	for i := range exam.Requests {
		out = append(out, l.requestAtoms(ctx, &exam.Requests[i])...)
	}
	for c := range l.q.claims {
		for i := range l.q.claims[c].Spec.Devices.Constraints {
			out = append(out, l.constraintAtom(exam, c, i))
		}
	}
	for _, ref := range l.holders {
		out = append(out, l.heldAtom(ref))
	}
	out = append(out, l.counterAtoms(exam)...)
	for _, p := range exam.Pools {
		if p.Invalid != "" {
			out = append(out, atom{
				Requirement{Kind: PoolRequired, Path: "resourceslices of pool " + p.ID.String(), Term: p.Invalid,
					Message: fmt.Sprintf("pool %s offers nothing: %s", p.ID, p.Invalid)},
				edit{kind: editPool, pool: p.ID},
			})
		}
		if p.Incomplete {
			message := fmt.Sprintf("pool %s offers nothing while %d of its %d slices are published", p.ID, p.SlicesSeen, p.SlicesWanted)
			out = append(out, atom{
				Requirement{Kind: PoolRequired, Path: "resourceslices of pool " + p.ID.String(), Message: message},
				edit{kind: editPool, pool: p.ID},
			})
		}
	}
	out = l.q.mergeTwins(out)
	slices.SortStableFunc(out, func(a, b atom) int { return cmp.Compare(a.Kind.rank(), b.Kind.rank()) })
	l.required, l.requiredKnown = out, true
	return out, nil
}

func (l *local) requirement(r *allocator.ExaminedRequest, kind RequirementKind, path, format string, args ...any) Requirement {
	claim := l.q.claims[r.Claim]
	return Requirement{
		Kind: kind, Claim: inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name}, Request: r.Name,
		Path: path, Message: fmt.Sprintf(format, args...),
	}
}

func (r Requirement) with(here string) Requirement {
	r.Here = here
	return r
}

func alternativeOf(r *allocator.ExaminedRequest) alternative {
	at := alternative{r.Claim, r.Request, -1}
	if r.Prioritized {
		at.sub = r.Sub
	}
	return at
}

// path returns the field of a request, as the subject spells it.
func (q *question) path(at alternative) string {
	path := fmt.Sprintf("%s.devices.requests[%d]", q.specPath(), at.request)
	if at.sub >= 0 {
		return fmt.Sprintf("%s.firstAvailable[%d]", path, at.sub)
	}
	return path + ".exactly"
}

// specPath is where the subject has the spec of a claim.
func (q *question) specPath() string {
	if q.subject.Kind == "ResourceClaimTemplate" {
		return "spec.spec"
	}
	return "spec"
}

func (l *local) requestAtoms(ctx context.Context, r *allocator.ExaminedRequest) []atom {
	at := alternativeOf(r)
	f, path := fieldsOf(l.q.claims, at), l.q.path(at)
	out := l.termAtoms(ctx, r, at, *f.selectors)
	switch {
	case r.All:
		what := "all devices that match"
		if r.Needed > 1 {
			what = fmt.Sprintf("all %d devices that match", r.Needed)
		}
		out = append(out, atom{
			l.requirement(r, CountRequired, path+".allocationMode", "%s wants %s", r.Name, what).with(fitHere(r)),
			edit{kind: editCount, at: at, count: 1},
		})
	case r.Needed > 1:
		out = append(out, atom{
			l.requirement(r, CountRequired, path+".count", "%s needs %d devices", r.Name, r.Needed).with(fitHere(r)),
			edit{kind: editCount, at: at, count: 1},
		})
	}
	if *f.capacity != nil {
		for _, name := range slices.Sorted(maps.Keys((*f.capacity).Requests)) {
			amount := (*f.capacity).Requests[name]
			out = append(out, atom{
				l.requirement(r, CapacityRequired, fmt.Sprintf("%s.capacity.requests[%q]", path, name), "%s needs %s of %s on each device", r.Name, amount.String(), name).with(l.leftHere(r, name)),
				edit{kind: editCapacity, at: at, capacity: name, amount: leastAmount(r, name)},
			})
		}
	}
	out = append(out, l.taintAtoms(r, at, *f.tolerations)...)
	return append(out, l.featureAtoms(r)...)
}

// leastAmount is what stands for a capacity that is not required; nil where no device has it. The policy of a
// device raises it to the least that it gives.
func leastAmount(r *allocator.ExaminedRequest, name resourcev1.QualifiedName) *resource.Quantity {
	for i := range r.Devices {
		if _, ok := r.Devices[i].Device.Capacity[name]; ok {
			return resource.NewQuantity(1, resource.DecimalSI)
		}
	}
	return nil
}

// termAtoms lists the terms of the selectors of the class and of the request.
func (l *local) termAtoms(ctx context.Context, r *allocator.ExaminedRequest, at alternative, own []resourcev1.DeviceSelector) []atom {
	var out []atom
	add := func(selectors []resourcev1.DeviceSelector, kind RequirementKind, ek editKind, what, path string) {
		for i := range selectors {
			if selectors[i].CEL == nil {
				continue
			}
			for t, term := range l.q.terms(ctx, selectors[i].CEL.Expression) {
				if kind == ClassTermRequired && strings.HasPrefix(term, "device.driver == ") {
					continue // it says what is asked for
				}
				words, here := l.inWords(ctx, r, kind, term)
				requirement := l.requirement(r, kind, fmt.Sprintf("%s.selectors[%d].cel.expression", path, i), "%s wants %s", what, words).with(here)
				requirement.Term = term
				out = append(out, atom{requirement, edit{kind: ek, at: at, selector: i, term: t}})
			}
		}
	}
	add(r.Class.Spec.Selectors, ClassTermRequired, editClassTerm, "class "+r.Class.Name, "deviceclass/"+r.Class.Name+" spec")
	add(own, TermRequired, editTerm, r.Name, l.q.path(at))
	return out
}

// taintAtoms lists the taints, by key and effect, that keep devices from the request. Devices that are
// not of its class count too: in another conflict the class may be what is relaxed.
func (l *local) taintAtoms(r *allocator.ExaminedRequest, at alternative, tolerations []resourcev1.DeviceToleration) []atom {
	if !l.snapshot.Features().Enabled(inspect.GateDeviceTaints) {
		return nil
	}
	type key struct {
		key    string
		effect resourcev1.DeviceTaintEffect
	}
	devices, values := map[key]int{}, map[key][]string{}
	var order []key
	for i := range r.Devices {
		if r.Devices[i].Elsewhere {
			continue
		}
		for j := range r.Devices[i].Device.Taints {
			t := &r.Devices[i].Device.Taints[j]
			if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute || tolerated(t, tolerations) {
				continue
			}
			k := key{t.Key, t.Effect}
			if devices[k] == 0 {
				order = append(order, k)
			}
			devices[k]++
			if text := FormatTaint(t); !slices.Contains(values[k], text) {
				values[k] = append(values[k], text)
			}
		}
	}
	var out []atom
	for _, k := range order {
		requirement := l.requirement(r, TaintRequired, l.q.path(at)+".tolerations", "%s does not tolerate the taint %s of %s",
			r.Name, strings.Join(values[k], " or "), count(devices[k], "device"))
		requirement.Taint = k.key + ":" + string(k.effect)
		out = append(out, atom{
			requirement,
			edit{kind: editToleration, at: at, toleration: resourcev1.DeviceToleration{
				Key: k.key, Operator: resourcev1.DeviceTolerationOpExists, Effect: k.effect,
			}},
		})
	}
	return out
}

// tolerated reports whether a toleration covers the taint, as the scheduler sees it.
func tolerated(t *resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) bool {
	return slices.ContainsFunc(tolerations, func(have resourcev1.DeviceToleration) bool {
		switch {
		case have.Key != "" && have.Key != t.Key, have.Effect != "" && have.Effect != t.Effect:
			return false
		case have.Operator == resourcev1.DeviceTolerationOpExists:
			return true
		}
		return (have.Operator == resourcev1.DeviceTolerationOpEqual || have.Operator == "") && have.Value == t.Value
	})
}

// featureAtoms lists the gates without which devices cannot be had.
func (l *local) featureAtoms(r *allocator.ExaminedRequest) []atom {
	var out []atom
	for i := range r.Devices {
		failure := r.Devices[i].Fails(allocator.FeatureDisabled)
		if failure == nil || slices.ContainsFunc(out, func(a atom) bool { return a.edit.gates[0] == failure.Feature }) {
			continue
		}
		gates := []inspect.Gate{failure.Feature}
		if failure.Feature == inspect.GateDeviceBindingConditions { // works only with the other
			gates = append(gates, inspect.GateDeviceStatus)
		}
		out = append(out, atom{
			l.requirement(r, FeatureRequired, "feature gate "+string(failure.Feature), "the feature gate %s is off, and devices need it", failure.Feature),
			edit{kind: editGates, gates: gates},
		})
	}
	return out
}

func (l *local) constraintAtom(exam *allocator.Examination, claim, index int) atom {
	c := &l.q.claims[claim].Spec.Devices.Constraints[index]
	path := fmt.Sprintf("%s.devices.constraints[%d]", l.q.specPath(), index)
	message := "a constraint of an unknown type"
	switch {
	case c.MatchAttribute != nil:
		message = "all on the same " + string(*c.MatchAttribute)
	case c.DistinctAttribute != nil:
		message = "each on a different " + string(*c.DistinctAttribute)
	}
	if len(c.Requests) > 0 && len(l.q.claims[claim].Spec.Devices.Requests) > 1 {
		message = strings.Join(c.Requests, ", ") + " " + message
	}
	return atom{
		Requirement{
			Kind: ConstraintRequired, Path: path, Message: message, Here: l.valuesHere(exam, claim, index),
			Claim: inspect.ClaimRef{Namespace: l.q.claims[claim].Namespace, Name: l.q.claims[claim].Name},
		},
		edit{kind: editConstraint, at: alternative{claim: claim}, constraint: index},
	}
}

func (l *local) heldAtom(ref inspect.ClaimRef) atom {
	h := l.q.holder(ref, l.devices[ref])
	return atom{
		Requirement{
			Kind: HeldRequired, Path: "resourceclaim " + ref.String(), Holder: &h,
			Message: fmt.Sprintf("holds %s here: %s", count(len(h.Devices), "device"), deviceList(h.Devices)),
		},
		edit{kind: editRelease, claim: ref},
	}
}

func (q *question) holder(ref inspect.ClaimRef, devices []inspect.DeviceID) Holder {
	h := newHolder(q.cluster.Snapshot(), ref)
	h.Devices = devices
	return h
}

// deviceList names devices, without their pool.
func deviceList(ids []inspect.DeviceID) string {
	var names []string
	for _, id := range ids {
		names = append(names, id.Device)
	}
	return shorten(names, 4)
}

// requestAtoms of the second kind: each request as such.
func (l *local) wholeRequests(exam *allocator.Examination) []atom {
	var out []atom
	for c, claim := range l.q.claims {
		for r := range claim.Spec.Devices.Requests {
			name := claim.Spec.Devices.Requests[r].Name
			out = append(out, atom{
				Requirement{
					Kind: RequestRequired, Claim: inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name}, Request: name,
					Path: fmt.Sprintf("%s.devices.requests[%d]", l.q.specPath(), r), Message: name + " needs a device",
					Here: classHere(exam, c, r),
				},
				edit{kind: editRequest, at: alternative{c, r, -1}},
			})
		}
	}
	return out
}
