package diagnose

import (
	"context"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What keeps a request apart from those before it.
//
// A request fits by itself, but not together with the requests before it. Each thing that may be the reason is
// taken away, one at a time, and the node asked again: a constraint, a capacity or the counters that ran out in
// the search (there is plenty of them then), the only device that fits (there is a second one like it then). If
// exactly one of them lets the request fit, it is named; else nothing is. In the same way the request is found
// with which it does not go together.

const (
	// maxDiagnosed is the number of kinds of nodes in a group up to which the reason is looked for.
	maxDiagnosed = 8
	// maxPartners is the number of requests before up to which each is left out.
	maxPartners = 8
)

// loner is a request that fits by itself.
type loner struct {
	claim, request int
	codes          map[rejectionKind]int // what was refused for it together with those before
	devices        []inspect.DeviceID
}

// namePartners completes the reason of a set of diagnoses, if it is the same for all.
func namePartners(ctx context.Context, diagnoses []*diagnosis) error {
	if len(diagnoses) > maxDiagnosed {
		return nil
	}
	var same cause
	for i, d := range diagnoses {
		if d.loner == nil {
			return nil
		}
		c, err := d.causeOf(ctx, d.loner)
		if err != nil {
			return err
		}
		if i > 0 && c != same {
			return nil
		}
		same = c
	}
	for _, d := range diagnoses {
		if same != (cause{}) {
			d.interactions[0].Message = "fits by itself, but not together with " + same.text(d.loner.claim > 0)
		}
	}
	return nil
}

// cause is what a request does not go together with, and why; each may be unknown.
type cause struct {
	partner string // the one request, with its claim if that is another
	why     obstacle
}

// obstacle is the one thing without which the request would fit.
type obstacle struct {
	kind obstacleKind
	name string // of the attribute, counter, capacity or device
	set  string // of the counter
}

type obstacleKind int

const (
	unknownObstacle obstacleKind = iota
	sameAttribute
	differentAttribute
	countersOfDevices // of several sets
	countersOfSet     // of one set, which one is not known
	oneCounter
	oneCapacity
	oneDevice
)

// text puts the cause into words. otherClaims: there are claims before that of the request.
func (c cause) text(otherClaims bool) string {
	partner := c.partner
	if partner == "" {
		partner = "the requests before it"
		if otherClaims {
			partner = "what comes before it"
		}
	}
	return partner + c.why.text()
}

// text goes on after "not together with b".
func (o obstacle) text() string {
	switch o.kind {
	case sameAttribute:
		return " on the same " + o.name
	case differentAttribute:
		return " on a different " + o.name
	case countersOfDevices:
		return ": the counters of their devices run out"
	case countersOfSet:
		return fmt.Sprintf(": the counters of set %s run out", o.set)
	case oneCounter:
		return fmt.Sprintf(": counter %s of set %s runs out", o.name, o.set)
	case oneCapacity:
		return fmt.Sprintf(": there is not enough of %s left", o.name)
	case oneDevice:
		return fmt.Sprintf(": %s is the only device for it, and needed there too", o.name)
	}
	return ""
}

// causeOf finds out with what a request does not go together, and why if that is one thing.
func (d *diagnosis) causeOf(ctx context.Context, a *loner) (cause, error) {
	p := &partnerSearch{diagnosis: d, loner: a}
	partner, err := p.partner(ctx)
	if err != nil || p.unsure {
		return cause{}, err
	}
	why, err := p.why(ctx)
	if err != nil || p.unsure {
		return cause{}, err
	}
	return cause{partner, why}, nil
}

// partnerSearch looks for what keeps a request apart.
type partnerSearch struct {
	*diagnosis
	*loner
	unsure bool // a search was given up
}

// claimsBefore are the claims up to the request.
func (p *partnerSearch) claimsBefore() []*resourcev1.ResourceClaim {
	return append(slices.Clone(p.q.Claims[:p.claim]), upTo(p.q.Claims[p.claim], p.request))
}

// helps asks whether the claims fit in a world.
func (p *partnerSearch) helps(ctx context.Context, c *allocator.Cluster, claims []*resourcev1.ResourceClaim) (bool, error) {
	if p.unsure {
		return false, nil
	}
	o, _, err := whatif.OutcomeOf(ctx, c.WithStepLimit(whatif.ProbeSteps), p.node, claims)
	p.unsure = p.unsure || o == whatif.Undecided
	return o == whatif.Fits, err
}

// partner is the one request without which the request fits; "" when there is none, or several.
func (p *partnerSearch) partner(ctx context.Context) (string, error) {
	found := ""
	n := 0
	for c := range p.q.Claims[:p.claim+1] {
		for r := range p.q.Claims[c].Spec.Devices.Requests {
			if c == p.claim && r >= p.request {
				break
			}
			if n++; n > maxPartners {
				return "", nil
			}
			claims := p.claimsBefore()
			out := *claims[c]
			out.Spec.Devices.Requests = slices.Delete(slices.Clone(out.Spec.Devices.Requests), r, r+1)
			if claims[c] = &out; len(out.Spec.Devices.Requests) == 0 {
				claims = slices.Delete(claims, c, c+1)
			}
			ok, err := p.helps(ctx, p.cluster, claims)
			if err != nil {
				return "", err
			}
			if ok && found != "" {
				return "", nil
			}
			if ok {
				found = p.q.Claims[c].Spec.Devices.Requests[r].Name
				if c != p.claim {
					found += " of " + p.q.Claims[c].Name
				}
			}
		}
	}
	return found, nil
}

// why finds the one thing without which the request fits. Another device helps in many cases, so it counts only if
// nothing else does.
func (p *partnerSearch) why(ctx context.Context) (obstacle, error) {
	var found []obstacle
	for _, look := range []func(context.Context) ([]obstacle, error){p.constraints, p.counters, p.capacities} {
		more, err := look(ctx)
		if err != nil {
			return obstacle{}, err
		}
		if found = append(found, more...); len(found) > 1 {
			return obstacle{}, nil
		}
	}
	if len(found) == 0 {
		var err error
		if found, err = p.device(ctx); err != nil {
			return obstacle{}, err
		}
	}
	if len(found) == 0 {
		return obstacle{}, nil
	}
	return found[0], nil
}

// constraints drops each.
func (p *partnerSearch) constraints(ctx context.Context) ([]obstacle, error) {
	var found []obstacle
	for c := range p.q.Claims[:p.claim+1] {
		for k := range p.q.Claims[c].Spec.Devices.Constraints {
			claims := p.claimsBefore()
			out := *claims[c]
			out.Spec.Devices.Constraints = slices.Delete(slices.Clone(out.Spec.Devices.Constraints), k, k+1)
			claims[c] = &out
			ok, err := p.helps(ctx, p.cluster, claims)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, constraintObstacle(&p.q.Claims[c].Spec.Devices.Constraints[k]))
			}
		}
	}
	return found, nil
}

// constraintObstacle is a constraint in the way.
func constraintObstacle(c *resourcev1.DeviceConstraint) obstacle {
	if c.MatchAttribute != nil {
		return obstacle{kind: sameAttribute, name: string(*c.MatchAttribute)}
	}
	return obstacle{kind: differentAttribute, name: string(*c.DistinctAttribute)}
}

// world is the surroundings of the node with the slices changed.
func (p *partnerSearch) world(change func(*resourcev1.ResourceSlice)) *allocator.Cluster {
	b := p.q.NewSandbox(p.node)
	if b == nil {
		p.unsure = true
		return p.cluster
	}
	return b.With(func(o *inspect.Objects) {
		for i := range o.Slices {
			o.Slices[i] = o.Slices[i].DeepCopy()
			change(o.Slices[i])
		}
	})
}

// counters makes those of the sets that ran out plenty; then, of one set, each.
func (p *partnerSearch) counters(ctx context.Context) ([]obstacle, error) {
	sets := map[string]bool{}
	for c := range p.codes {
		if c.code == allocator.CountersExhausted {
			sets[c.counterSet] = true
		}
	}
	if len(sets) == 0 {
		return nil, nil
	}
	raised := func(wanted func(counter string) bool) *allocator.Cluster {
		return p.world(func(s *resourcev1.ResourceSlice) {
			whatif.RaiseCounters(s, func(set, counter string) bool { return sets[set] && wanted(counter) })
		})
	}
	ok, err := p.helps(ctx, raised(func(string) bool { return true }), p.claimsBefore())
	if err != nil || !ok {
		return nil, err
	}
	if len(sets) > 1 {
		return []obstacle{{kind: countersOfDevices}}, nil
	}
	set := slices.Sorted(maps.Keys(sets))[0]
	counters := map[string]bool{}
	p.world(func(s *resourcev1.ResourceSlice) { countersOf(s, set, counters) })
	var enough []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if len(counters) > whatif.MaxCounters {
			break
		}
		ok, err := p.helps(ctx, raised(func(counter string) bool { return counter == name }), p.claimsBefore())
		if err != nil {
			return nil, err
		}
		if ok {
			enough = append(enough, name)
		}
	}
	if len(enough) != 1 {
		return []obstacle{{kind: countersOfSet, set: set}}, nil
	}
	return []obstacle{{kind: oneCounter, name: enough[0], set: set}}, nil
}

// capacities makes each that ran out plenty.
func (p *partnerSearch) capacities(ctx context.Context) ([]obstacle, error) {
	names := map[string]bool{}
	for c := range p.codes {
		if c.code == allocator.CapacityInsufficient {
			names[string(c.capacity)] = true
		}
	}
	var found []obstacle
	for _, name := range slices.Sorted(maps.Keys(names)) {
		world := p.world(func(s *resourcev1.ResourceSlice) {
			for i := range s.Spec.Devices {
				if c, ok := s.Spec.Devices[i].Capacity[resourcev1.QualifiedName(name)]; ok {
					c.Value = *resource.NewQuantity(whatif.Plenty, c.Value.Format)
					s.Spec.Devices[i].Capacity[resourcev1.QualifiedName(name)] = c
				}
			}
		})
		ok, err := p.helps(ctx, world, p.claimsBefore())
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, obstacle{kind: oneCapacity, name: name})
		}
	}
	return found, nil
}

// device makes a second one of the only device that fits the request.
func (p *partnerSearch) device(ctx context.Context) ([]obstacle, error) {
	if len(p.devices) != 1 {
		return nil, nil
	}
	id := p.devices[0]
	world := p.world(func(s *resourcev1.ResourceSlice) { whatif.AddTwin(s, id) })
	ok, err := p.helps(ctx, world, p.claimsBefore())
	if err != nil || !ok {
		return nil, err
	}
	return []obstacle{{kind: oneDevice, name: id.Device}}, nil
}

// countersOf collects the names of the counters of a set.
func countersOf(s *resourcev1.ResourceSlice, set string, into map[string]bool) {
	for i := range s.Spec.SharedCounters {
		if s.Spec.SharedCounters[i].Name == set {
			for name := range s.Spec.SharedCounters[i].Counters {
				into[name] = true
			}
		}
	}
}
