package disruption

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Part is something that may be lost by itself: a node, a pool, a device.
type Part struct {
	Name string
	// Weight is the number of pods that its loss ends, or more. See [NodeWeights] and [DeviceWeights].
	Weight int
	// kind is the same text for parts of which the loss of one does the same harm. It is "" for one that is
	// like no other. See kindsOf.
	kind string
}

// Weakest is the loss that does most harm: after which most pods run nowhere that run now, or would.
type Weakest struct {
	// Parts are those that are lost together, in the order in which they were given, and Disruption is what
	// becomes of the pods.
	Parts      []Part
	Disruption *explain.Disruption
	// Proven says that no other loss of so many parts does more harm, in the runs of kube-scheduler that were
	// played: of losses of parts that are alike one was. Otherwise AtMost bounds what others may do.
	Proven bool
	AtMost int
	// Certain says that the harm of each loss that was played is the same in all runs, and that all pods are
	// known. Otherwise another loss may do more harm than the one that was found.
	Certain bool
	// Tried is the number of losses that were played, and Limited says that more were not because of the size
	// of the cluster.
	Tried   int
	Limited bool
}

// The number of losses that are played: as many as take about a minute, but some in any cluster.
const (
	maxLosses, minLosses = 400, 20
	// maxLossNodes bounds their number times that of the nodes.
	maxLossNodes = 400_000
	// maxAgain bounds the number of parts times that of nodes and waiting pods up to which others of a kind
	// are played where what becomes of the pods is not certain: another run may show more harm.
	maxAgain = 20_000
)

// lossesFor is the number of losses that are played at most.
func lossesFor(s *inspect.Snapshot) int {
	return max(minLosses, min(maxLosses, maxLossNodes/max(1, len(s.Nodes()))))
}

// NodeWeights is the number of pods that the loss of each node ends.
func NodeWeights(s *inspect.Snapshot) map[inspect.NodeName]int {
	out := map[inspect.NodeName]int{}
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || inspect.Ended(pod) || suppose.BoundToNode(pod) {
			continue
		}
		if _, evicted := toleratedUnreachable(pod); evicted {
			out[inspect.NodeName(pod.Spec.NodeName)]++
		}
	}
	return out
}

// DeviceWeights is the number of pods that the loss of each device ends, and of each pool with all its
// devices.
func DeviceWeights(s *inspect.Snapshot) (devices map[inspect.DeviceID]int, pools map[inspect.PoolID]int) {
	devices, pools = map[inspect.DeviceID]int{}, map[inspect.PoolID]int{}
	ofDevice, ofPool := map[inspect.DeviceID][]inspect.PodRef{}, map[inspect.PoolID]map[inspect.PodRef]bool{}
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		users := slices.DeleteFunc(slices.Clone(s.PodsOf(inspect.RefOf(claim))), func(ref inspect.PodRef) bool { return !runs(s, ref) })
		for _, id := range devicesOf(claim) {
			pool := id.PoolID()
			if ofPool[pool] == nil {
				ofPool[pool] = map[inspect.PodRef]bool{}
			}
			for _, ref := range users {
				ofPool[pool][ref] = true
				if !slices.Contains(ofDevice[id], ref) {
					ofDevice[id] = append(ofDevice[id], ref)
				}
			}
		}
	}
	for id, users := range ofDevice {
		devices[id] = len(users)
	}
	for pool, users := range ofPool {
		pools[pool] = len(users)
	}
	return devices, pools
}

// runs reports whether there is a pod on a node that can be ended.
func runs(s *inspect.Snapshot, ref inspect.PodRef) bool {
	pod, ok := s.Pod(ref)
	return ok && pod.Spec.NodeName != "" && !inspect.Ended(pod)
}

// FindWeakest looks for the k parts whose loss together does most harm. lose is their loss together. No loss
// does more harm than it ends pods and there are pods that wait and fit, so losses are played in the order
// of the pods that they end until the rest cannot be worse. If one part is lost, of those that are alike and
// that nobody uses only the first is played if its harm is certain or the cluster is large. Of losses that
// are as bad the first is taken. The result is nil if there are fewer than k parts.
func FindWeakest(ctx context.Context, c *scheduler.Cluster, parts []Part, k int, lose func([]Part) *Event) (*Weakest, error) {
	if k < 1 || k > len(parts) {
		return nil, nil
	}
	without, _, err := unplanned(ctx, c)
	if err != nil {
		return nil, err
	}
	if k == 1 { // what else is lost may end pods to which these parts are not alike
		kinds, err := kindsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		parts = slices.Clone(parts)
		for i := range parts {
			parts[i].kind = kinds[parts[i].Name]
		}
	}
	once := len(parts)*(len(c.Snapshot().Nodes())+len(without.Placed)+len(without.Pending)) > maxAgain
	return findWeakest(ctx, c, parts, k, lose, without, once)
}

// findWeakest is FindWeakest where it is known what happens without a loss. once says to play one loss of
// each kind even if what becomes of the pods is not certain.
func findWeakest(
	ctx context.Context, c *scheduler.Cluster, parts []Part, k int, lose func([]Part) *Event, without *explain.Replay, once bool,
) (*Weakest, error) {
	order := byWeight(parts, once)
	out := &Weakest{Certain: without.Certain}
	limit := lossesFor(c.Snapshot())
	queue := newCombinations(order, k)
	known := map[string]bool{} // by kind
	for queue.Len() > 0 {
		next := heap.Pop(queue).(combination)
		if out.Disruption != nil && next.weight+len(without.Placed) <= out.Disruption.Harm() {
			out.Proven = true
			return out, nil
		}
		chosen := queue.parts(next, parts)
		kind := chosen[0].kind
		if known[kind] {
			queue.spread(next)
			continue
		}
		if out.Tried == limit {
			out.AtMost, out.Limited = next.weight+len(without.Placed), limit < maxLosses
			return out, nil
		}
		out.Tried++
		progress.Say(ctx, fmt.Sprintf("playing loss %d of at most %d", out.Tried, limit))
		d, _, err := playOut(progress.With(ctx, nil), c, lose(chosen), without)
		if err != nil {
			return nil, err
		}
		certain := d.Replay.Certain && !d.Unseen
		known[kind] = kind != "" && certain
		out.Certain = out.Certain && certain
		if out.Disruption == nil || d.Harm() > out.Disruption.Harm() {
			out.Parts, out.Disruption = chosen, d
		}
		queue.spread(next)
	}
	out.Proven = true
	return out, nil
}

// byWeight are the heaviest parts first, and one of each kind if once is true.
func byWeight(parts []Part, once bool) []weighed {
	var order []weighed
	had := map[string]bool{}
	for i, p := range parts {
		if p.kind == "" || !once || !had[p.kind] {
			order = append(order, weighed{at: i, weight: p.Weight})
		}
		had[p.kind] = true
	}
	slices.SortStableFunc(order, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	return order
}

// weighed is a part with the number of pods that its loss ends.
type weighed struct{ at, weight int }

// combination is k positions in the order of weights, ascending.
type combination struct {
	positions []int
	weight    int
}

// combinations yields combinations of parts, the heaviest first. Each is reached once: from the one whose
// last position that can be smaller is smaller by one.
type combinations struct {
	order []weighed
	queue []combination
}

func newCombinations(order []weighed, k int) *combinations {
	first := make([]int, k)
	for i := range first {
		first[i] = i
	}
	c := &combinations{order: order}
	heap.Push(c, c.weigh(first))
	return c
}

func (c *combinations) weigh(positions []int) combination {
	out := combination{positions: positions}
	for _, at := range positions {
		out.weight += c.order[at].weight
	}
	return out
}

// spread adds those that follow a combination: one position is moved on by one, of which all before are still
// where they began.
func (c *combinations) spread(of combination) {
	for i, at := range of.positions {
		if at+1 < len(c.order) && (i+1 == len(of.positions) || at+1 < of.positions[i+1]) {
			next := slices.Clone(of.positions)
			next[i]++
			heap.Push(c, c.weigh(next))
		}
		if at != i {
			break
		}
	}
}

func (c *combinations) parts(of combination, parts []Part) []Part {
	var at []int
	for _, position := range of.positions {
		at = append(at, c.order[position].at)
	}
	slices.Sort(at)
	out := make([]Part, len(at))
	for i, n := range at {
		out[i] = parts[n]
	}
	return out
}

func (c *combinations) Len() int { return len(c.queue) }

// Less puts heavier ones first, and of equal ones that with the smaller positions.
func (c *combinations) Less(i, j int) bool {
	a, b := &c.queue[i], &c.queue[j]
	return cmp.Or(cmp.Compare(b.weight, a.weight), slices.Compare(a.positions, b.positions)) < 0
}

func (c *combinations) Swap(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] }
func (c *combinations) Push(x any)    { c.queue = append(c.queue, x.(combination)) }
func (c *combinations) Pop() any {
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	return last
}
