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
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxExactGroups is the number of groups up to which nodes that differ in numbers stay apart.
const maxExactGroups = 4

// maxNamedNodes bounds, for nodes that look alike, of how many the devices and holders are named.
const maxNamedNodes = 16

// Groups diagnoses all nodes that said no and groups those with the same reasons, the largest group
// first. Nodes whose numbers differ are put together only when there would be many groups otherwise.
func Groups(ctx context.Context, q *whatif.Question, answers []whatif.Answer) ([]explain.Group, error) {
	var refused []*whatif.Answer
	for i := range answers {
		if !answers[i].Allocatable() {
			refused = append(refused, &answers[i])
		}
	}
	diagnoses := make([]*diagnosis, len(refused))
	err := allocator.Parallel(len(refused), func(i int) error {
		var err error
		diagnoses[i], err = diagnoseAll(ctx, refused[i].Q, refused[i])
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
		if err := namePartners(ctx, pick(diagnoses, set)); err != nil {
			return nil, err
		}
		var nodes []int
		for i, at := range set {
			if i > 0 {
				d.merge(diagnoses[at])
			}
			nodes = append(nodes, refused[at].Nodes...)
		}
		g := explain.Group{Nodes: namesOf(q.Nodes, nodes)}
		d.finish(&g)
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	return groups, nil
}

func pick(diagnoses []*diagnosis, at []int) []*diagnosis {
	out := make([]*diagnosis, len(at))
	for i, n := range at {
		out[i] = diagnoses[n]
	}
	return out
}

// namesOf returns the names of some of the nodes, in their order.
func namesOf(nodes []*corev1.Node, at []int) []inspect.NodeName {
	if len(at) == 0 {
		return nil
	}
	there := make([]bool, len(nodes)) // to sort thousands of indices takes longer
	for _, i := range at {
		there[i] = true
	}
	out := make([]inspect.NodeName, 0, len(at))
	for i, ok := range there {
		if ok {
			out = append(out, inspect.NodeName(nodes[i].Name))
		}
	}
	return out
}

// diagnoseAll looks at the first of the nodes and takes the others to be like it.
func diagnoseAll(ctx context.Context, q *whatif.Question, a *whatif.Answer) (*diagnosis, error) {
	d, err := diagnose(ctx, q, q.Nodes[a.Nodes[0]], a)
	var abort *allocator.AbortError
	if errors.As(err, &abort) { // only reached by looking at devices that the search did not reach
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
	named := min(len(a.Nodes), maxNamedNodes)
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

// multiply turns the funnel of one node into that of many like it, and adds the devices of some.
func multiply(f *explain.Funnel, nodes int, position map[inspect.DeviceID]int, others [][]inspect.DeviceID) {
	for i := range f.Steps {
		for j := range f.Steps[i].Lost {
			l := &f.Steps[i].Lost[j]
			l.Total *= nodes
			for v := range l.Values {
				l.Values[v].Count *= nodes
			}
			mine := slices.Clone(l.Devices)
			for _, ids := range others {
				for _, id := range mine {
					l.Devices = append(l.Devices, ids[position[id]])
				}
			}
		}
	}
}

// partition returns sets of indices of diagnoses that are alike, in the order of their first member.
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

// key identifies what is in the way on a node, without what names a device, a claim or a value.
func (d *diagnosis) key(numbers bool) string {
	var b strings.Builder
	for _, r := range d.general {
		fmt.Fprintf(&b, "%s %s\n", r.Code, r.Key)
	}
	for _, s := range d.starved {
		fmt.Fprintf(&b, "starved %d\n", s.funnel)
		key(&d.funnels[s.funnel], &b, numbers)
	}
	for _, j := range d.interactions {
		j.key(&b, numbers)
	}
	for _, r := range d.pools {
		fmt.Fprintf(&b, "%s %s\n", r.Code, r.Key)
	}
	fmt.Fprintf(&b, "%t %d", d.noPools, len(d.funnels))
	return b.String()
}

// merge adds what another node of the same group found.
func (d *diagnosis) merge(other *diagnosis) {
	for i := range d.funnels {
		merge(&d.funnels[i], &other.funnels[i])
	}
	for i := range d.interactions {
		d.interactions[i].merge(&other.interactions[i])
	}
}

// finish makes the reasons of a group whose nodes are all merged.
func (d *diagnosis) finish(g *explain.Group) {
	g.Reasons = slices.Clone(d.general)
	if len(d.general) > 0 && d.general[0].Code != allocator.NodeUnsuitable {
		g.Score = 2 * len(funnelSteps) // an aborted or unfinished search decides about the answer
	}
	for i := range d.funnels {
		finish(&d.funnels[i])
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
	g.Reasons = append(g.Reasons, d.pools...)
	g.Funnels = d.funnels
}

// scoreStarved says how near a node comes that has too few devices for some requests: what each of them lacks
// counts, of alternatives what the best of them lacks.
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
	near := most + 1
	for _, lack := range lacks {
		near -= lack
	}
	return near
}

// stepsReached counts the steps that leave any device.
func stepsReached(f *explain.Funnel) int {
	n := 0
	for _, step := range f.Steps {
		if step.Most > 0 {
			n++
		}
	}
	return n
}

// findHolders names the claims that stand behind the losses of a funnel.
func (d *diagnosis) findHolders(f *explain.Funnel) {
	for i := range f.Steps {
		for j := range f.Steps[i].Lost {
			if l := &f.Steps[i].Lost[j]; l.Code == allocator.DeviceInUse || l.Code == allocator.CapacityInsufficient {
				l.Claims = d.holders(l.Devices)
			}
		}
	}
}

// holders finds the claims that hold the devices.
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
				out = append(out, whatif.NewHolder(s, h.Claim))
			}
			if !slices.Contains(out[i].Devices, id) {
				out[i].Devices = append(out[i].Devices, id)
			}
		}
	}
	return out
}
