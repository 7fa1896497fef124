package headline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Headline is what is missing.
type Headline struct {
	// Sentence is a sentence without its subject: what is needed, and why no node has it.
	Sentence string
	// Brief says in a few words why no node has it, for a column of a table.
	Brief string
	// Lack is the same in numbers, if it is about one request. It may be nil.
	Lack *explain.Lack
}

// Of returns the headline of an explanation with the verdict Unsatisfiable whose conflict and fixes have been
// looked for. It is empty if there is none.
func Of(ctx context.Context, q *whatif.Question, e *explain.Explanation) Headline {
	if q.PerNode != nil && len(e.Advice) == 0 { // what is asked for differs between nodes
		return Headline{}
	}
	s, ok := shortageOf(q, e)
	if absent := explain.AbsentClasses(e.Advice); len(absent) > 0 && (!ok || !slices.Contains(absent, s.class)) {
		return headlineOf(words.Plural(len(absent), "a device of class ", "devices of the classes ")+words.And(absent), running(absent))
	}
	if !ok {
		return Headline{}
	}
	return s.headline(ctx)
}

// shortage is a request that gets too few devices on every node, with its funnels.
type shortage struct {
	q         *whatif.Question
	e         *explain.Explanation
	claim     *resourcev1.ResourceClaim
	request   string
	class     string
	selectors []resourcev1.DeviceSelector
	capacity  *resourcev1.CapacityRequirements
	// groups are the nodes that could be used, and funnels what becomes of the request's devices there.
	groups  []*explain.Group
	funnels []*explain.Funnel
	// excluded says that there are nodes that could not be used whatever devices they have.
	excluded bool
}

// shortageOf finds the request that gets too few devices. It returns false unless that is the same on all
// nodes.
func shortageOf(q *whatif.Question, e *explain.Explanation) (*shortage, bool) {
	s := &shortage{q: q, e: e}
	for i := range e.Groups {
		g := &e.Groups[i]
		blamed := blamedIn(g)
		switch {
		case g.Unusable:
			s.excluded = true
			continue
		case blamed == nil, !s.sameRequest(blamed):
			return nil, false
		}
		f := funnelOf(g, blamed)
		if f == nil {
			return nil, false
		}
		s.groups, s.funnels = append(s.groups, g), append(s.funnels, f)
	}
	return s, s.claim != nil && s.class != ""
}

// blamedIn is the first reason of a group that is about a request, or nil.
func blamedIn(g *explain.Group) *explain.Reason {
	for i := range g.Reasons {
		if r := &g.Reasons[i]; r.Plugin == "" { // what other filters have against the nodes does not matter then
			if r.Request == "" {
				return nil
			}
			return r
		}
	}
	return nil
}

// sameRequest reports whether a reason is about the request that was found first, and remembers that.
func (s *shortage) sameRequest(r *explain.Reason) bool {
	if s.claim != nil {
		return inspect.RefOf(s.claim) == r.Claim && s.request == r.Request
	}
	for _, claim := range s.q.Claims {
		if inspect.RefOf(claim) != r.Claim {
			continue
		}
		for i := range claim.Spec.Devices.Requests {
			if request := &claim.Spec.Devices.Requests[i]; request.Name == r.Request && request.Exactly != nil {
				s.claim, s.request = claim, r.Request
				s.class, s.selectors, s.capacity = request.Exactly.DeviceClassName, request.Exactly.Selectors, request.Exactly.Capacity
				return true
			}
		}
	}
	return false // an alternative of a prioritized list
}

// funnelOf is the funnel of the request that a reason is about, or nil.
func funnelOf(g *explain.Group, r *explain.Reason) *explain.Funnel {
	for i := range g.Funnels {
		if f := &g.Funnels[i]; f.Claim == r.Claim && f.Request == r.Request && len(f.Steps) > 1 {
			return f
		}
	}
	return nil
}

// headline says what is missing.
func (s *shortage) headline(ctx context.Context) Headline {
	if pool := s.requirement(explain.PoolRequired); pool != nil {
		if pool.Alone && s.emptyAt("selectors") {
			return s.onlyIn(pool)
		}
		return Headline{}
	}
	if gate := s.requirement(explain.FeatureRequired); gate != nil && gate.Pool != (inspect.PoolID{}) {
		if s.emptyAt("selectors") {
			return headlineOf(s.wanted(), gate.Message)
		}
		return Headline{}
	}
	h := s.ofDevices(ctx)
	ignored := s.poolsThatWouldDo(ctx)
	if h != (Headline{}) && len(ignored) == 0 {
		h.Lack = s.lack()
	} else if h != (Headline{}) {
		h.Sentence += fmt.Sprintf(" (not counting pool %s, which %s)", words.Shorten(ignored, 1), words.Plural(len(ignored), "is ignored", "are ignored"))
	}
	return h
}

// ofDevices says what is missing of the devices of the pools that the scheduler heeds.
func (s *shortage) ofDevices(ctx context.Context) Headline {
	f := s.funnels[0]
	most := s.most()
	switch {
	case most >= f.Needed && f.Needed > 0:
		return Headline{} // there are enough, but not together with something else
	case f.All && f.Needed > 0:
		every := s.everyNode()
		if slices.ContainsFunc(s.funnels, func(f *explain.Funnel) bool { return f.Needed == 0 }) {
			every += " that has any"
		}
		return Headline{
			Sentence: fmt.Sprintf("needs all devices of class %s%s%s that a node has; on %s some of them are %s", s.class, s.selected(), s.fitting(), every, states(s.obstacles())),
			Brief:    fmt.Sprintf("all devices of a node needed; on %s some are %s", every, states(s.obstacles())),
		}
	case f.Needed > 1 && most > 0:
		constraint, together := "", ""
		split := s.left() > most // more are left than can be had together
		if split || s.blames(explain.ConstraintRequired) {
			constraint = s.constraint()
		}
		if split {
			together = " together"
		}
		all := ""
		if sum := s.sum(); constraint+together == "" && most == s.left() && sum >= f.Needed {
			all = fmt.Sprintf(" (%d in all)", sum)
		}
		return Headline{
			Sentence: fmt.Sprintf("needs %s%s; %s", s.wanted(), constraint, s.noneHasMore(fmt.Sprint(most)+s.free()+together)+all),
			Brief:    fmt.Sprintf("at most %d%s%s on a node%s, %d needed", most, s.free(), cmp.Or(constraint, together), all, f.Needed),
		}
	case most > 0:
		return Headline{}
	}
	return s.nothing(ctx)
}

// running asks whether a driver runs of which nothing is published.
func running(classes []string) string { return explain.NothingPublished(classes) + " (is it running?)" }

// headlineOf joins what is needed and what is missing.
func headlineOf(needs, lack string) Headline {
	return Headline{Sentence: "needs " + needs + "; " + lack, Brief: lack}
}

// wanted is what the request asks for, with its selectors where they are short.
func (s *shortage) wanted() string {
	of := "of class " + s.class + s.selected()
	if len(s.q.Claims) > 1 {
		of += " for claim " + s.claim.Name
	}
	if n := s.funnels[0].Needed; n > 1 {
		return fmt.Sprintf("%d devices %s", n, of)
	}
	return "a device " + of
}

// maxSelected is the width up to which a sentence tells what selectors compare.
const maxSelected = 48

// selected is what the selectors of the request compare. It is "" if there are none, or if that is long.
func (s *shortage) selected() string {
	var terms []string
	for i := range s.selectors {
		if s.selectors[i].CEL == nil {
			return ""
		}
		more, ok := s.q.Cluster.Selectors().Comparisons(s.selectors[i].CEL.Expression)
		if !ok {
			return ""
		}
		terms = append(terms, more...)
	}
	if s.ambiguous() {
		return ""
	}
	if text := strings.Join(terms, " and "); text != "" && len(text) <= maxSelected {
		return " with " + text
	}
	return ""
}

// ambiguous reports whether the selectors read fields of the same name in different domains.
func (s *shortage) ambiguous() bool {
	known := map[string]selector.Field{}
	for i := range s.selectors {
		for _, field := range s.q.Cluster.Selectors().Fields(s.selectors[i].CEL.Expression) {
			if other, ok := known[field.Name]; ok && other != field {
				return true
			}
			known[field.Name] = field
		}
	}
	return false
}

// most is the largest number of devices that can be had on a node. It is exact if a fix says so; otherwise no
// node has more.
func (s *shortage) most() int {
	most := 0
	for _, f := range s.funnels {
		most = max(most, f.Steps[len(f.Steps)-1].Most)
	}
	if s.blames(explain.CountRequired) {
		for i := range s.e.Fixes {
			if n, ok := s.count(&s.e.Fixes[i]); ok {
				return min(most, n)
			}
		}
	}
	return most
}

// left is the largest number of devices that are left on a node, whether or not they can be had together.
func (s *shortage) left() int {
	left := 0
	for _, f := range s.funnels {
		last := f.Steps[len(f.Steps)-1]
		if last.Name == "together" {
			last = f.Steps[len(f.Steps)-2]
		}
		left = max(left, last.Most)
	}
	return left
}

// sum is the number of devices that are left on all nodes together. It is 0 if several nodes reach the same
// ones.
func (s *shortage) sum() int {
	for _, slice := range s.q.Cluster.Snapshot().Slices() {
		if slice.Spec.NodeName == nil && len(slice.Spec.Devices) > 0 {
			return 0
		}
	}
	sum := 0
	for _, f := range s.funnels {
		sum += f.Steps[len(f.Steps)-1].Total
	}
	return sum
}

// count is the number of devices that a fix asks for, if to ask for that many is all that it changes.
func (s *shortage) count(f *explain.Fix) (int, bool) {
	if f.Kind != explain.ReduceCount || len(f.Also) > 0 || len(f.Patch) != 1 || !s.onlyRequest() {
		return 0, false // it may only make room for another request
	}
	at := slices.IndexFunc(s.claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return r.Name == s.request })
	if !strings.HasSuffix(f.Patch[0].Path, fmt.Sprintf("/requests/%d/exactly/count", at)) {
		return 0, false
	}
	n, ok := f.Patch[0].Value.(int64)
	return int(n), ok
}

// blames reports whether the conflict has a requirement of a kind about the request or its claim.
func (s *shortage) blames(kind explain.RequirementKind) bool { return s.requirement(kind) != nil }

// requirement is the first requirement of a kind in the conflict, or nil. Requirements of other requests do
// not count.
func (s *shortage) requirement(kind explain.RequirementKind) *explain.Requirement {
	if s.e.Conflict == nil {
		return nil
	}
	for i := range s.e.Conflict.Requirements {
		r := &s.e.Conflict.Requirements[i]
		if r.Kind == kind && (r.Request == "" || r.Request == s.request) {
			return r
		}
	}
	return nil
}

// constraint is the constraint on the devices of the request, if the claim has no other.
func (s *shortage) constraint() string {
	constraints := s.claim.Spec.Devices.Constraints
	if len(constraints) != 1 || len(constraints[0].Requests) > 0 && !slices.Equal(constraints[0].Requests, []string{s.request}) {
		return ""
	}
	switch c := &constraints[0]; {
	case c.MatchAttribute != nil:
		return " with the same " + withoutDomain(*c.MatchAttribute)
	case c.DistinctAttribute != nil:
		return " that differ in " + withoutDomain(*c.DistinctAttribute)
	}
	return ""
}

// withoutDomain is the name of an attribute or a capacity without its domain.
func withoutDomain[Name ~string](name Name) string {
	return string(name)[strings.LastIndexByte(string(name), '/')+1:]
}

// onlyRequest reports whether nothing else is asked for.
func (s *shortage) onlyRequest() bool {
	return len(s.q.Claims) == 1 && len(s.claim.Spec.Devices.Requests) == 1
}

// free says what is true of the devices that can be had, where others cannot. What is tainted, or blocked by
// partitions in use, is not free either, as in package inspect.
func (s *shortage) free() string {
	steps := map[string]bool{}
	for _, o := range s.obstacles() {
		steps[o.step] = true
	}
	switch {
	case steps["features"] || steps["capacity"] || steps["constraints"]:
		return " that can be had"
	case len(steps) > 0 && s.fitting() != "":
		return " that fit and are free"
	case len(steps) > 0:
		return " free"
	}
	return s.fitting()
}

// lost reports whether a step of a funnel loses devices on any node.
func (s *shortage) lost(step string) bool { return len(s.losses(step)) > 0 }

// fitting follows words for devices of the class if not all of them will do, and the sentence has not said
// which.
func (s *shortage) fitting() string {
	if s.lost("selectors") && s.selected() == "" {
		return " that fit"
	}
	return ""
}

// noneHasMore says that no node has more than something.
func (s *shortage) noneHasMore(than string) string {
	return s.nodes("there are no more than ", " has no more than ", "no node that the pod may use has more than ", "no node has more than ") + than
}

// nodes says something of the only node, which may not be known, of those that could be used, or of all.
func (s *shortage) nodes(unknown, only, usable, all string) string {
	switch {
	case len(s.q.Nodes) == 1 && s.q.Nodes[0].Name == string(inspect.PseudoNode):
		return unknown
	case len(s.q.Nodes) == 1:
		return "node " + s.q.Nodes[0].Name + only
	case s.excluded:
		return usable
	}
	return all
}

// where restricts what is said of all devices to the nodes that could be used. It is "" if those are all.
func (s *shortage) where() string {
	switch {
	case len(s.q.Nodes) == 1 && s.q.Nodes[0].Name != string(inspect.PseudoNode) && len(s.q.Cluster.Snapshot().Nodes()) > 1:
		return " on node " + s.q.Nodes[0].Name
	case s.excluded:
		return " on nodes that the pod may use"
	}
	return ""
}

// aNode stands for any of the nodes that could be used.
func (s *shortage) aNode() string {
	switch {
	case len(s.q.Nodes) == 1 && s.q.Nodes[0].Name != string(inspect.PseudoNode):
		return "node " + s.q.Nodes[0].Name
	case s.excluded:
		return "a node that the pod may use"
	}
	return "any node"
}

// everyNode names all nodes that could be used.
func (s *shortage) everyNode() string {
	return s.nodes("any node", "", "every node that the pod may use", "every node")
}
