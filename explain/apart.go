package explain

import (
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

// What keeps a request apart from those before it.
//
// A request fits by itself, but not together with the requests before it. Each thing that may be the reason is
// taken away, one at a time, and the node asked again: a constraint, a capacity or the counters that ran out in
// the search (there is plenty of them then), the only device that fits (there is a second one like it then). If
// exactly one of them lets the request fit, it is named; else nothing is. In the same way the request is found
// with which it does not go together.

const (
	// maxApart is the number of kinds of nodes in a group up to which the reason is looked for.
	maxApart = 8
	// maxPartners is the number of requests before up to which each is left out.
	maxPartners = 8
)

// apart is a request that fits by itself.
type apart struct {
	claim, request int
	codes          map[code]int // what was refused for it together with those before
	devices        []inspect.DeviceID
}

// tellApart completes the reason of a set of diagnoses, if it is the same for all.
func tellApart(ctx context.Context, diagnoses []*diagnosis) error {
	if len(diagnoses) > maxApart {
		return nil
	}
	cause := ""
	for i, d := range diagnoses {
		if d.apart == nil {
			return nil
		}
		text, err := d.causeOf(ctx, d.apart)
		if err != nil {
			return err
		}
		if i > 0 && text != cause {
			return nil
		}
		cause = text
	}
	for _, d := range diagnoses {
		if cause != "" {
			d.joint[0].Message = "fits by itself, but not together with " + cause
		}
	}
	return nil
}

// causeOf says with what a request does not go together, and why if that is one thing; "" when neither is known.
func (d *diagnosis) causeOf(ctx context.Context, a *apart) (string, error) {
	p := &parting{diagnosis: d, apart: a}
	partner, err := p.partner(ctx)
	if err != nil || p.unsure {
		return "", err
	}
	why, err := p.why(ctx)
	if err != nil || p.unsure || partner == "" && why == "" {
		return "", err
	}
	if partner == "" {
		partner = "the requests before it"
		if a.claim > 0 {
			partner = "what comes before it"
		}
	}
	return partner + why, nil
}

// parting looks for what keeps a request apart.
type parting struct {
	*diagnosis
	*apart
	unsure bool // a search was given up
}

// claimsBefore are the claims up to the request.
func (p *parting) claimsBefore() []*resourcev1.ResourceClaim {
	return append(slices.Clone(p.q.claims[:p.claim]), upTo(p.q.claims[p.claim], p.request))
}

// helps asks whether the claims fit in a world.
func (p *parting) helps(ctx context.Context, c *allocator.Cluster, claims []*resourcev1.ResourceClaim) (bool, error) {
	if p.unsure {
		return false, nil
	}
	o, _, err := outcomeOf(ctx, c.WithStepLimit(probeSteps), p.node, claims)
	p.unsure = p.unsure || o == undecided
	return o == fits, err
}

// partner is the one request without which the request fits; "" when there is none, or several.
func (p *parting) partner(ctx context.Context) (string, error) {
	found := ""
	n := 0
	for c := range p.q.claims[:p.claim+1] {
		for r := range p.q.claims[c].Spec.Devices.Requests {
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
				found = p.q.claims[c].Spec.Devices.Requests[r].Name
				if c != p.claim {
					found += " of " + p.q.claims[c].Name
				}
			}
		}
	}
	return found, nil
}

// why names the one thing without which the request fits, as the rest of a sentence; "" when it is not one. Another
// device helps in many cases, so it counts only if nothing else does.
func (p *parting) why(ctx context.Context) (string, error) {
	var found []string
	for _, look := range []func(context.Context) ([]string, error){p.constraints, p.counters, p.capacities} {
		texts, err := look(ctx)
		if err != nil {
			return "", err
		}
		if found = append(found, texts...); len(found) > 1 {
			return "", nil
		}
	}
	if len(found) == 0 {
		var err error
		if found, err = p.device(ctx); err != nil {
			return "", err
		}
	}
	return strings.Join(found, ""), nil
}

// constraints drops each.
func (p *parting) constraints(ctx context.Context) ([]string, error) {
	var found []string
	for c := range p.q.claims[:p.claim+1] {
		for k := range p.q.claims[c].Spec.Devices.Constraints {
			claims := p.claimsBefore()
			out := *claims[c]
			out.Spec.Devices.Constraints = slices.Delete(slices.Clone(out.Spec.Devices.Constraints), k, k+1)
			claims[c] = &out
			ok, err := p.helps(ctx, p.cluster, claims)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, constraintWords(&p.q.claims[c].Spec.Devices.Constraints[k]))
			}
		}
	}
	return found, nil
}

// constraintWords goes on after "not together with b".
func constraintWords(c *resourcev1.DeviceConstraint) string {
	if c.MatchAttribute != nil {
		return fmt.Sprintf(" on the same %s", *c.MatchAttribute)
	}
	return fmt.Sprintf(" on a different %s", *c.DistinctAttribute)
}

// world is the surroundings of the node with the slices changed.
func (p *parting) world(change func(*resourcev1.ResourceSlice)) *allocator.Cluster {
	b := p.q.newSandbox(p.node)
	if b == nil {
		p.unsure = true
		return p.cluster
	}
	return b.with(func(o *inspect.Objects) {
		for i := range o.Slices {
			o.Slices[i] = o.Slices[i].DeepCopy()
			change(o.Slices[i])
		}
	})
}

// counters makes those of the sets that ran out plenty; then, of one set, each.
func (p *parting) counters(ctx context.Context) ([]string, error) {
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
			raiseCounters(s, func(set, counter string) bool { return sets[set] && wanted(counter) })
		})
	}
	ok, err := p.helps(ctx, raised(func(string) bool { return true }), p.claimsBefore())
	if err != nil || !ok {
		return nil, err
	}
	if len(sets) > 1 {
		return []string{": the counters of their devices run out"}, nil
	}
	set := slices.Sorted(maps.Keys(sets))[0]
	counters := map[string]bool{}
	p.world(func(s *resourcev1.ResourceSlice) { countersOf(s, set, counters) })
	var enough []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if len(counters) > maxCounters {
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
		return []string{fmt.Sprintf(": the counters of set %s run out", set)}, nil
	}
	return []string{fmt.Sprintf(": counter %s of set %s runs out", enough[0], set)}, nil
}

// capacities makes each that ran out plenty.
func (p *parting) capacities(ctx context.Context) ([]string, error) {
	names := map[string]bool{}
	for c := range p.codes {
		if c.code == allocator.CapacityInsufficient {
			names[string(c.capacity)] = true
		}
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		world := p.world(func(s *resourcev1.ResourceSlice) {
			for i := range s.Spec.Devices {
				if c, ok := s.Spec.Devices[i].Capacity[resourcev1.QualifiedName(name)]; ok {
					c.Value = *resource.NewQuantity(plenty, c.Value.Format)
					s.Spec.Devices[i].Capacity[resourcev1.QualifiedName(name)] = c
				}
			}
		})
		ok, err := p.helps(ctx, world, p.claimsBefore())
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, fmt.Sprintf(": there is not enough of %s left", name))
		}
	}
	return found, nil
}

// device makes a second one of the only device that fits the request.
func (p *parting) device(ctx context.Context) ([]string, error) {
	if len(p.devices) != 1 {
		return nil, nil
	}
	id := p.devices[0]
	world := p.world(func(s *resourcev1.ResourceSlice) {
		if s.Spec.Driver != id.Driver || s.Spec.Pool.Name != id.Pool {
			return
		}
		for i := range s.Spec.Devices {
			if s.Spec.Devices[i].Name == id.Device {
				twin := *s.Spec.Devices[i].DeepCopy()
				twin.Name = id.Device + "-twin"
				s.Spec.Devices = append(s.Spec.Devices, twin)
			}
		}
	})
	ok, err := p.helps(ctx, world, p.claimsBefore())
	if err != nil || !ok {
		return nil, err
	}
	return []string{fmt.Sprintf(": %s is the only device for it, and needed there too", id.Device)}, nil
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
