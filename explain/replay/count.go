package replay

import (
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// What is proved of very many pods of a few shapes is proved by counting. Where placing a pod changes nothing
// but what is left of its node, a node is in one of few states: those that its pods, in some order, leave
// behind. Each thing that pods ask for (devices, CPU, memory, or just to be a pod) is a measure of a state:
//
//   - A pod waits only if every node on which it fits is in a state that refuses it. If the others have less
//     of some measure than that takes at least on all nodes together, it is placed, whatever was chosen.
//   - If the most that all nodes together can hold of some measure is less than all pods have, not all are
//     placed, whatever is chosen.

// maxShapes, maxStates: beyond that nothing is proved.
const maxShapes, maxStates = 4, 2000

// rounding is more than what sums of floating point numbers are off by.
const rounding = 1e-9

// Count says by counting what becomes of all members of a queue: Always if each is placed in every run, Never
// if there is no run that places all, and otherwise Unclear. text says what is counted, if that is Never.
func (queue *Queue) Count(ctx context.Context) (c Certainty, text string, err error) {
	n := &counting{Queue: queue}
	ok, err := n.read(ctx)
	if err != nil || !ok {
		return Unclear, "", err
	}
	for _, kind := range n.kinds {
		if ok, err = n.explore(ctx, kind); err != nil || !ok {
			return Unclear, "", err
		}
	}
	for _, m := range n.measures {
		if most, all := n.most(m), m.of(n.counts()); most*(1+rounding) < all {
			if m.text == nil {
				return Never, fmt.Sprintf("however they fill the nodes, there is room for %d of these %d pods at most", int(most), int(all)), nil
			}
			return Never, fmt.Sprintf("they need %s, and however they fill the nodes, they can have no more than %s", m.text(all), m.text(most)), nil
		}
	}
	for s := range n.members {
		others := n.counts()
		others[s]--
		if !slices.ContainsFunc(n.measures, func(m measure) bool { return n.least(m, s, others) > m.of(others)*(1+rounding) }) {
			return Unclear, "", nil
		}
	}
	return Always, "", nil
}

// counting is what is counted of a queue.
type counting struct {
	*Queue
	members  [][]*Member // by shape
	measures []measure
	kinds    []*nodeKind
	asks     int
}

// measure is something that pods of each shape take the same amount of wherever they are.
type measure struct {
	text func(amount float64) string // nil for the number of pods
	by   []float64                   // by shape
}

// of is the amount that some pods of each shape have together.
func (m measure) of(pods []int) float64 {
	sum := 0.
	for s, n := range pods {
		sum += float64(n) * m.by[s]
	}
	return sum
}

// nodeKind is nodes that look alike to all shapes.
type nodeKind struct {
	nodes []*corev1.Node
	// states are the pods of each shape that one of them may have, and refused the shapes that each refuses.
	states  [][]int
	refused [][]bool
}

// read looks at the pods and at the cluster as it is. It reports whether all may be counted.
func (n *counting) read(ctx context.Context) (bool, error) {
	if !n.Local || slices.ContainsFunc(n.Entities, func(e Entity) bool { return e.Need > 1 }) {
		return false, nil
	}
	at := map[string]int{}
	for _, m := range MembersOf(n.Entities) {
		if m.Pod == nil || !ofNodes(m) || m.PerNode {
			return false, nil
		}
		s, ok := at[m.Shape]
		if !ok {
			if s = len(n.members); s == maxShapes {
				return false, nil
			}
			at[m.Shape], n.members = s, append(n.members, nil)
		}
		n.members[s] = append(n.members[s], m)
	}
	var turns []*Turn
	for _, members := range n.members {
		t, err := members[0].Ask(ctx, n.Base, nil)
		if err != nil || t.MayWait || t.Open || t.Fails {
			return false, err
		}
		turns = append(turns, t)
	}
	x := &explorer{Queue: *n.Queue}
	if err := x.sortNodes(ctx, turns); err != nil {
		return false, err
	}
	kinds := map[string]*nodeKind{}
	for _, node := range x.nodes {
		key, ok := x.kinds[inspect.NodeName(node.Name)]
		if !ok {
			key = "node " + node.Name
		}
		if kinds[key] == nil {
			kinds[key] = &nodeKind{}
			n.kinds = append(n.kinds, kinds[key])
		}
		kinds[key].nodes = append(kinds[key].nodes, node)
	}
	n.measures = measuresOf(n.members)
	return true, nil
}

// counts is the number of pods of each shape.
func (n *counting) counts() []int {
	var out []int
	for _, members := range n.members {
		out = append(out, len(members))
	}
	return out
}

// most is the most of a measure that fits on all nodes together.
func (n *counting) most(m measure) float64 {
	sum := 0.
	for _, kind := range n.kinds {
		most := 0.
		for _, pods := range kind.states {
			most = max(most, m.of(pods))
		}
		sum += most * float64(len(kind.nodes))
	}
	return sum
}

// least is the least of a measure that all nodes together have if each refuses a shape on which it fits as
// things are, where there are no other pods than some.
func (n *counting) least(m measure, shape int, others []int) float64 {
	sum := 0.
	for _, kind := range n.kinds {
		if kind.refused[0][shape] {
			continue // the first state is as things are
		}
		least := math.Inf(1)
		for i, pods := range kind.states {
			if kind.refused[i][shape] && within(pods, others) {
				least = min(least, m.of(pods))
			}
		}
		sum += least * float64(len(kind.nodes))
	}
	return sum
}

// within reports whether there are as many pods of each shape.
func within(pods, all []int) bool {
	for s := range pods {
		if pods[s] > all[s] {
			return false
		}
	}
	return true
}

// measuresOf are what is measured, what says most first: the number of pods, devices, CPU and memory.
func measuresOf(members [][]*Member) []measure {
	devices := measure{text: func(n float64) string { return words.Count(int(n), "device") }}
	cpu := measure{text: func(n float64) string {
		return resource.NewMilliQuantity(int64(n*1000), resource.DecimalSI).String() + " CPU"
	}}
	memory := measure{text: func(n float64) string {
		return resource.NewQuantity(int64(n), resource.BinarySI).String() + " of memory"
	}}
	var places measure
	for _, of := range members {
		requests := resourcehelper.PodRequests(of[0].Pod, resourcehelper.PodResourcesOptions{})
		cpu.by = append(cpu.by, requests.Cpu().AsApproximateFloat64())
		memory.by = append(memory.by, requests.Memory().AsApproximateFloat64())
		places.by = append(places.by, 1)
		devices.by = append(devices.by, devicesOf(of[0].Claims))
	}
	if slices.Contains(devices.by, -1) {
		return []measure{places, cpu, memory}
	}
	return []measure{places, devices, cpu, memory}
}

// explore finds the states of a node of a kind. It reports whether they are all known.
func (n *counting) explore(ctx context.Context, kind *nodeKind) (bool, error) {
	type filled struct {
		cluster *scheduler.Cluster
		pods    []int
		took    []string
	}
	todo := []filled{{cluster: n.Base, pods: make([]int, len(n.members))}}
	seen := map[string]bool{}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		refused := make([]bool, len(n.members))
		for s, members := range n.members {
			if n.asks++; n.asks > maxStates {
				return false, nil
			}
			next := members[min(f.pods[s], len(members)-1)]
			t, err := next.Ask(ctx, f.cluster, kind.nodes[:1])
			if err != nil || t.MayWait || t.Open || t.Fails {
				return false, err
			}
			if refused[s] = len(t.Options) == 0; refused[s] || f.pods[s] == len(members) {
				continue
			}
			r, err := t.Options[0].Reserve(ctx)
			if err != nil {
				return false, err
			}
			then := filled{pods: slices.Clone(f.pods), took: slices.Clone(f.took)}
			then.pods[s]++
			for _, claim := range r.Claims {
				then.took = append(then.took, claim.Status.Allocation.String())
			}
			slices.Sort(then.took)
			if key := fmt.Sprint(then.pods, then.took); !seen[key] {
				seen[key] = true
				then.cluster = With(f.cluster, r)
				todo = append(todo, then)
			}
		}
		kind.states, kind.refused = append(kind.states, f.pods), append(kind.refused, refused)
	}
	return true, nil
}

// devicesOf is the number of devices that claims take. It is -1 if they do not say.
func devicesOf(claims []*resourcev1.ResourceClaim) float64 {
	n := 0.
	for _, claim := range claims {
		for i := range claim.Spec.Devices.Requests {
			switch e := claim.Spec.Devices.Requests[i].Exactly; {
			case e == nil || e.AllocationMode != resourcev1.DeviceAllocationModeExactCount:
				return -1
			case !ptr.Deref(e.AdminAccess, false):
				n += float64(e.Count)
			}
		}
	}
	return n
}
