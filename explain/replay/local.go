package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// lookAtNodes asks every member about the cluster as it is, where what others take changes their own nodes
// alone. Who has more nodes than there are others before it is placed in every run, and who has none in none.
// It reports whether that says all. Otherwise it notes which nodes matter, and which of them look alike.
func (x *explorer) lookAtNodes(ctx context.Context) (all bool, err error) {
	known := map[string]*Turn{}
	var turns []*Turn
	before := 0
	all = true
	for e := range x.Entities {
		entity := &x.Entities[e]
		sure := 0
		for i, m := range entity.Members {
			t := known[m.Shape]
			if t == nil || m.Shape == "" {
				x.Asks++
				if t, err = m.Ask(ctx, x.Base, nil); err != nil {
					return false, err
				}
				known[m.Shape], turns = t, append(turns, t)
			}
			f := &x.Outcomes[e][i]
			switch rivals := before + rivalsOf(entity, i); {
			case t.MayWait || t.Open || t.Fails:
			case len(t.Options) > rivals:
				f.Placed, f.Proven = Run{}, true
				sure++
			case len(t.Options) == 0:
				f.Waits, f.Proven = Run{}, true
			}
		}
		all = x.prove(e, sure) && all
		before += len(entity.Members)
	}
	if !all || x.first {
		err = x.sortNodes(ctx, turns)
	}
	return all, err
}

// rivalsOf is the number of members of an entity that may be placed before another of them.
func rivalsOf(e *Entity, index int) int {
	n := 0
	for i, m := range e.Members {
		if i != index && m.Class <= e.Members[index].Class {
			n++
		}
	}
	return n
}

// prove concludes from the members of an entity of which it is sure what becomes of them whether enough are
// placed. It reports whether that says all of the entity.
func (x *explorer) prove(at, sure int) bool {
	var misses Run
	for i := range x.Outcomes[at] {
		if f := &x.Outcomes[at][i]; f.Proven && f.Placed == nil {
			misses = append(misses, Step{Subject: x.Entities[at].Members[i].Subject})
		}
	}
	never := len(misses)
	need, all := x.Entities[at].Need, len(x.Outcomes[at])
	g := &x.Groups[at]
	switch {
	case sure >= need:
		g.Placed, g.Proven = Run{}, true
		return sure+never == all
	case all-never < need:
		g.Waits, g.Proven = misses, true
		for i := range x.Outcomes[at] {
			x.Outcomes[at][i] = Outcome{Waits: misses, Proven: true}
		}
		return true
	}
	for i := range x.Outcomes[at] {
		if f := &x.Outcomes[at][i]; f.Placed != nil {
			*f = Outcome{} // it has room, and may wait for others all the same
		}
	}
	return false
}

// sortNodes notes on which nodes any member can be placed, and which of these look alike.
func (x *explorer) sortNodes(ctx context.Context, turns []*Turn) error {
	fits := map[inspect.NodeName]string{}
	for i, t := range turns {
		for _, o := range t.Options {
			fits[o.Node] += fmt.Sprintf(" %d", i)
		}
	}
	x.nodes = []*corev1.Node{}
	for _, node := range x.Base.Snapshot().Nodes() {
		if fits[inspect.NodeName(node.Name)] != "" {
			x.nodes = append(x.nodes, node)
		}
	}
	claims, ok := x.claims()
	if !ok {
		return nil
	}
	groups, err := x.Base.Alike(ctx, x.nodes, claims)
	if err != nil {
		return err
	}
	x.kinds = map[inspect.NodeName]string{}
	index := x.Base.Filters()
	for g, nodes := range groups {
		for _, n := range nodes {
			name := inspect.NodeName(x.nodes[n].Name)
			x.kinds[name] = fmt.Sprintf("%d%s %s", g, fits[name], index.Room(name))
		}
	}
	return nil
}

// claims are those that members ask for, one of each kind. The result is false if they differ from node to
// node.
func (x *explorer) claims() ([]*resourcev1.ResourceClaim, bool) {
	var out []*resourcev1.ResourceClaim
	for _, m := range MembersOf(x.Entities) {
		if m.PerNode {
			return nil, false
		}
		for _, claim := range m.Claims {
			same := func(o *resourcev1.ResourceClaim) bool { return equality.Semantic.DeepEqual(o.Spec, claim.Spec) }
			if !slices.ContainsFunc(out, same) {
				out = append(out, claim)
			}
		}
	}
	return out, true
}

// nodeKey is the same for nodes of one kind on which the same members were placed.
func (x *explorer) nodeKey(s *state, node inspect.NodeName) string {
	out, ok := x.kinds[node]
	if !ok {
		out = "node " + string(node)
	}
	for _, p := range s.steps {
		if p.node == node {
			out += "; " + p.member.key()
		}
	}
	return out
}

// key identifies what looks like a member.
func (m *Member) key() string {
	if m.Shape == "" {
		return m.Subject.Kind + " " + m.Subject.FullName()
	}
	return m.Shape
}

// seen reports whether a state that is like this one was explored, with the same still to come, and notes
// that it is.
func (x *explorer) seen(at int, s *state, had []bool, placed []int) bool {
	members := make([]string, len(had))
	for i, m := range x.Entities[at].Members {
		members[i] = fmt.Sprintf("%t %t %d %s", had[i], slices.Contains(placed, i), m.Class, m.key())
	}
	slices.Sort(members)
	key := fmt.Sprintf("%d\n%s\n%s", at, strings.Join(members, "\n"), x.stateKey(s))
	if x.visited[key] {
		return true
	}
	x.visited[key] = true
	return false
}

// stateKey is the same for states that are alike.
func (x *explorer) stateKey(s *state) string {
	var parts []string
	if !x.Local {
		for _, p := range s.steps {
			parts = append(parts, p.member.key()+" on "+string(p.node))
		}
		return strings.Join(parts, "\n")
	}
	var nodes []inspect.NodeName
	for _, p := range s.steps {
		if !slices.Contains(nodes, p.node) {
			nodes = append(nodes, p.node)
			parts = append(parts, x.nodeKey(s, p.node))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}
