package explain

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
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

// maxCandidates is the number of nodes whose conflicts are compared.
const maxCandidates = 8

// conflictOn finds the conflict on the node. nil: there is none, or the scheduler gives up.
func (l *local) conflictOn(ctx context.Context) (*Conflict, error) {
	atoms, err := l.requirements(ctx)
	if err != nil || atoms == nil {
		return nil, err
	}
	exam, err := l.examination(ctx)
	if err != nil {
		return nil, err
	}
	m := &minimizer{local: l, exam: exam, atoms: atoms, memo: map[string]outcome{}}
	best, err := m.smallest(ctx)
	if err != nil || best == nil {
		return nil, err
	}
	if len(best.kept) == 0 {
		m.atoms = append(slices.Clip(m.atoms), l.wholeRequests(exam)...)
		m.memo = map[string]outcome{}
		if best, err = m.smallest(ctx); err != nil || best == nil || len(best.kept) == 0 {
			return nil, err
		}
	}
	return m.conflict(ctx, best)
}

// minimizer looks for conflicts among the requirements of a node.
type minimizer struct {
	local *local
	exam  *allocator.Examination
	atoms []atom
	memo  map[string]outcome // by the requirements that are relaxed
}

// division is where one run of the minimizer ends: every requirement is kept, relaxed or given.
type division struct {
	kept, given []int
	relaxed     []bool
	unproven    bool
}

// try asks the allocator with some requirements relaxed.
func (m *minimizer) try(ctx context.Context, relaxed []bool) (outcome, error) {
	key := make([]byte, len(relaxed))
	n := 0
	for i, r := range relaxed {
		if r {
			key[i] = 1
			n++
		}
	}
	if o, ok := m.memo[string(key)]; ok {
		return o, nil
	}
	edits := make([]edit, 0, n)
	for i, r := range relaxed {
		if r {
			edits = append(edits, m.atoms[i].edit)
		}
	}
	o, err := m.local.try(ctx, edits)
	if err == nil {
		m.memo[string(key)] = o
	}
	return o, err
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
func (m *minimizer) smallest(ctx context.Context) (*division, error) {
	none := make([]bool, len(m.atoms))
	if o, err := m.try(ctx, none); err != nil || o != refused {
		return nil, err
	}
	var best *division
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

func (m *minimizer) minimize(ctx context.Context, order []int) (*division, error) {
	d := &division{relaxed: make([]bool, len(m.atoms))}
	if err := m.relax(ctx, d, order); err != nil {
		return nil, err
	}
	return d, m.check(ctx, d)
}

// smaller looks for a smaller conflict by relaxing one of the requirements of another first. nil: none found.
func (m *minimizer) smaller(ctx context.Context, than *division) (*division, error) {
	none := make([]bool, len(m.atoms))
	for _, k := range than.kept {
		if o, err := m.try(ctx, with(none, k)); err != nil {
			return nil, err
		} else if o == fits {
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
func (m *minimizer) exhaust(ctx context.Context, than *division) (*division, error) {
	none := make([]bool, len(m.atoms))
	all := with(none)
	for i := range all {
		all[i] = !slices.Contains(than.given, i)
	}
	size := len(than.kept) - 1
	for _, k := range than.kept {
		o, err := m.try(ctx, with(none, k))
		if err != nil {
			return nil, err
		}
		if o == fits {
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
	slices.SortStableFunc(rest, func(i, j int) int { return m.atoms[j].Kind.rank() - m.atoms[i].Kind.rank() })
	return m.refusedSet(ctx, all, rest, than.given, size, len(than.kept))
}

// refusedSet looks for a set of so many of the rest that refuses when all else but the given is relaxed, and
// leaves out what is superfluous in it.
func (m *minimizer) refusedSet(ctx context.Context, relaxed []bool, rest, given []int, size, than int) (*division, error) {
	if size > 0 {
		for i := range rest {
			chosen := with(relaxed)
			chosen[rest[i]] = false
			if d, err := m.refusedSet(ctx, chosen, rest[i+1:], given, size-1, than); err != nil || d != nil {
				return d, err
			}
		}
		return nil, nil
	}
	if o, err := m.try(ctx, relaxed); err != nil || o != refused {
		return nil, err
	}
	d := &division{relaxed: relaxed, given: slices.Clone(given)}
	for i, r := range relaxed {
		if !r && !slices.Contains(given, i) {
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
func (m *minimizer) orders() [][]int {
	order := func(key func(a *atom) int) []int {
		out := make([]int, len(m.atoms))
		for i := range out {
			out[i] = i
		}
		slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(key(&m.atoms[i]), key(&m.atoms[j])) })
		return out
	}
	held := func(a *atom) int {
		if a.Kind == HeldRequired {
			return len(kindOrder)
		}
		return a.Kind.rank()
	}
	return [][]int{
		order(func(a *atom) int { return a.Kind.rank() }),
		order(held),
		order(func(a *atom) int { return -a.Kind.rank() }),
	}
}

// relax relaxes as many of the requirements as possible without making the node fit.
func (m *minimizer) relax(ctx context.Context, d *division, order []int) error {
	if len(order) == 0 {
		return nil
	}
	o, err := m.try(ctx, with(d.relaxed, order...))
	if err != nil {
		return err
	}
	switch {
	case o == refused:
		d.relaxed = with(d.relaxed, order...)
	case len(order) > 1:
		if err := m.relax(ctx, d, order[:len(order)/2]); err != nil {
			return err
		}
		return m.relax(ctx, d, order[len(order)/2:])
	case o == aborted:
		d.given = append(d.given, order[0])
	default:
		d.kept = append(d.kept, order[0])
	}
	return nil
}

// check makes sure that each requirement that is kept is needed, and relaxes further where it is not.
func (m *minimizer) check(ctx context.Context, d *division) error {
	for changed := true; changed; {
		changed = false
		d.unproven = false
		for _, list := range []*[]int{&d.given, &d.kept} {
			for i := 0; i < len(*list); i++ {
				at := (*list)[i]
				o, err := m.try(ctx, with(d.relaxed, at))
				if err != nil {
					return err
				}
				switch {
				case o == refused:
					d.relaxed = with(d.relaxed, at)
					*list = slices.Delete(*list, i, i+1)
					changed = true
					i--
				case o == aborted && list == &d.kept:
					d.given = append(d.given, at)
					d.kept = slices.Delete(d.kept, i, i+1)
					i--
				case o == fits && list == &d.given:
					d.kept = append(d.kept, at)
					d.given = slices.Delete(d.given, i, i+1)
					i--
				case o == undecided:
					d.unproven = true
				}
			}
		}
	}
	slices.SortFunc(d.kept, func(a, b int) int { return cmp.Or(cmp.Compare(m.importance(a), m.importance(b)), cmp.Compare(a, b)) })
	return nil
}

// importance orders the requirements of a conflict for the reader: what is asked for first, from the
// number of devices to their properties, then what is in the way.
func (m *minimizer) importance(i int) int {
	order := []RequirementKind{
		RequestRequired, CountRequired, ClassTermRequired, TermRequired, ConstraintRequired, CapacityRequired,
		CountersRequired, TaintRequired, HeldRequired, FeatureRequired, PoolRequired,
	}
	return slices.Index(order, m.atoms[i].Kind)
}

// conflict describes the conflict and tries which of its requirements help alone.
func (m *minimizer) conflict(ctx context.Context, d *division) (*Conflict, error) {
	c := &Conflict{Node: inspect.NodeName(m.local.node.Name), Unproven: d.unproven, Sole: true}
	none := make([]bool, len(m.atoms))
	for _, i := range d.kept {
		r := m.atoms[i].Requirement
		o, err := m.try(ctx, with(none, i))
		if err != nil {
			return nil, err
		}
		if r.Kind == CountersRequired {
			if r.Here, err = m.runsOut(ctx, d, i); err != nil {
				return nil, err
			}
		}
		r.Alone = o == fits
		c.Sole = c.Sole && r.Alone
		c.Requirements = append(c.Requirements, r)
		c.keys = append(c.keys, m.atoms[i].edit.key())
	}
	slices.Sort(d.given)
	for _, i := range d.given {
		c.Given = append(c.Given, m.atoms[i].Requirement)
	}
	return c, nil
}

// rank says how good a conflict is for the reader: the lowest first. A conflict from which a single step of
// the user leads out comes before others; then the node that comes nearer; then the one that leaves nothing
// else in the way, the one with the step that costs least, the smaller, and that with fewer devices held.
func (q *question) rank(c *Conflict, near int) []int {
	cost, held := 9, 0
	for i := range c.Requirements {
		req := &c.Requirements[i]
		if req.Alone {
			cost = min(cost, q.stepCost(req))
		}
		if req.Holder != nil {
			held += len(req.Holder.Devices)
		}
	}
	return []int{btoi(c.Unproven), btoi(cost == 9), -near, btoi(!c.Sole), cost, len(c.Requirements), held}
}

// stepCost says roughly what relaxing a requirement takes: 9 is out of the user's hands.
func (q *question) stepCost(r *Requirement) int {
	switch r.Kind {
	case HeldRequired:
		if q.cluster.Snapshot().Idle(r.Holder.Claim) {
			return 1
		}
		return 3
	case CountRequired, TermRequired, ConstraintRequired, CapacityRequired:
		return 2
	case TaintRequired, PoolRequired, FeatureRequired:
		return 4
	}
	return 9 // not to ask at all, among others: that leads out of every conflict and is no step
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// findConflict compares the conflicts of the nodes that come nearest.
func (q *question) findConflict(ctx context.Context, nodes []nearNode) (*Conflict, error) {
	var best *Conflict
	var bestRank []int
	for _, n := range nodes[:min(len(nodes), maxCandidates)] {
		l := q.localOf(n.name)
		if l == nil {
			continue
		}
		c, err := l.conflictOn(ctx)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		if rank := q.rank(c, n.near); best == nil || slices.Compare(rank, bestRank) < 0 {
			best, bestRank = c, rank
		}
	}
	return best, nil
}
