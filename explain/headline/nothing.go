package headline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxNamed is the number of claims, or of values, up to which a sentence names them.
const maxNamed = 2

// nothing says why no device at all can be had on any node.
func (s *shortage) nothing(ctx context.Context) Headline {
	switch {
	case s.emptyAt("class"):
		return s.noClass(ctx)
	case s.emptyAt("selectors"):
		return s.noneSelected()
	}
	obstacles := s.obstacles()
	if len(obstacles) == 0 {
		return Headline{}
	}
	state := states(obstacles)
	if len(obstacles) == 1 {
		switch o := obstacles[0]; o.step {
		case "free":
			state += s.by()
		case "taints":
			if taint := s.one("taints"); taint != "" {
				state += " with " + taint
			}
		case "capacity":
			if h := s.tooSmall(); h != (Headline{}) {
				return h
			}
		case "constraints":
			if attribute := s.one("constraints"); attribute != "" {
				return headlineOf(s.wanted(), fmt.Sprintf("none%s%s the attribute %s of a constraint", s.where(), s.has(), attribute))
			}
		}
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s; all%s%s are %s", s.wanted(), s.fitting(), s.where(), state),
		Brief:    fmt.Sprintf("%s: all of class %s%s%s%s", state, s.class, s.selected(), s.fitting(), s.where()),
	}
}

// has says that one has something, of all devices or of those that fit.
func (s *shortage) has() string {
	if s.fitting() != "" {
		return " that fits has"
	}
	return " has"
}

// emptyAt reports whether no node has a device left at a step.
func (s *shortage) emptyAt(name string) bool {
	return !slices.ContainsFunc(s.funnels, func(f *explain.Funnel) bool {
		return slices.ContainsFunc(f.Steps, func(step explain.Step) bool { return step.Name == name && step.Most > 0 })
	})
}

// losses are what devices were lost for at a step, on all nodes.
func (s *shortage) losses(name string) []*explain.Loss {
	var out []*explain.Loss
	for _, f := range s.funnels {
		for i := range f.Steps {
			if f.Steps[i].Name != name {
				continue
			}
			for j := range f.Steps[i].Lost {
				out = append(out, &f.Steps[i].Lost[j])
			}
		}
	}
	return out
}

// onlyIn says that the devices that would do are in a pool that the scheduler ignores.
func (s *shortage) onlyIn(pool *explain.Requirement) Headline {
	why := "ignored until its driver has published all slices of it"
	switch {
	case pool.Term != "":
		why = "ignored since it is not valid: " + pool.Term
	case s.overfull(pool.Pool):
		why = "ignored since it has more slices than its driver says"
	}
	such := "the only such devices" + s.where() + " are"
	if s.poolsIgnored() > 1 {
		such = "there are such devices"
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s; %s in pool %s, which is %s", s.wanted(), such, pool.Pool, why),
		Brief:    fmt.Sprintf("pool %s is %s", pool.Pool, why),
	}
}

// overfull reports whether a pool has more slices than there should be.
func (s *shortage) overfull(id inspect.PoolID) bool {
	for _, node := range s.q.Nodes {
		if inspect.NodeName(node.Name) != s.e.Conflict.Node {
			continue
		}
		pools, err := s.q.Cluster.Snapshot().PoolsOn(node)
		return err == nil && slices.ContainsFunc(pools, func(p *inspect.NodePool) bool { return p.ID == id && p.SlicesSeen > p.SlicesWanted })
	}
	return false
}

// poolsIgnored is the number of pools that the scheduler ignores as a whole or in part.
func (s *shortage) poolsIgnored() int {
	pools := map[inspect.PoolID]bool{}
	for _, g := range s.groups {
		for i := range g.Reasons {
			if pool := g.Reasons[i].Pool; pool != (inspect.PoolID{}) {
				pools[pool] = true
			}
		}
	}
	return len(pools)
}

// noClass says that the class has no devices.
func (s *shortage) noClass(ctx context.Context) Headline {
	where := s.where()
	if where == "" && len(s.q.Nodes) == 1 && s.q.Nodes[0].Name != string(inspect.PseudoNode) {
		where = " on node " + s.q.Nodes[0].Name
	}
	switch {
	case slices.Contains(explain.AbsentClasses(s.e.Advice), s.class):
		return headlineOf(s.wanted(), running([]string{s.class}))
	case s.published(ctx):
		return headlineOf(s.wanted(), fmt.Sprintf("no device of class %s reaches %s", s.class, s.aNode()))
	case slices.ContainsFunc(s.losses("class"), func(l *explain.Loss) bool { return !l.OtherDriver }):
		return headlineOf(s.wanted(), fmt.Sprintf("no device%s passes the selectors of class %s", where, s.class))
	}
	return headlineOf(s.wanted(), running([]string{s.class + where}))
}

// noneSelected says what no device of the class has.
func (s *shortage) noneSelected() Headline {
	wanted, have := s.missing()
	if wanted == "" {
		if s.selected() != "" {
			return Headline{Sentence: "needs " + s.wanted() + "; there is none" + s.where(), Brief: "no device of class " + s.class + s.selected() + s.where()}
		}
		return headlineOf(s.wanted(), fmt.Sprintf("no device of the class%s passes the selectors of the request", s.where()))
	}
	needs := s.wanted()
	if s.selected() == "" {
		needs += " with " + wanted
	}
	if have == "" {
		return Headline{
			Sentence: fmt.Sprintf("needs %s; no device of the class%s has that", needs, s.where()),
			Brief:    fmt.Sprintf("no device of the class%s has %s", s.where(), wanted),
		}
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s; devices of the class%s have %s", needs, s.where(), have),
		Brief:    fmt.Sprintf("no device of the class%s has %s: they have %s", s.where(), wanted, have),
	}
}

// missing is the term that no device of the class passes, and what these have instead, if that is short. It
// is "" if they lack different things.
func (s *shortage) missing() (wanted, have string) {
	losses := s.losses("selectors")
	if len(losses) == 0 || slices.ContainsFunc(losses, func(l *explain.Loss) bool { return l.Key != losses[0].Key || l.Wanted == "" }) {
		return "", ""
	}
	values := map[string]string{}
	for _, l := range losses {
		for _, v := range l.Values {
			values[v.Key] = v.Text
		}
	}
	texts := slices.Sorted(maps.Values(values))
	if len(texts) > maxNamed+1 {
		texts = nil
	}
	return losses[0].Wanted, strings.Join(texts, ", ")
}

// tooSmall says how much of a capacity can be had, if that is all that is in the way of devices that the
// request would take. It is empty if that is not known.
func (s *shortage) tooSmall() Headline {
	losses := s.losses("capacity")
	name, amount := losses[0].Capacity, s.one("capacity")
	switch {
	case slices.ContainsFunc(losses, func(l *explain.Loss) bool { return l.Capacity != name || l.Code != allocator.CapacityInsufficient }):
		return Headline{}
	case !slices.ContainsFunc(losses, func(l *explain.Loss) bool { return !l.Lacking }):
		return headlineOf(fmt.Sprintf("the capacity %s on %s", name, s.wanted()), fmt.Sprintf("none%s%s a capacity named %s", s.where(), s.has(), name))
	case amount == "":
		return Headline{}
	}
	var asked map[resourcev1.QualifiedName]resource.Quantity
	if s.capacity != nil {
		asked = s.capacity.Requests
	}
	if q, ok := asked[name]; ok {
		amount = q.String() // as the claim has it, not as the device's policy rounds it
	}
	if s.onlyRequest() && len(asked) == 1 {
		for i := range s.e.Fixes {
			if most, ok := amountOf(&s.e.Fixes[i], name); ok {
				return Headline{
					Sentence: fmt.Sprintf("needs %s of %s on %s; no more than %s can be had%s", amount, withoutDomain(name), s.wanted(), most, s.where()),
					Brief:    fmt.Sprintf("at most %s of %s on a device, %s needed", most, withoutDomain(name), amount),
				}
			}
		}
	}
	return headlineOf(s.wanted(), fmt.Sprintf("none%s%s %s of %s left", s.where(), s.has(), amount, name))
}

// amountOf is the amount of a capacity that a fix asks for, if that is all that it changes.
func amountOf(f *explain.Fix, name resourcev1.QualifiedName) (string, bool) {
	if f.Kind != explain.ReduceCapacity || len(f.Also) > 0 || len(f.Patch) != 1 || !strings.HasSuffix(f.Patch[0].Path, "/capacity/requests/"+strings.ReplaceAll(string(name), "/", "~1")) {
		return "", false
	}
	text, ok := f.Patch[0].Value.(string)
	return text, ok
}

// obstacle is what is in the way of devices, and the step at which it shows.
type obstacle struct{ step, state string }

// lostFor says of a device what it was lost for.
var lostFor = map[allocator.Code]string{
	allocator.NodeUnsuitable:             "in need of a feature that the node does not declare",
	allocator.FeatureDisabled:            "behind a feature gate that is off",
	allocator.DeviceTainted:              "tainted",
	allocator.DeviceInUse:                "in use",
	allocator.CapacityPolicyViolated:     "unable to give that amount",
	allocator.CompatibilityGroupConflict: "not compatible with partitions in use",
	allocator.AttributeMissing:           "without an attribute that a constraint needs",
}

// stateOf says of a device that it was lost at a step.
func stateOf(step string, l *explain.Loss) string {
	switch {
	case lostFor[l.Code] != "":
		return lostFor[l.Code]
	case l.Lacking:
		return "without the capacity"
	case step == "counters" && l.UsedUp:
		return "blocked by partitions in use"
	case step == "counters":
		return "in need of more of a counter than there is"
	case l.UsedUp:
		return "without enough capacity left"
	}
	return "too small"
}

// obstacles are what is in the way of devices that the request would take, in the order of the steps.
func (s *shortage) obstacles() []obstacle {
	var out []obstacle
	for _, step := range []string{"features", "taints", "free", "capacity", "counters", "constraints"} {
		for _, l := range s.losses(step) {
			out = words.AppendNew(out, obstacle{step, stateOf(step, l)})
		}
	}
	return out
}

// states joins obstacles.
func states(obstacles []obstacle) string {
	parts := words.Each(obstacles, func(o obstacle) string { return o.state })
	return words.Or(parts)
}

// one is what devices were lost for at a step, if that is the same for all. Otherwise it is "".
func (s *shortage) one(step string) string {
	losses := s.losses(step)
	if slices.ContainsFunc(losses, func(l *explain.Loss) bool { return l.Wanted != losses[0].Wanted || l.Capacity != losses[0].Capacity }) {
		return ""
	}
	return losses[0].Wanted
}

// by names the claims that hold the devices, if they are few.
func (s *shortage) by() string {
	for _, g := range s.groups {
		if len(g.Nodes) > diagnose.MaxNamedNodes {
			return "" // not all holders are known
		}
	}
	var names []string
	for _, l := range s.losses("free") {
		for i := range l.Claims {
			if s.q.Supposed[l.Claims[i].Claim] {
				return " or taken by those before it"
			}
			names = words.AppendNew(names, l.Claims[i].Claim.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	if len(names) > maxNamed {
		return " by " + words.Count(len(names), "claim")
	}
	slices.Sort(names)
	return " by " + strings.Join(names, " and ")
}
