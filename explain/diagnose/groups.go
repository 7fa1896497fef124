package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxExactGroups is the number of groups up to which nodes whose numbers differ are in different groups.
	maxExactGroups = 4
	// MaxNamedNodes is, of nodes that do not differ for the question, the number whose devices are named.
	MaxNamedNodes = 16
)

// Groups diagnoses all nodes that said no, and groups those with the same reasons. The largest group comes
// first, and of equal ones that with the first node. Nodes whose numbers differ are put into one group only
// if there would be many groups otherwise. The answers are those of the question. The error is that of the
// context, or one of the allocator that is no abort.
func Groups(ctx context.Context, q *whatif.Question, answers []whatif.Answer) ([]explain.Group, error) {
	var refused []*whatif.Answer
	for i := range answers {
		if !answers[i].Allocatable() && !answers[i].Doubtful() {
			refused = append(refused, &answers[i])
		}
	}
	diagnoses := make([]*diagnosis, len(refused))
	err := allocator.Parallel(len(refused), func(i int) error {
		var err error
		diagnoses[i], err = diagnoseKind(ctx, refused[i].Q, refused[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	sets := partition(diagnoses, true)
	if len(sets) > maxExactGroups {
		sets = partition(diagnoses, false)
	}
	var groups []explain.Group
	for _, set := range sets {
		d := diagnoses[set[0]]
		var nodes []int
		missing := map[inspect.NodeName]int{}
		for i, at := range set {
			lacks := diagnoses[at].missing()
			for _, n := range refused[at].Nodes {
				missing[inspect.NodeName(q.Nodes[n].Name)] = lacks
			}
			if i > 0 {
				d.merge(diagnoses[at])
			}
			nodes = append(nodes, refused[at].Nodes...)
		}
		g := explain.Group{Nodes: namesOf(q.Nodes, nodes)}
		for _, name := range g.Nodes {
			g.Missing = append(g.Missing, missing[name])
		}
		d.finish(&g)
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	return groups, nil
}

// namesOf returns the names of the nodes with the given indices, in the order of the nodes.
func namesOf(nodes []*corev1.Node, at []int) []inspect.NodeName {
	if len(at) == 0 {
		return nil
	}
	chosen := make([]bool, len(nodes)) // to sort thousands of indices takes longer
	for _, i := range at {
		chosen[i] = true
	}
	out := make([]inspect.NodeName, 0, len(at))
	for i, ok := range chosen {
		if ok {
			out = append(out, inspect.NodeName(nodes[i].Name))
		}
	}
	return out
}

// diagnoseKind makes the diagnosis of nodes that do not differ for the question. It examines the first of
// them, and multiplies what it finds by their number.
func diagnoseKind(ctx context.Context, q *whatif.Question, a *whatif.Answer) (*diagnosis, error) {
	d, err := diagnose(ctx, q, q.Nodes[a.Nodes[0]], a)
	var abort *allocator.AbortError
	if errors.As(err, &abort) { // for a device that the search did not reach, but the examination did
		return &diagnosis{general: []explain.Reason{AbortReason(abort)}}, nil
	}
	if err != nil || len(a.Nodes) == 1 || len(d.funnels) == 0 {
		return d, err
	}
	first, err := q.Cluster.Candidates(q.Nodes[a.Nodes[0]])
	if err != nil {
		return nil, err
	}
	position := make(map[inspect.DeviceID]int, len(first))
	for i, id := range first {
		position[id] = i
	}
	named := min(len(a.Nodes), MaxNamedNodes)
	var others [][]inspect.DeviceID
	for _, n := range a.Nodes[1:named] {
		ids, err := q.Cluster.Candidates(q.Nodes[n])
		if err != nil {
			return nil, err
		}
		others = append(others, ids)
	}
	for i := range d.funnels {
		multiply(&d.funnels[i], len(a.Nodes), position, others)
	}
	for i := range d.interactions {
		d.interactions[i].nodes = len(a.Nodes)
	}
	return d, nil
}

// multiply turns the funnel of one node into that of many nodes like it. position is the index of each device
// among the candidates of the first node. others are the candidates of some of the other nodes, whose devices
// are added.
func multiply(f *explain.Funnel, nodes int, position map[inspect.DeviceID]int, others [][]inspect.DeviceID) {
	for i := range f.Steps {
		f.Steps[i].Total *= nodes
		for j := range f.Steps[i].Lost {
			l := &f.Steps[i].Lost[j]
			l.Total *= nodes
			for v := range l.Values {
				l.Values[v].Count *= nodes
			}
			first := slices.Clone(l.Devices)
			for _, ids := range others {
				for _, id := range first {
					l.Devices = append(l.Devices, ids[position[id]])
				}
			}
		}
	}
}

// partition returns the indices of diagnoses in sets with the same key, in the order of their first member.
func partition(diagnoses []*diagnosis, numbers bool) [][]int {
	var sets [][]int
	index := map[string]int{}
	for i, d := range diagnoses {
		key := d.key(numbers)
		at, ok := index[key]
		if !ok {
			at = len(sets)
			index[key] = at
			sets = append(sets, nil)
		}
		sets[at] = append(sets[at], i)
	}
	return sets
}

// key identifies what is in the way on a node without naming devices, claims and values. Numbers are part of
// it only on demand.
func (d *diagnosis) key(numbers bool) string {
	var b strings.Builder
	for _, r := range d.filterReasons() {
		fmt.Fprintf(&b, "%s %s", r.Code, r.Key)
		if numbers {
			b.WriteString(" " + r.Found)
		}
		b.WriteString("\n")
	}
	for _, r := range d.general {
		fmt.Fprintf(&b, "%s %s\n", r.Code, r.Key)
	}
	for _, s := range d.starved {
		fmt.Fprintf(&b, "starved %d\n", s.funnel)
		writeFunnelKey(&b, &d.funnels[s.funnel], numbers)
	}
	for i := range d.interactions {
		d.interactions[i].writeKey(&b, numbers)
	}
	for _, r := range d.pools {
		fmt.Fprintf(&b, "%s %s\n", r.Code, r.Key)
	}
	fmt.Fprintf(&b, "%t %d", d.noPools, len(d.funnels))
	return b.String()
}

// merge adds the diagnosis of another node of the same group.
func (d *diagnosis) merge(other *diagnosis) {
	d.filtered = append(slices.Clip(d.filtered), other.filtered...)
	for i := range d.funnels {
		mergeFunnel(&d.funnels[i], &other.funnels[i])
	}
	for i := range d.interactions {
		d.interactions[i].merge(&other.interactions[i])
	}
}

// finish fills in a group once the diagnoses of all its nodes are merged.
func (d *diagnosis) finish(g *explain.Group) {
	filtered := d.filterReasons()
	g.Reasons = append(filtered[:len(filtered):len(filtered)], d.general...)
	switch {
	case d.unusable: // whatever devices it has
	case len(d.general) > 0:
		g.Score = 2 * len(funnelSteps) // an aborted or unfinished search decides about the answer
	case len(d.funnels) == 0 && len(d.pools) == 0:
		g.Score = len(funnelSteps) + 2 // it has the devices
	}
	for i := range d.funnels {
		sortLosses(&d.funnels[i])
		d.findHolders(&d.funnels[i])
	}
	for _, s := range d.starved {
		f := &d.funnels[s.funnel]
		g.Reasons = append(g.Reasons, d.starvedReasons(f, s.path)...)
	}
	if len(d.starved) > 0 {
		g.Score = d.scoreStarved()
	}
	for i := range d.interactions {
		g.Reasons = append(g.Reasons, d.interactions[i].reason())
		g.Score = len(funnelSteps) + 1
	}
	if g.Unusable = d.unusable; !d.unusable {
		g.Score -= len(filtered) + d.unresolvable()
	}
	g.Reasons = append(g.Reasons, d.pools...)
	g.Funnels = d.funnels
}

// unresolvable counts the reasons of the other filters that nothing but another node could take away.
func (d *diagnosis) unresolvable() int {
	if len(d.filtered) == 0 {
		return 0
	}
	n := 0
	for i := range d.filtered[0].Refusals {
		n += words.Btoi(d.filtered[0].Refusals[i].Unresolvable)
	}
	return n
}

// filterReasons are the reasons of the scheduler's other filters.
func (d *diagnosis) filterReasons() []explain.Reason { return explain.ReasonsOf(d.filtered) }

// scoreStarved is the score of nodes that have too few devices for some requests. It is lower by what each of
// these requests lacks, and of alternatives by what the best of them lacks. What a request lacks is counted
// in steps of its funnel that leave no device.
func (d *diagnosis) scoreStarved() int {
	type request struct {
		claim inspect.ClaimRef
		name  string
	}
	most := len(funnelSteps) + 1
	lacks := map[request]int{}
	for _, s := range d.starved {
		f := &d.funnels[s.funnel]
		name, _, _ := strings.Cut(f.Request, "/")
		key := request{f.Claim, name}
		lack := most + 1 - stepsReached(f)
		if other, ok := lacks[key]; ok {
			lack = min(lack, other)
		}
		lacks[key] = lack
	}
	score := most + 1
	for _, lack := range lacks {
		score -= lack
	}
	return score
}

// missing is the number of devices that a node lacks, of alternatives for the one that lacks least.
func (d *diagnosis) missing() int {
	type request struct {
		claim inspect.ClaimRef
		name  string
	}
	least := map[request]int{}
	for i := range d.funnels {
		f := &d.funnels[i]
		if len(f.Steps) == 0 {
			continue
		}
		name, _, _ := strings.Cut(f.Request, "/")
		at, lacks := request{f.Claim, name}, max(0, f.Needed-f.Steps[len(f.Steps)-1].Most)
		if other, ok := least[at]; !ok || lacks < other {
			least[at] = lacks
		}
	}
	sum := 0
	for _, n := range least {
		sum += n
	}
	return sum
}

// stepsReached counts the steps of a funnel that leave any device.
func stepsReached(f *explain.Funnel) int {
	n := 0
	for _, step := range f.Steps {
		if step.Most > 0 {
			n++
		}
	}
	return n
}

// findHolders adds to the losses of a funnel the claims that hold the devices, and the rules that taint them.
func (d *diagnosis) findHolders(f *explain.Funnel) {
	for i := range f.Steps {
		for j := range f.Steps[i].Lost {
			if l := &f.Steps[i].Lost[j]; l.Code == allocator.DeviceInUse || l.Code == allocator.CapacityInsufficient {
				l.Claims = d.holders(l.Devices)
			} else if l.Taint != nil {
				l.TaintRules = explain.TaintRules(d.cluster.Snapshot(), l.Taint, l.Devices...)
			}
		}
	}
}

// holders returns the claims that hold the devices, in the order of the devices. Claims with admin access
// take nothing from others and are left out.
func (d *diagnosis) holders(devices []inspect.DeviceID) []explain.Holder {
	s := d.cluster.Snapshot()
	at := map[inspect.ClaimRef]int{}
	var out []explain.Holder
	for _, id := range devices {
		for _, h := range s.Holders(id) {
			if h.Admin() {
				continue
			}
			i, ok := at[h.Claim]
			if !ok {
				i = len(out)
				at[h.Claim] = i
				out = append(out, explain.NewHolder(s, h.Claim))
			}
			if !slices.Contains(out[i].Devices, id) {
				out[i].Devices = append(out[i].Devices, id)
			}
		}
	}
	return out
}
