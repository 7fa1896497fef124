package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/conflict"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxFound is the number of fixes that are verified and returned.
const maxFound = 8

// proposers propose changes, one kind each. Later ones depend on what was found before. A new kind of
// proposal is a method of search and a line in this table.
var proposers = []func(*search, context.Context){
	(*search).relaxEach,
	(*search).deleteRules,
	(*search).otherNames,
	(*search).lessOfImplied,
	(*search).release,
	(*search).endPods,
	(*search).changeVolumes,
	(*search).otherClasses,
	(*search).otherNodes,
	(*search).moreNodes,
	(*search).moreDevices,
	(*search).combineChanges,
}

// search looks for changes that help.
type search struct {
	Q *whatif.Question
	// conflict is nil if none was found.
	conflict *conflict.Conflict
	lists    *requirement.Lists
	// ruled are the taints by DeviceTaintRules that nobody can tolerate, since they are in the way of the
	// claim for extended resources.
	ruled []ruledTaint
	// requirements are those of the nodes that come nearest, each once, that somebody can give up.
	requirements []requirement.Listed
	// changes are the proposals, which are not verified yet.
	changes []requirement.Change
	// preemption is whether the scheduler would end pods itself, or nil.
	preemption *explain.Preemption
	// releases says that some verified fix releases claims, and addsNode that one adds a node.
	releases, addsNode bool
}

// newSearch prepares a search on ranked nodes. The node of the conflict becomes the first of them, since what
// helps there is of most interest.
func newSearch(ctx context.Context, q *whatif.Question, lists *requirement.Lists, ranked []whatif.RankedNode, c *conflict.Conflict) *search {
	if c != nil {
		at := slices.IndexFunc(ranked, func(n whatif.RankedNode) bool { return n.Name == c.Node })
		ranked = append([]whatif.RankedNode{ranked[at]}, slices.Delete(slices.Clone(ranked), at, at+1)...)
	}
	q.LookNear(ranked)
	s := &search{Q: q, conflict: c, lists: lists}
	seen := map[string]bool{}
	for _, b := range s.Q.NearSandboxes() {
		for _, r := range lists.On(ctx, b) {
			if key := r.Key(); !seen[key] {
				seen[key] = true
				if q.Feasible(r.Relaxing()) {
					s.requirements = append(s.requirements, r)
				} else if rules := r.Describe().TaintRules; len(rules) > 0 {
					s.ruled = append(s.ruled, ruledTaint{rules, inspect.NodeName(b.Node.Name)})
				}
			}
		}
	}
	return s
}

// run lets all proposers propose changes, and returns those that help.
func (s *search) run(ctx context.Context) []explain.Fix {
	for _, propose := range proposers {
		propose(s, ctx)
	}
	if s.fewestInReach() > 0 {
		// A class belongs to everybody. It is not to be changed when something else helps.
		s.changes = slices.DeleteFunc(s.changes, func(c requirement.Change) bool { return c.Cost == requirement.CostClassTerm })
	}
	return s.verify(ctx)
}

// runForReason is run for changes that only ask for less of a request.
func (s *search) runForReason(ctx context.Context) []explain.Fix {
	s.relaxEach(ctx)
	s.changes = slices.DeleteFunc(s.changes, func(c requirement.Change) bool {
		return c.Kind != explain.ReduceCount && c.Kind != explain.ReduceCapacity || len(c.Also) > 0
	})
	return s.verify(ctx)
}

// fewestInReach is the number of edits of the smallest change that was found in the reach of the user, or 0.
func (s *search) fewestInReach() int {
	fewest := 0
	for i := range s.changes {
		if c := &s.changes[i]; inReach(c) && (fewest == 0 || size(c) < fewest) {
			fewest = size(c)
		}
	}
	return fewest
}

// inReach reports whether the user can make a change.
func inReach(c *requirement.Change) bool {
	cost := c.Cost
	if cost >= requirement.CostSeveral {
		cost -= requirement.CostSeveral
	}
	return cost < requirement.CostFeature
}

// size is the number of edits of a change, which is one at least.
func size(c *requirement.Change) int { return max(1, len(c.Edits)) }

// adds reports whether a change adds devices, or a node with devices.
func adds(c *requirement.Change) bool {
	return c.Like != "" || slices.ContainsFunc(c.Edits, func(e whatif.Edit) bool { _, ok := e.(whatif.AddDevicesEdit); return ok })
}

// compareChanges orders changes by their cost. Where the conflict does not show what helps, because no
// requirement of it needs to be all that is in the way, the smallest sets of changes come first, and only
// then that devices are added, which always helps.
func (s *search) compareChanges(a, b requirement.Change) int {
	if s.conflict == nil || s.conflict.Sole {
		return cmp.Compare(a.Cost, b.Cost)
	}
	return cmp.Or(cmp.Compare(words.Btoi(adds(&a)), words.Btoi(adds(&b))), cmp.Compare(size(&a), size(&b)), cmp.Compare(a.Cost, b.Cost))
}

// relaxEach gives up each requirement by itself and, if that helps, proposes to give up as little of it as
// helps.
func (s *search) relaxEach(ctx context.Context) {
	for i := range s.requirements {
		r := &s.requirements[i]
		if r.OfOthers {
			continue
		}
		node := s.Q.FirstFit(ctx, []whatif.Edit{r.Relaxing()})
		var found []requirement.Change
		if prober, ok := r.Relaxable.(requirement.Prober); ok && node == "" {
			found = prober.Probe(ctx, s.Q)
		} else if node != "" {
			found = r.Propose(ctx, s.Q, node)
		}
		s.changes = append(s.changes, found...)
	}
}

// verify makes each change to the whole snapshot, the cheapest first, and keeps what helps.
func (s *search) verify(ctx context.Context) []explain.Fix {
	slices.SortStableFunc(s.changes, s.compareChanges)
	var out []explain.Fix
	for i := range s.changes {
		if len(out) == maxFound {
			break
		}
		f := s.confirm(ctx, &s.changes[i])
		if f == nil {
			continue
		}
		f.OtherBlockers = s.otherBlockers(ctx, &s.changes[i])
		out = append(out, *f)
		s.releases, s.addsNode = s.releases || len(f.Claims) > 0, s.addsNode || f.Like != ""
	}
	sortByActor(out, s.Q.Subject)
	return out
}

// sortByActor puts those fixes first that are sure to leave the scheduler time, and of these those that the
// user can make. The order of others is kept.
func sortByActor(fixes []explain.Fix, of explain.Subject) {
	slices.SortStableFunc(fixes, func(a, b explain.Fix) int { // "" comes first
		return cmp.Or(cmp.Compare(a.Timeout, b.Timeout), a.Actor(of).Compare(b.Actor(of)), len(a.Actors(of))-len(b.Actors(of)))
	})
}

// confirm asks the nodes again with the change made (see [whatif.Question.FittingWith] for which nodes).
// It returns nil when the change does not help.
func (s *search) confirm(ctx context.Context, c *requirement.Change) *explain.Fix {
	if !s.writable(ctx, c) || s.endsOwnClaim(c) {
		return nil
	}
	find := c.Fitting
	if find == nil {
		find = func(ctx context.Context) whatif.NodeSet { return s.Q.FittingWith(ctx, c.Edits, c.Node) }
	}
	fitting := find(ctx)
	n := fitting.Len()
	if n == 0 {
		return nil
	}
	node := fitting.First()
	if fitting.Contains(c.Node) {
		node = c.Node
	}
	f := s.describe(ctx, c, node, n)
	where := ""
	if n > 1 {
		where = "on " + string(node) + " "
	}
	f.Message += s.tradeoff(ctx, c, node, where)
	if fitting.Risk == explain.MayTimeOut {
		f.Timeout = explain.MayTimeOut
		f.Message += "; the scheduler's own search may take longer than its timeout then"
	}
	return f
}

// describe makes a fix of a change that helps on a number of nodes, one of which is given.
func (s *search) describe(ctx context.Context, c *requirement.Change, node inspect.NodeName, nodes int) *explain.Fix {
	f := &explain.Fix{
		Kind: c.Kind, Also: c.Also, Key: c.Key, Node: node, Nodes: nodes, NamesNode: c.NamesNode && node == c.Node,
		Patch: whatif.PatchOf(ctx, s.Q, c.Edits), Changes: whatif.ChangesOf(ctx, s.Q, c.Edits),
		Pods: c.Pods, Preempts: c.Preempts, Message: words.OneLine(changedObjects(s.Q, c.Edits) + c.Message),
	}
	if f.Like = c.Like; f.Like != "" {
		f.Node = "" // what it will be called is not known
	}
	for _, e := range c.Edits {
		f.Edits = append(f.Edits, e)
		if p, ok := e.(whatif.PoolEdit); ok {
			f.Pool = p.Pool
		}
	}
	for _, ref := range c.Claims {
		h := explain.NewHolder(s.Q.Cluster.Snapshot(), ref)
		if b := s.Q.SandboxOf(f.Node); b != nil {
			h.Devices = b.Devices[ref] // only those that reach the node
		}
		f.Claims = append(f.Claims, h)
	}
	if f.TaintRules = c.TaintRules; len(f.TaintRules) > 0 {
		return f // which the message names
	}
	if f.TaintRules = s.taintRules(c.Edits, node); len(f.TaintRules) > 0 {
		f.Message += fmt.Sprintf(" (%sset by DeviceTaintRule %s)", map[bool]string{true: "the taint is "}[len(c.Edits) > 1], words.Shorten(ruleNames(f.TaintRules), 3))
	}
	return f
}

// taintRules returns the DeviceTaintRules whose taints edits tolerate on a node, sorted by name.
func (s *search) taintRules(edits []whatif.Edit, node inspect.NodeName) []explain.TaintRule {
	all := s.Q.Cluster.Snapshot()
	b := s.Q.SandboxOf(node)
	if b == nil || len(all.Objects().TaintRules) == 0 {
		return nil
	}
	var out []explain.TaintRule
	for _, e := range edits {
		toleration, ok := e.(whatif.TolerationEdit)
		if !ok {
			continue
		}
		for _, slice := range b.Snapshot.Slices() {
			for i := range slice.Spec.Devices {
				for _, taint := range slice.Spec.Devices[i].Taints {
					if allocator.Tolerated(&taint, []resourcev1.DeviceToleration{toleration.Toleration}) {
						out = append(out, explain.TaintRules(all, &taint, inspect.DeviceIDOf(slice, i))...)
					}
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b explain.TaintRule) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out)
}

func ruleNames(rules []explain.TaintRule) []string {
	return words.Each(rules, func(r explain.TaintRule) string { return r.Name })
}

// changedObjects names, at the beginning of a message, what edits change if the subject is a pod. It is ""
// otherwise, since edits of the claims are then edits of the subject.
func changedObjects(q *whatif.Question, edits []whatif.Edit) string {
	if q.Subject.Kind != "Pod" {
		return ""
	}
	var names []string
	for _, e := range edits {
		s, ok := e.(whatif.SpecEdit)
		if !ok {
			continue
		}
		at := s.Target().Claim
		name := "in claim " + q.Claims[at].Name
		if q.Generated(at) {
			name = "in the containers of the pod"
		} else if template := q.TemplateOf(at); template != "" {
			name = "in the template " + template
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, " and ") + ": "
}
