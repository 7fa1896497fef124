package conflict

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The conflict of a node that refuses.
//
// What decides about a node is taken apart into requirements (requirements.go): the counts, the terms of
// the selectors, the constraints and so on of the claims, and what is true of the world, such as that a
// claim holds a device. Each can be relaxed: the claim without the term, the world without the claim.
// Every question is put to the allocator; nothing is concluded from the form of a requirement.
//
// Let A be all requirements. A conflict is a set K of them, and R = A \ K the rest, such that
//
//	with K in force and R relaxed, the node still refuses (proved), and
//	for each k of K, with K \ {k} in force and R + {k} relaxed, it can be allocated.
//
// So K is what cannot hold together, whatever else is given up, and no part of it is superfluous. Several
// such sets may exist. Example: five GPUs with the same numa; the node has 4 on each of two, and job-x
// holds two GPUs on numa 1.
//
//	A = {count 5, same numa, job-x}     refused
//	job-x relaxed:  {count 5, same numa} refused, so job-x has no part in it
//	same numa too:  {count 5}            fits, so "same numa" belongs to K
//	count too:      {same numa}          fits, so the count belongs to K
//	K = {count 5, same numa}
//
// That K is a conflict does not mean that dropping one of its requirements helps as things are: there may
// be another conflict beside it. But a requirement that helps when it alone is dropped is in every
// conflict. (If K did not have it, K would be in force unchanged after it is dropped, and still refuse.)
// Hence, when each requirement of some conflict helps alone, that conflict is the only one; it is then
// found in any case, and marked Sole. Otherwise the requirements that help alone are marked, and the
// others say what else has to go. (This presumes that to relax more never makes matters worse; see below.)
//
// K is found by relaxing one requirement after the other, in chunks that are halved when they are too
// much. What is tried early ends up in R if it can; so what a user can do least about goes first. Of a few
// orders the smallest result is taken. Where the smaller sets are few, all are tried, so that it is a smallest
// one; with many requirements that could take exponential time, and it is nearly always the smallest.
//
// Two things make reality less tidy. Without some requirements the scheduler gives up with an error: a
// selector reads an attribute that devices outside the class lack. Such a requirement counts as given: it
// is in force throughout, and not in K. And relaxing may make things worse, where "all" devices are wanted
// and a dropped term makes that more. Therefore the second condition is checked for each k at the end.
// An unfinished search proves nothing: what it was about stays in K, and the conflict is Unproven.
//
// A request as such, and that it needs one device, counts as given too, unless relaxing everything else
// does not help. So does a term device.driver == "..." of a class: it says what is asked for.

// MaxCandidates is the number of nodes whose conflicts are compared.
const MaxCandidates = 8

// Conflict is a Conflict as the search for fixes needs it.
type Conflict struct {
	explain.Conflict
	Keys    []string // of the requirements
	efforts []int    // of the requirements
}

// On finds the conflict on a node. It is nil when there is none, or when the scheduler gives up.
func On(ctx context.Context, r *requirement.Lists, b *whatif.Sandbox) (*Conflict, error) {
	all, err := r.On(ctx, b)
	if err != nil || all == nil {
		return nil, err
	}
	m := &musSearch{q: r.Q, sandbox: b, requirements: all, memo: map[string]whatif.Outcome{}}
	best, err := m.smallest(ctx)
	if err != nil || best == nil {
		return nil, err
	}
	if len(best.kept) == 0 {
		if all, err = r.WithRequests(ctx, b); err != nil {
			return nil, err
		}
		m = &musSearch{q: r.Q, sandbox: b, requirements: all, memo: map[string]whatif.Outcome{}}
		if best, err = m.smallest(ctx); err != nil || best == nil || len(best.kept) == 0 {
			return nil, err
		}
	}
	return m.conflict(ctx, best)
}

// musSearch looks for minimal unsatisfiable sets among the requirements of a node.
type musSearch struct {
	q            *whatif.Question
	sandbox      *whatif.Sandbox
	requirements []requirement.Listed
	memo         map[string]whatif.Outcome // by the requirements that are relaxed
}

// core is what a search finds: each requirement is kept in the core, belongs to the background, or is relaxed.
type core struct {
	kept, background []int
	relaxed          []bool
	unproven         bool
}

// try asks the allocator with some requirements relaxed.
func (m *musSearch) try(ctx context.Context, relaxed []bool) (whatif.Outcome, error) {
	key := make([]byte, len(relaxed))
	for i, r := range relaxed {
		if r {
			key[i] = 1
		}
	}
	if o, ok := m.memo[string(key)]; ok {
		return o, nil
	}
	o, err := m.sandbox.Try(ctx, m.edits(relaxed))
	if err == nil {
		m.memo[string(key)] = o
	}
	return o, err
}

// edits give up the requirements that are relaxed.
func (m *musSearch) edits(relaxed []bool) []whatif.Edit {
	var out []whatif.Edit
	for i, r := range relaxed {
		if r {
			out = append(out, m.requirements[i].Relaxing())
		}
	}
	return out
}

// with returns the relaxed set with more requirements relaxed.
func with(relaxed []bool, more ...int) []bool {
	out := slices.Clone(relaxed)
	for _, i := range more {
		out[i] = true
	}
	return out
}

// maxRetried is the size of a conflict up to which smaller ones are looked for.
const maxRetried = 8

// smallest minimizes in a few orders and returns the smallest conflict, the first of several. As long as
// that helps, it then tries to do without one of the requirements found, and last, where these are few, all
// sets that are smaller. nil: the node does not refuse after all.
func (m *musSearch) smallest(ctx context.Context) (*core, error) {
	none := make([]bool, len(m.requirements))
	if o, err := m.try(ctx, none); err != nil || o != whatif.Refused {
		return nil, err
	}
	var best *core
	for _, order := range m.orders() {
		d, err := m.minimize(ctx, order)
		if err != nil {
			return nil, err
		}
		if best == nil || len(d.kept) < len(best.kept) {
			best = d
		}
		if len(best.kept) <= 1 {
			return best, nil
		}
	}
	for smaller := best; smaller != nil && len(smaller.kept) <= maxRetried; {
		best = smaller
		var err error
		if smaller, err = m.smaller(ctx, best); err == nil && smaller == nil {
			smaller, err = m.exhaust(ctx, best)
		}
		if err != nil {
			return nil, err
		}
	}
	return best, nil
}

func (m *musSearch) minimize(ctx context.Context, order []int) (*core, error) {
	d := &core{relaxed: make([]bool, len(m.requirements))}
	if err := m.relax(ctx, d, order); err != nil {
		return nil, err
	}
	return d, m.check(ctx, d)
}

// smaller looks for a smaller conflict by relaxing one of the requirements of another first. nil: none found.
func (m *musSearch) smaller(ctx context.Context, than *core) (*core, error) {
	none := make([]bool, len(m.requirements))
	for _, k := range than.kept {
		if o, err := m.try(ctx, with(none, k)); err != nil {
			return nil, err
		} else if o == whatif.Fits {
			continue // it is in every conflict
		}
		for _, order := range m.orders() {
			order = slices.Insert(slices.DeleteFunc(order, func(i int) bool { return i == k }), 0, k)
			d, err := m.minimize(ctx, order)
			if err != nil {
				return nil, err
			}
			if len(d.kept) > 0 && len(d.kept) < len(than.kept) {
				return d, nil
			}
		}
	}
	return nil, nil
}

// maxSets is the number of sets up to which all are tried.
const maxSets = 400

// exhaust tries all sets of requirements that are smaller by one, those first that a user can do most about.
// What helps alone is in every conflict, so only the rest is varied. A still smaller conflict is part of such
// a set. nil: there is none, or there are too many sets to try.
func (m *musSearch) exhaust(ctx context.Context, than *core) (*core, error) {
	none := make([]bool, len(m.requirements))
	all := with(none)
	for i := range all {
		all[i] = !slices.Contains(than.background, i)
	}
	size := len(than.kept) - 1
	for _, k := range than.kept {
		o, err := m.try(ctx, with(none, k))
		if err != nil {
			return nil, err
		}
		if o == whatif.Fits {
			all[k] = false
			size--
		}
	}
	var rest []int
	for i, r := range all {
		if r {
			rest = append(rest, i)
		}
	}
	if size < 0 || new(big.Int).Binomial(int64(len(rest)), int64(size)).Cmp(big.NewInt(maxSets)) > 0 {
		return nil, nil
	}
	slices.SortStableFunc(rest, func(i, j int) int { return m.requirements[j].Rank - m.requirements[i].Rank })
	return m.refusedSet(ctx, all, rest, than.background, size, len(than.kept))
}

// refusedSet looks for a set of so many of the rest that refuses when all else but the given is relaxed, and
// leaves out what is superfluous in it.
func (m *musSearch) refusedSet(ctx context.Context, relaxed []bool, rest, background []int, size, than int) (*core, error) {
	if size > 0 {
		for i := range rest {
			chosen := with(relaxed)
			chosen[rest[i]] = false
			if d, err := m.refusedSet(ctx, chosen, rest[i+1:], background, size-1, than); err != nil || d != nil {
				return d, err
			}
		}
		return nil, nil
	}
	if o, err := m.try(ctx, relaxed); err != nil || o != whatif.Refused {
		return nil, err
	}
	d := &core{relaxed: relaxed, background: slices.Clone(background)}
	for i, r := range relaxed {
		if !r && !slices.Contains(background, i) {
			d.kept = append(d.kept, i)
		}
	}
	err := m.check(ctx, d)
	if err != nil || len(d.kept) == 0 || len(d.kept) >= than {
		return nil, err
	}
	return d, nil
}

// orders are those in which requirements are relaxed: what a user can do least about first; what others
// hold last; and what is asked for first, so that what is true of the world remains.
func (m *musSearch) orders() [][]int {
	order := func(key func(r *requirement.Listed) int) []int {
		out := make([]int, len(m.requirements))
		for i := range out {
			out[i] = i
		}
		slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(key(&m.requirements[i]), key(&m.requirements[j])) })
		return out
	}
	othersLast := func(r *requirement.Listed) int {
		if r.OfOthers {
			return len(requirement.Kinds)
		}
		return r.Rank
	}
	return [][]int{
		order(func(r *requirement.Listed) int { return r.Rank }),
		order(othersLast),
		order(func(r *requirement.Listed) int { return -r.Rank }),
	}
}

// relax relaxes as many of the requirements as possible without making the node fit.
func (m *musSearch) relax(ctx context.Context, d *core, order []int) error {
	if len(order) == 0 {
		return nil
	}
	o, err := m.try(ctx, with(d.relaxed, order...))
	if err != nil {
		return err
	}
	switch {
	case o == whatif.Refused:
		d.relaxed = with(d.relaxed, order...)
	case len(order) > 1:
		if err := m.relax(ctx, d, order[:len(order)/2]); err != nil {
			return err
		}
		return m.relax(ctx, d, order[len(order)/2:])
	case o == whatif.Aborted:
		d.background = append(d.background, order[0])
	default:
		d.kept = append(d.kept, order[0])
	}
	return nil
}

// check makes sure that each requirement that is kept is needed, and relaxes further where it is not.
func (m *musSearch) check(ctx context.Context, d *core) error {
	for changed := true; changed; {
		changed = false
		d.unproven = false
		for _, list := range []*[]int{&d.background, &d.kept} {
			for i := 0; i < len(*list); i++ {
				at := (*list)[i]
				o, err := m.try(ctx, with(d.relaxed, at))
				if err != nil {
					return err
				}
				switch {
				case o == whatif.Refused:
					d.relaxed = with(d.relaxed, at)
					*list = slices.Delete(*list, i, i+1)
					changed = true
					i--
				case o == whatif.Aborted && list == &d.kept:
					d.background = append(d.background, at)
					d.kept = slices.Delete(d.kept, i, i+1)
					i--
				case o == whatif.Fits && list == &d.background:
					d.kept = append(d.kept, at)
					d.background = slices.Delete(d.background, i, i+1)
					i--
				case o == whatif.Undecided:
					d.unproven = true
				}
			}
		}
	}
	slices.SortFunc(d.kept, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.requirements[a].Importance, m.requirements[b].Importance), cmp.Compare(a, b))
	})
	return nil
}

// conflict describes a core and tries which of its requirements help alone.
func (m *musSearch) conflict(ctx context.Context, d *core) (*Conflict, error) {
	c := &Conflict{Conflict: explain.Conflict{Node: inspect.NodeName(m.sandbox.Node.Name), Unproven: d.unproven, Sole: true}}
	none := make([]bool, len(m.requirements))
	for _, i := range d.kept {
		listed := &m.requirements[i]
		r := *listed.Describe()
		o, err := m.try(ctx, with(none, i))
		if err != nil {
			return nil, err
		}
		if l, ok := listed.Relaxable.(requirement.Clarifies); ok {
			if r.Actual, err = l.Clarify(ctx, m.sandbox, m.edits(d.relaxed)); err != nil {
				return nil, err
			}
		}
		r.Alone = o == whatif.Fits
		c.Sole = c.Sole && r.Alone
		c.Requirements = append(c.Requirements, r)
		c.Keys, c.efforts = append(c.Keys, listed.Key()), append(c.efforts, listed.Effort(m.q))
	}
	slices.Sort(d.background)
	for _, i := range d.background {
		c.Background = append(c.Background, *m.requirements[i].Describe())
	}
	return c, nil
}

// rank says how good a conflict is for the reader: the lowest first. A conflict from which a single step of
// the user leads out comes before others; then the node that comes nearer; then the one that leaves nothing
// else in the way, the one with the step that costs least, the smaller, and that with fewer devices held.
func (c *Conflict) rank(score int) []int {
	effort, held := requirement.OutOfReach, 0
	for i := range c.Requirements {
		if c.Requirements[i].Alone {
			effort = min(effort, c.efforts[i])
		}
		if h := c.Requirements[i].Holder; h != nil {
			held += len(h.Devices)
		}
	}
	return []int{words.Btoi(c.Unproven), words.Btoi(effort == requirement.OutOfReach), -score, words.Btoi(!c.Sole), effort, len(c.Requirements), held}
}

// OfNearest compares the conflicts of the nodes that come nearest.
func OfNearest(ctx context.Context, r *requirement.Lists, nodes []whatif.RankedNode) (*Conflict, error) {
	var best *Conflict
	var bestRank []int
	for _, n := range nodes[:min(len(nodes), MaxCandidates)] {
		b := r.Q.SandboxOf(n.Name)
		if b == nil {
			continue
		}
		c, err := On(ctx, r, b)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if rank := c.rank(n.Score); best == nil || slices.Compare(rank, bestRank) < 0 {
			best, bestRank = c, rank
		}
	}
	return best, nil
}
