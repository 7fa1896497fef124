package replay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Result is what becomes of the members of a queue in all runs.
type Result struct {
	// Outcomes are by entity and member, as in the queue.
	Outcomes [][]Outcome
	// Groups say for each entity whether enough of its members found room.
	Groups []Outcome
	// Open says that there may be runs that were not looked at. What was not seen may then happen all the
	// same.
	Open bool
	// Asks is the number of times that a member was asked about nodes.
	Asks int

	at map[explain.Subject][2]int
}

// Outcome is what is seen of a member: that it is placed in some runs, and left waiting in others.
type Outcome struct {
	// Placed and Waits are the steps until then of a run, the first that was found, or nil if none was.
	Placed, Waits Run
	// Proven says that nothing else becomes of it in runs that were not looked at.
	Proven bool
	// Scored says that it is known which nodes kube-scheduler may choose, and only runs with these were
	// looked at.
	Scored bool
}

// Run is the steps of a run. An empty one is not nil.
type Run []Step

// Step is what a run made of a member.
type Step struct {
	Subject explain.Subject
	// Node is "" if the member was left waiting, and for a claim whose devices are tied to no node.
	Node   inspect.NodeName
	Placed bool
}

// Placed are those that a run places, in its order.
func (run Run) Placed() []explain.Subject {
	var out []explain.Subject
	for _, step := range run {
		if step.Placed {
			out = append(out, step.Subject)
		}
	}
	return out
}

// state is a cluster with members that were placed in it.
type state struct {
	cluster *scheduler.Cluster
	steps   []placing
}

// placing is a member on a node.
type placing struct {
	member *Member
	node   inspect.NodeName
}

// explorer looks at runs.
type explorer struct {
	Queue
	Result
	nodes   []*corev1.Node              // that any member can be placed on; nil for all
	kinds   map[inspect.NodeName]string // of nodes that look alike to all members; a node that is not in it is like no other
	visited map[string]bool
	path    Run
	asks    int // the most that there may be
	// first says to stop at the first run that places enough of the first entity, and done that one was
	// found.
	first, done bool
}

// Explore looks at all runs that differ, up to the limit of the queue.
func Explore(ctx context.Context, queue Queue) (*Result, error) {
	return (&explorer{Queue: queue}).explore(ctx)
}

func (x *explorer) explore(ctx context.Context) (*Result, error) {
	queue := x.Queue
	x.visited, x.path, x.asks = map[string]bool{}, Run{}, queue.MaxAsks
	for i := range queue.Entities {
		x.Outcomes = append(x.Outcomes, make([]Outcome, len(queue.Entities[i].Members)))
	}
	x.Groups, x.at = make([]Outcome, len(queue.Entities)), Index(queue.Entities)
	if queue.Local {
		all, err := x.lookAtNodes(ctx)
		if err != nil || all && (!x.first || x.Groups[0].Placed == nil) {
			return &x.Result, err
		}
		if x.first { // a run is wanted that shows how
			x.Groups[0] = Outcome{}
			clear(x.Outcomes[0])
		}
	}
	if x.asks == 0 { // a limit that takes about a second, and is enough for one run
		nodes := len(x.nodes)
		if x.nodes == nil {
			nodes = len(x.Base.Snapshot().Nodes())
		}
		x.asks = x.Asks + len(MembersOf(x.Entities)) + max(60, min(1000, 100_000/max(1, nodes)))
	}
	err := x.entity(ctx, 0, &state{cluster: queue.Base})
	return &x.Result, err
}

// entity explores what becomes of an entity and of those after it.
func (x *explorer) entity(ctx context.Context, at int, s *state) error {
	if at == len(x.Entities) {
		return nil
	}
	return x.members(ctx, at, s, s, make([]bool, len(x.Entities[at].Members)), nil)
}

// members explores what becomes of the members of an entity that have not had their turn, and of the entities
// after it. start is the state before the entity, had says of each member whether it had its turn, and placed
// are those that found room.
func (x *explorer) members(ctx context.Context, at int, start, s *state, had []bool, placed []int) error {
	entity := &x.Entities[at]
	left := 0
	for _, h := range had {
		if !h {
			left++
		}
	}
	switch {
	case left == 0 || len(placed)+left < entity.Need:
		return x.finish(ctx, at, start, s, placed)
	case x.seen(at, s, had, placed):
		return nil
	}
	for _, next := range x.next(entity, had) {
		if err := x.turn(ctx, at, next, start, s, had, placed); err != nil {
			return err
		}
		if x.Open || x.done {
			return nil
		}
	}
	return nil
}

// finish notes what has become of the members of an entity, and goes on to the next.
func (x *explorer) finish(ctx context.Context, at int, start, s *state, placed []int) error {
	met := len(placed) >= x.Entities[at].Need
	if !met {
		s = start
	}
	x.Groups[at].note(met, x.path)
	for i := range x.Outcomes[at] {
		x.Outcomes[at][i].note(met && slices.Contains(placed, i), x.path)
	}
	if x.first {
		x.done = met
		return nil
	}
	noteTwins(x.Entities[at].Members, x.Outcomes[at])
	before := len(x.path)
	err := x.entity(ctx, at+1, s)
	x.path = x.path[:before]
	return err
}

// noteTwins notes of members that could change places what was seen of one of them.
func noteTwins(members []*Member, outcomes []Outcome) {
	for i, m := range members {
		for j, other := range members {
			if i == j || m.Class != other.Class || m.Shape == "" || m.Shape != other.Shape {
				continue
			}
			from, to := &outcomes[i], &outcomes[j]
			if to.Placed == nil {
				to.Placed = from.Placed
			}
			if to.Waits == nil {
				to.Waits = from.Waits
			}
		}
	}
}

// note adds what was seen to an outcome, in a run.
func (f *Outcome) note(placed bool, in Run) {
	to := &f.Waits
	if placed {
		to = &f.Placed
	}
	if *to == nil {
		*to = append(Run{}, in...)
	}
}

// next returns the members that may be next, one of each shape.
func (x *explorer) next(e *Entity, had []bool) []int {
	var out []int
	for i, m := range e.Members {
		if had[i] {
			continue
		}
		if len(out) > 0 && m.Class != e.Members[out[0]].Class {
			break
		}
		if m.Shape == "" || !slices.ContainsFunc(out, func(o int) bool { return e.Members[o].Shape == m.Shape }) {
			out = append(out, i)
		}
	}
	return out
}

// turn explores what becomes of a member at its turn, and then of the others.
func (x *explorer) turn(ctx context.Context, at, index int, start, s *state, had []bool, placed []int) error {
	m := x.Entities[at].Members[index]
	had = slices.Clone(had)
	had[index] = true
	t, err := x.ask(ctx, s, m)
	if err != nil || t == nil {
		return err
	}
	before := len(x.path)
	if t.Fails && len(x.Entities[at].Members) > 1 && m.Pod != nil && inspect.PodGroupOf(m.Pod) != "" {
		return x.finish(ctx, at, start, start, nil)
	}
	for _, option := range x.different(at, s, m, had, t.Options) {
		took, err := option.Reserve(ctx)
		if err != nil {
			return err
		}
		then := &state{cluster: With(s.cluster, took), steps: append(slices.Clip(s.steps), placing{m, option.Node})}
		x.path = append(x.path[:before], Step{Subject: m.Subject, Node: option.Node, Placed: true})
		if err := x.members(ctx, at, start, then, had, append(slices.Clip(placed), index)); err != nil || x.Open || x.done {
			return err
		}
	}
	if len(t.Options) == 0 || t.MayWait {
		x.path = append(x.path[:before], Step{Subject: m.Subject})
		err = x.members(ctx, at, start, s, had, placed)
	}
	x.path = x.path[:before]
	return err
}

// ask asks a member. The turn is nil if there were too many questions, or if the answer is not known.
func (x *explorer) ask(ctx context.Context, s *state, m *Member) (*Turn, error) {
	if x.Asks++; x.Asks > x.asks {
		x.Open = true
		return nil, nil
	}
	t, err := m.Ask(ctx, s.cluster, x.nodes)
	if err != nil {
		return nil, err
	}
	if t.Open {
		x.Open = true
	}
	if m.Unseen && slices.ContainsFunc(s.steps, func(p placing) bool { return p.member.Unseen }) {
		t.MayWait = true
	}
	return t, nil
}

// different returns the options of a member that lead to states that are not alike. had marks the members
// already tried, including m.
func (x *explorer) different(at int, s *state, m *Member, had []bool, options []Option) []Option {
	if len(options) > 1 && x.Local && x.restIsLike(m, at, had) {
		return options[:1] // the nodes are filled to the same number, in whatever order
	}
	var out []Option
	known := map[string]bool{}
	for _, o := range options {
		key := x.nodeKey(s, o.Node)
		if !known[key] {
			known[key] = true
			out = append(out, o)
		}
	}
	return out
}

// restIsLike reports whether all who have not had their turn have the shape of a member.
func (x *explorer) restIsLike(m *Member, at int, had []bool) bool {
	for e := at; e < len(x.Entities); e++ {
		for i, other := range x.Entities[e].Members {
			if (e > at || !had[i]) && (m.Shape == "" || other.Shape != m.Shape) {
				return false
			}
		}
	}
	return true
}
