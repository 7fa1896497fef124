package headline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxNamed is the number of claims, or of values, up to which a sentence names them.
const maxNamed = 2

// nothing says why no device at all can be had on any node.
func (s *shortage) nothing() Headline {
	switch pool := s.requirement(explain.PoolRequired); {
	case pool != nil && pool.Alone && s.emptyAt("selectors"):
		return s.onlyIn(pool)
	case pool != nil:
		return Headline{}
	}
	if gate := s.requirement(explain.FeatureRequired); gate != nil && gate.Pool != (inspect.PoolID{}) && s.emptyAt("selectors") {
		return headlineOf(s.wanted(), gate.Message)
	}
	switch {
	case s.emptyAt("class"):
		return s.noClass()
	case s.emptyAt("selectors"):
		return s.noneSelected()
	}
	if h := s.tooSmall(); h != (Headline{}) {
		return h
	}
	obstacles := s.obstacles()
	state := states(obstacles)
	switch {
	case len(obstacles) == 0:
		return Headline{}
	case slices.Equal(obstacles, []string{"free"}):
		state += s.by()
	case slices.Equal(obstacles, []string{"taints"}):
		if taint := s.one("taints"); taint != "" {
			state += " with " + taint
		}
	case slices.Equal(obstacles, []string{"capacity"}):
		if amount := s.one("capacity"); amount != "" {
			return headlineOf(s.wanted(), fmt.Sprintf("none%s has %s of %s left", s.fitting(), amount, s.losses("capacity")[0].Capacity))
		}
	case slices.Equal(obstacles, []string{"constraints"}):
		if attribute := s.one("constraints"); attribute != "" {
			return headlineOf(s.wanted(), fmt.Sprintf("none%s has the attribute %s of a constraint", s.fitting(), attribute))
		}
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s; all%s are %s", s.wanted(), s.fitting(), state),
		Brief:    fmt.Sprintf("%s: all of class %s%s%s", state, s.class, s.selected(), s.fitting()),
	}
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
	if pool.Term != "" {
		why = "ignored since it is not valid: " + pool.Term
	}
	such := "the only such devices are"
	if s.poolsIgnored() > 1 {
		such = "there are such devices"
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s; %s in pool %s, which is %s", s.wanted(), such, pool.Pool, why),
		Brief:    fmt.Sprintf("pool %s is %s", pool.Pool, why),
	}
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
func (s *shortage) noClass() Headline {
	where := ""
	if len(s.q.Nodes) == 1 && s.q.Nodes[0].Name != string(inspect.PseudoNode) {
		where = " on " + s.everyNode()
	}
	if s.excluded {
		where = " on a node that the pod may use"
	}
	if slices.ContainsFunc(s.losses("class"), func(l *explain.Loss) bool { return !l.OtherDriver }) {
		return headlineOf(s.wanted(), fmt.Sprintf("no device%s passes the selectors of class %s", where, s.class))
	}
	if s.poolsIgnored() > 0 { // it may be in there
		return headlineOf(s.wanted(), fmt.Sprintf("no pool that the scheduler heeds has devices of class %s%s", s.class, where))
	}
	return headlineOf(s.wanted(), fmt.Sprintf("no driver publishes devices of class %s%s (is it running?)", s.class, where))
}

// noneSelected says what no device of the class has.
func (s *shortage) noneSelected() Headline {
	losses := s.losses("selectors")
	first := losses[0]
	if slices.ContainsFunc(losses, func(l *explain.Loss) bool { return l.Key != first.Key || l.Wanted == "" }) {
		if s.selected() != "" {
			return Headline{Sentence: "needs " + s.wanted() + "; there is none", Brief: "no device of class " + s.class + s.selected()}
		}
		return headlineOf(s.wanted(), "no device of the class passes the selectors of the request")
	}
	needs := s.wanted()
	if s.selected() == "" {
		needs += " with " + first.Wanted
	}
	values := map[string]string{}
	for _, l := range losses {
		for _, v := range l.Values {
			values[v.Key] = v.Text
		}
	}
	texts := slices.Sorted(maps.Values(values))
	if len(texts) == 0 || len(texts) > maxNamed+1 {
		return Headline{Sentence: "needs " + needs + "; no device of the class has that", Brief: "no device has " + first.Wanted}
	}
	have := strings.Join(texts, ", ")
	return Headline{Sentence: "needs " + needs + "; devices of the class have " + have, Brief: fmt.Sprintf("no device has %s: they have %s", first.Wanted, have)}
}

// tooSmall says how much of a capacity can be had, if that is what is in the way. It is empty if that is not known.
func (s *shortage) tooSmall() Headline {
	wanted := s.requirement(explain.CapacityRequired)
	if wanted == nil || wanted.Capacity == "" {
		return Headline{}
	}
	if losses := s.losses("capacity"); !slices.ContainsFunc(losses, func(l *explain.Loss) bool { return !l.Lacking || l.Capacity != wanted.Capacity }) {
		return headlineOf(fmt.Sprintf("the capacity %s on %s", wanted.Capacity, s.wanted()), fmt.Sprintf("no device has a capacity named %s", wanted.Capacity))
	}
	for i := range s.e.Fixes {
		f := &s.e.Fixes[i]
		if amount, ok := amountOf(f); ok && f.Kind == explain.ReduceCapacity {
			name := shortName(wanted.Capacity)
			return Headline{
				Sentence: fmt.Sprintf("needs %s of %s on %s; no more than %s can be had", wanted.Amount, name, s.wanted(), amount),
				Brief:    fmt.Sprintf("at most %s of %s on a device, %s needed", amount, name, wanted.Amount),
			}
		}
	}
	return Headline{}
}

// amountOf is the amount of a capacity that a fix asks for, if that is all that it changes.
func amountOf(f *explain.Fix) (string, bool) {
	if len(f.Also) > 0 || len(f.Patch) != 1 {
		return "", false
	}
	text, ok := f.Patch[0].Value.(string)
	return text, ok
}

// shortName is the name of a capacity without its domain.
func shortName(name resourcev1.QualifiedName) string {
	return string(name)[strings.LastIndexByte(string(name), '/')+1:]
}

// stepWords say of a device that it was lost at a step.
var stepWords = map[string]string{
	"features": "behind a feature gate that is off", "taints": "tainted", "free": "in use", "capacity": "without enough capacity left",
	"counters": "blocked by partitions in use", "constraints": "without an attribute that a constraint needs",
}

// obstacles are the steps at which devices are lost that the request would take, in their order.
func (s *shortage) obstacles() []string {
	var out []string
	for _, step := range []string{"features", "taints", "free", "capacity", "counters", "constraints"} {
		if s.lost(step) {
			out = append(out, step)
		}
	}
	return out
}

// one is what devices were lost for at a step, if that is the same for all. Otherwise it is "".
func (s *shortage) one(step string) string {
	losses := s.losses(step)
	if slices.ContainsFunc(losses, func(l *explain.Loss) bool { return l.Wanted != losses[0].Wanted || l.Capacity != losses[0].Capacity }) {
		return ""
	}
	return losses[0].Wanted
}

// states says of devices that they were lost at one step or another.
func states(steps []string) string {
	parts := make([]string, len(steps))
	for i, step := range steps {
		parts[i] = stepWords[step]
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

// by names the claims that hold the devices, if they are few.
func (s *shortage) by() string {
	var names []string
	for _, l := range s.losses("free") {
		for i := range l.Claims {
			if name := l.Claims[i].Claim.String(); !slices.Contains(names, name) {
				names = append(names, name)
			}
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
