package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Why does a request not fit together with the requests before it, although it fits by itself? The partner
// with which it does not fit and the obstacle between them are found by taking things away, one at a time,
// and putting the question to the node again.
//
// The partner is the one request without which it fits. The obstacle is a constraint that is dropped, a
// capacity or counters that ran out in the search, of which there is plenty then, or the only device that
// fits, of which there is a second one then. Partner and obstacle are named only if exactly one of them lets
// the request fit.

const (
	// maxDiagnosed is the number of diagnoses in a group up to which partners are looked for.
	maxDiagnosed = 8
	// maxPartners is the number of requests before the misfit up to which each is left out.
	maxPartners = 8
)

// misfit is a request that fits by itself, but not together with the requests before it.
type misfit struct {
	claim, request int
	rejections     map[rejectionKind]int // what was refused for it together with those before
	devices        []inspect.DeviceID    // that pass every check of a single device
}

// namePartners says in the reasons of a group what its misfit does not fit together with, and why, if that is
// the same in all of its diagnoses.
func namePartners(ctx context.Context, diagnoses []*diagnosis) error {
	if len(diagnoses) > maxDiagnosed {
		return nil
	}
	var same cause
	for i, d := range diagnoses {
		if d.misfit == nil {
			return nil
		}
		c := d.causeOf(ctx, d.misfit)
		if d.err != nil || i > 0 && c != same {
			return d.err
		}
		same = c
	}
	for _, d := range diagnoses {
		if same != (cause{}) {
			d.interactions[0].Found = words.Key(same)
			d.interactions[0].Message = "fits by itself, but not together with " + same.text(d.misfit.claim > 0)
		}
	}
	return nil
}

// cause is why a misfit does not fit together with the requests before it.
type cause struct {
	// partner is the one request with which it does not fit, with its claim if that is another. It is "" if
	// it is not one request.
	partner string
	// obstacle is what is between them. It is zero if it is not one thing.
	obstacle obstacle
}

// obstacle is the one thing without which a misfit would fit.
type obstacle struct {
	kind obstacleKind
	name string // of the attribute, counter, capacity or device
	set  string // of the counter
}

// obstacleKind says what an obstacle is.
type obstacleKind int

const (
	unknownObstacle obstacleKind = iota
	sameAttribute
	differentAttribute
	countersOfDevices // of several sets
	countersOfSet     // of one set, of which no single counter is the obstacle
	oneCounter
	oneCapacity
	oneDevice
)

// text puts the cause into words, after "not together with". otherClaims says that there are claims before
// that of the misfit.
func (c cause) text(otherClaims bool) string {
	partner := c.partner
	if partner == "" {
		partner = "the requests before it"
		if otherClaims {
			partner = "what comes before it"
		}
	}
	return partner + c.obstacle.text()
}

// text puts the obstacle into words, after the name of the partner.
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

// causeOf finds the partner and the obstacle of a misfit. Nothing is known if a search was given up on the
// way.
func (d *diagnosis) causeOf(ctx context.Context, m *misfit) cause {
	p := &partnerSearch{diagnosis: d, misfit: m}
	found := cause{partner: p.partner(ctx)}
	if found.obstacle = p.obstacle(ctx); p.unsure {
		return cause{}
	}
	return found
}

// partnerSearch looks for the cause of a misfit.
type partnerSearch struct {
	*diagnosis
	*misfit
	unsure bool // a search was given up
}

// claimsBefore are the claims and requests up to and including the misfit.
func (p *partnerSearch) claimsBefore() []*resourcev1.ResourceClaim {
	return append(slices.Clone(p.q.Claims[:p.claim]), upTo(p.q.Claims[p.claim], p.request))
}

// helps reports whether the claims fit on the node in a cluster.
func (p *partnerSearch) helps(ctx context.Context, c *scheduler.Cluster, claims []*resourcev1.ResourceClaim) bool {
	if p.unsure {
		return false
	}
	o, _, err := whatif.OutcomeOf(ctx, c.WithStepLimit(whatif.ProbeSteps), p.node, claims)
	p.err = cmp.Or(p.err, err)
	p.unsure = o == whatif.Undecided
	return o == whatif.Fits
}

// partner returns the one request without which the misfit fits. It is "" if there is none or several, or if
// there are too many to try.
func (p *partnerSearch) partner(ctx context.Context) string {
	found := ""
	n := 0
	for c := range p.q.Claims[:p.claim+1] {
		for r := range p.q.Claims[c].Spec.Devices.Requests {
			if c == p.claim && r >= p.request {
				break
			}
			if n++; n > maxPartners {
				return ""
			}
			claims := p.claimsBefore()
			out := *claims[c]
			out.Spec.Devices.Requests = slices.Delete(slices.Clone(out.Spec.Devices.Requests), r, r+1)
			if claims[c] = &out; len(out.Spec.Devices.Requests) == 0 {
				claims = slices.Delete(claims, c, c+1)
			}
			if p.helps(ctx, p.cluster, claims) {
				if found != "" {
					return ""
				}
				found = p.q.Claims[c].Spec.Devices.Requests[r].Name
				if c != p.claim {
					found += " of " + p.q.Claims[c].Name
				}
			}
		}
	}
	return found
}

// obstacle returns the one thing without which the misfit fits. It is zero if there is none or several.
// Another device helps in many cases, so it counts only if nothing else does.
func (p *partnerSearch) obstacle(ctx context.Context) obstacle {
	var found []obstacle
	for _, find := range []func(context.Context) []obstacle{p.constraints, p.counters, p.capacities} {
		if found = append(found, find(ctx)...); len(found) > 1 {
			return obstacle{}
		}
	}
	if len(found) == 0 {
		found = p.device(ctx)
	}
	if len(found) == 0 {
		return obstacle{}
	}
	return found[0]
}

// constraints returns the constraints without which the misfit fits.
func (p *partnerSearch) constraints(ctx context.Context) []obstacle {
	var found []obstacle
	for c := range p.q.Claims[:p.claim+1] {
		for k := range p.q.Claims[c].Spec.Devices.Constraints {
			claims := p.claimsBefore()
			out := *claims[c]
			out.Spec.Devices.Constraints = slices.Delete(slices.Clone(out.Spec.Devices.Constraints), k, k+1)
			claims[c] = &out
			if p.helps(ctx, p.cluster, claims) {
				found = append(found, constraintObstacle(&p.q.Claims[c].Spec.Devices.Constraints[k]))
			}
		}
	}
	return found
}

// constraintObstacle is a constraint as an obstacle.
func constraintObstacle(c *resourcev1.DeviceConstraint) obstacle {
	if c.MatchAttribute != nil {
		return obstacle{kind: sameAttribute, name: string(*c.MatchAttribute)}
	}
	return obstacle{kind: differentAttribute, name: string(*c.DistinctAttribute)}
}

// withSlices returns what can decide about the node, with its slices changed.
func (p *partnerSearch) withSlices(change func(*resourcev1.ResourceSlice)) *scheduler.Cluster {
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

// counters returns the counters that are an obstacle. There is plenty of all counters of the sets that ran
// out, and then, if that is one set, of each of its counters by itself.
func (p *partnerSearch) counters(ctx context.Context) []obstacle {
	sets := map[string]bool{}
	for c := range p.rejections {
		if c.code == allocator.CountersExhausted {
			sets[c.counterSet] = true
		}
	}
	if len(sets) == 0 {
		return nil
	}
	raised := func(wanted func(counter string) bool) *scheduler.Cluster {
		return p.withSlices(func(s *resourcev1.ResourceSlice) {
			whatif.RaiseCounters(s, func(set, counter string) bool { return sets[set] && wanted(counter) })
		})
	}
	if !p.helps(ctx, raised(func(string) bool { return true }), p.claimsBefore()) {
		return nil
	}
	if len(sets) > 1 {
		return []obstacle{{kind: countersOfDevices}}
	}
	set := slices.Sorted(maps.Keys(sets))[0]
	counters := map[string]bool{}
	p.withSlices(func(s *resourcev1.ResourceSlice) { countersOf(s, set, counters) })
	var enough []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if len(counters) > whatif.MaxCounters {
			break
		}
		if p.helps(ctx, raised(func(counter string) bool { return counter == name }), p.claimsBefore()) {
			enough = append(enough, name)
		}
	}
	if len(enough) != 1 {
		return []obstacle{{kind: countersOfSet, set: set}}
	}
	return []obstacle{{kind: oneCounter, name: enough[0], set: set}}
}

// capacities returns the capacities that are an obstacle. There is plenty of each that ran out, one at a
// time.
func (p *partnerSearch) capacities(ctx context.Context) []obstacle {
	names := map[string]bool{}
	for c := range p.rejections {
		if c.code == allocator.CapacityInsufficient {
			names[string(c.capacity)] = true
		}
	}
	var found []obstacle
	for _, name := range slices.Sorted(maps.Keys(names)) {
		cluster := p.withSlices(func(s *resourcev1.ResourceSlice) {
			whatif.RaiseCapacity(s, func(published resourcev1.QualifiedName) bool {
				return p.cluster.Snapshot().SameCapacity(s.Spec.Driver, published, resourcev1.QualifiedName(name))
			})
		})
		if p.helps(ctx, cluster, p.claimsBefore()) {
			found = append(found, obstacle{kind: oneCapacity, name: name})
		}
	}
	return found
}

// device returns the only device that fits the misfit, if a second one like it would help.
func (p *partnerSearch) device(ctx context.Context) []obstacle {
	if len(p.devices) != 1 {
		return nil
	}
	id := p.devices[0]
	cluster := p.withSlices(func(s *resourcev1.ResourceSlice) { whatif.AddSecond(s, id) })
	if !p.helps(ctx, cluster, p.claimsBefore()) {
		return nil
	}
	return []obstacle{{kind: oneDevice, name: id.Device}}
}

// countersOf adds the names of the counters of a set to a collection.
func countersOf(s *resourcev1.ResourceSlice, set string, into map[string]bool) {
	for i := range s.Spec.SharedCounters {
		if s.Spec.SharedCounters[i].Name == set {
			for name := range s.Spec.SharedCounters[i].Counters {
				into[name] = true
			}
		}
	}
}
