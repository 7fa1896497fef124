package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Finding fixes.
//
// A fix is found in three steps. First each requirement of the nodes that come nearest is dropped by
// itself; if that does not help on any node, nothing less does. Then the change is made as small as it
// can be: the highest count, the value nearest to the one asked for, the claims whose release hurts
// least. Last the change is made to the whole snapshot and all nodes are asked again; only what helps
// then is a fix. When no single change helps, a set of changes is looked for on the node of the
// conflict: everything is dropped and put back one by one, the dearest first, as long as it still fits.

// maxFound is the number of fixes that are verified and returned.
const maxFound = 8

// proposers look for changes, each of a kind. What comes later may look at what was found before.
var proposers = []struct {
	name string
	find func(s *search, ctx context.Context) error
}{
	{"requirements", (*search).relaxEach},
	{"release", (*search).release},
	{"class", (*search).otherClasses},
	{"node", (*search).otherNodes},
	{"devices", (*search).moreDevices},
	{"combined", (*search).combine},
}

// search looks for changes that help.
type search struct {
	*clusterSandbox
	conflict     *conflict
	lists        *requirementLists
	requirements []listed // of all near nodes, each once, that somebody can give up
	changes      []change
	releases     bool // some fix releases claims
}

// newSearch looks at the node of the conflict first: what helps there is of most interest.
func (q *question) newSearch(ctx context.Context, lists *requirementLists, ranked []rankedNode, c *conflict) (*search, error) {
	if c != nil {
		at := slices.IndexFunc(ranked, func(n rankedNode) bool { return n.name == c.Node })
		ranked = append([]rankedNode{ranked[at]}, slices.Delete(slices.Clone(ranked), at, at+1)...)
	}
	s := &search{clusterSandbox: newClusterSandbox(q, ranked), conflict: c, lists: lists}
	seen := map[string]bool{}
	for _, b := range s.nearSandboxes() {
		all, err := lists.on(ctx, b)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			if key := r.key(); !seen[key] {
				seen[key] = true
				if q.feasible(r.relaxing()) {
					s.requirements = append(s.requirements, r)
				}
			}
		}
	}
	return s, nil
}

// run finds the fixes.
func (s *search) run(ctx context.Context) ([]Fix, error) {
	for _, p := range proposers {
		if err := p.find(s, ctx); err != nil {
			return nil, err
		}
	}
	if s.foundWithin() {
		// A class belongs to everybody. It is not to be changed when something else helps.
		s.changes = slices.DeleteFunc(s.changes, func(c change) bool { return c.cost == costClassTerm })
	}
	return s.verify(ctx)
}

// foundWithin reports whether a change was found that is within the reach of the user.
func (s *search) foundWithin() bool {
	return slices.ContainsFunc(s.changes, func(c change) bool { return c.cost < costFeature })
}

// relaxEach gives up each requirement by itself, and if that helps, less than that.
func (s *search) relaxEach(ctx context.Context) error {
	for i := range s.requirements {
		r := &s.requirements[i]
		if r.ofOthers {
			continue
		}
		node, err := s.firstFit(ctx, []edit{r.relaxing()})
		if err != nil {
			return err
		}
		if node == "" {
			continue
		}
		found, err := r.propose(ctx, s.clusterSandbox, node)
		if err != nil {
			return err
		}
		s.changes = append(s.changes, found...)
	}
	return nil
}

// verify makes each change to the whole snapshot, the cheapest first, and keeps what helps.
func (s *search) verify(ctx context.Context) ([]Fix, error) {
	slices.SortStableFunc(s.changes, func(a, b change) int { return cmp.Compare(a.cost, b.cost) })
	var out []Fix
	for i := range s.changes {
		if len(out) == maxFound {
			break
		}
		f, err := s.confirm(ctx, &s.changes[i])
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if f.Beside, err = s.otherBlockers(ctx, &s.changes[i]); err != nil {
			return nil, err
		}
		out = append(out, *f)
		s.releases = s.releases || len(f.Claims) > 0
	}
	return out, nil
}

// confirm asks all nodes with the change made. It returns nil when the change does not help.
func (s *search) confirm(ctx context.Context, c *change) (*Fix, error) {
	find := c.fitting
	if find == nil {
		find = func(ctx context.Context) (nodeSet, error) { return s.fittingWith(ctx, c.edits, c.node) }
	}
	fitting, err := find(ctx)
	n := fitting.len()
	if err != nil || n == 0 {
		return nil, err
	}
	node := fitting.first()
	if fitting.contains(c.node) {
		node = c.node
	}
	f := s.fix(ctx, c, node, n)
	where := ""
	if n > 1 {
		where = "on " + string(node) + " "
	}
	text, err := s.tradeoff(ctx, c, node, where)
	f.Message += text
	return f, err
}

// fix describes a change that helps on so many nodes, one of which is given.
func (s *search) fix(ctx context.Context, c *change, node inspect.NodeName, nodes int) *Fix {
	f := &Fix{
		Kind: c.kind, Also: c.also, Key: c.key, Node: node, Nodes: nodes, NamesNode: c.namesNode && node == c.node,
		Patch: patchOf(ctx, s.q, c.edits), Message: oneLine(s.q.where(c.edits) + c.message),
	}
	for _, ref := range c.claims {
		h := newHolder(s.q.cluster.Snapshot(), ref)
		if b := s.q.sandboxOf(f.Node); b != nil {
			h.Devices = b.devices[ref] // those that matter to the node
		}
		f.Claims = append(f.Claims, h)
	}
	return f
}

// where names the claim that is to be changed, for a pod: it is not the subject then.
func (q *question) where(edits []edit) string {
	if q.subject.Kind != "Pod" {
		return ""
	}
	var names []string
	for _, e := range edits {
		s, ok := e.(specEdit)
		if !ok {
			continue
		}
		at := s.target().claim
		name := "in claim " + q.claims[at].Name
		if q.generated(at) {
			name = "in the containers of the pod"
		} else if template := q.templateOf(at); template != "" {
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
