package moves

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var seed = flag.Uint64("moves.seed", 1, "first seed of the random problems")

// crowd is a random problem: pods on nodes with a few devices of two models, and one that waits.
type crowd struct {
	*inspect.Objects
	target *corev1.Pod
}

// randomCrowd is a problem whose pods are of few kinds: with devices, without, one that is nobody's.
func randomCrowd(r *rand.Rand) *crowd {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	const isBig = `device.attributes["gpu.example.com"].model == "big"`
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, ""), explaintest.Template("big", 1, isBig))
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprint("n", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, "zone": fmt.Sprint(i % 2)}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprint(3 + r.IntN(3))), corev1.ResourceMemory: resource.MustParse("512Gi"), corev1.ResourcePods: resource.MustParse("110")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
		}}
		for d := range 1 + r.IntN(4) {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("g", d), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: ptr.To([]string{"big", "small"}[r.IntN(2)])},
			}})
		}
		o.Slices = append(o.Slices, slice)
	}
	c := &crowd{Objects: o}
	c.settle(r)
	c.target = randomPod(r, "target")
	o.Pods = append(o.Pods, c.target)
	return c
}

// randomPod is a pod with little of everything.
func randomPod(r *rand.Rand, name string) *corev1.Pod {
	pod := explaintest.Worker(name, []string{"one", "two", "big"}[r.IntN(3)])
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewQuantity(1+int64(r.IntN(2)), resource.DecimalSI)
	if r.IntN(4) == 0 {
		pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims = nil, nil
	}
	if r.IntN(5) == 0 {
		pod.Spec.NodeSelector = map[string]string{"zone": fmt.Sprint(r.IntN(2))}
	}
	pod.Spec.Priority = ptr.To(int32(r.IntN(3)))
	pod.CreationTimestamp = metav1.NewTime(time.Unix(int64(1000+r.IntN(5)), 0))
	if r.IntN(5) > 0 {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID("rs-" + name), Controller: ptr.To(true)}}
	}
	return pod
}

// settle puts pods on nodes.
func (c *crowd) settle(r *rand.Rand) {
	cluster := c.cluster()
	for i := range 3 + r.IntN(4) {
		pod := randomPod(r, fmt.Sprint("p", i))
		turn, err := memberOf(cluster, pod).Ask(context.Background(), cluster, nil)
		if err != nil || len(turn.Options) == 0 {
			continue
		}
		reservation, err := turn.Options[r.IntN(len(turn.Options))].Reserve(context.Background())
		if err != nil {
			continue
		}
		placed := reservation.Pod
		for k, claim := range reservation.Claims {
			placed.Status.ResourceClaimStatuses = append(placed.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{
				Name: placed.Spec.ResourceClaims[k].Name, ResourceClaimName: ptr.To(claim.Name),
			})
			c.Claims = append(c.Claims, claim)
		}
		c.Pods = append(c.Pods, placed)
		cluster = c.cluster()
	}
}

func (c *crowd) cluster() *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(*c.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
}

// exhaustive is the smallest number of moves by trying everything: all pods, in all orders, to all nodes. It
// knows nothing of how plans are found. cheapest is the lowest priority that the most important pod has which
// is moved.
func exhaustive(t *testing.T, c *crowd, most int) (moves int, highest int32, ok bool) {
	for moves = 0; moves <= most; moves++ {
		highest = 1 << 30
		var walk func(o *inspect.Objects, left int, moved []string, top int32)
		walk = func(o *inspect.Objects, left int, moved []string, top int32) {
			cluster := (&crowd{Objects: o}).cluster()
			if left == 0 {
				if top < highest && len(placements(t, cluster, c.target)) > 0 {
					highest = top
				}
				return
			}
			for _, pod := range o.Pods {
				if pod.Spec.NodeName == "" || metav1.GetControllerOf(pod) == nil || slices.Contains(moved, pod.Name) {
					continue
				}
				less := *o
				less.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return p == pod })
				less.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(claim *resourcev1.ResourceClaim) bool {
					return len(claim.Status.ReservedFor) == 1 && claim.Status.ReservedFor[0].Name == pod.Name
				})
				again := pod.DeepCopy()
				again.Spec.NodeName, again.Status = "", corev1.PodStatus{}
				for node, next := range placements(t, (&crowd{Objects: &less}).cluster(), again) {
					if node == pod.Spec.NodeName {
						continue
					}
					after := less
					after.Pods = append(slices.Clone(less.Pods), next.pod)
					after.Claims = append(slices.Clone(less.Claims), next.claims...)
					walk(&after, left-1, append(slices.Clone(moved), pod.Name), max(top, *pod.Spec.Priority))
				}
			}
		}
		walk(c.Objects, moves, nil, -1)
		if highest < 1<<30 {
			return moves, highest, true
		}
	}
	return 0, 0, false
}

// playAtRandom makes the moves as the commands say, on whatever nodes are open. In the end what needed room
// must have it.
func (c *crowd) playAtRandom(t *testing.T, r *rand.Rand, m *explain.Moves) {
	t.Helper()
	kept := 0
	for i := range m.Moves {
		if m.Moves[i].To == m.Target.Node {
			kept = i + 1
		}
	}
	o := *c.Objects
	for i := range m.Moves {
		at := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool { return p.Name == m.Moves[i].Pod.Name })
		again := o.Pods[at].DeepCopy()
		again.Spec.NodeName, again.Status = "", corev1.PodStatus{}
		o.Pods = slices.Delete(slices.Clone(o.Pods), at, at+1)
		o.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(claim *resourcev1.ResourceClaim) bool { return claim.Status.ReservedFor[0].Name == again.Name })
		open := placements(t, (&crowd{Objects: &o}).cluster(), again)
		for _, node := range m.Moves[i].Closed {
			delete(open, string(node))
		}
		if i >= kept {
			delete(open, string(m.Target.Node))
		}
		if len(open) != m.Moves[i].AnyOf {
			t.Errorf("move %d of %s: %d nodes are open, %d were said to be", i, m.Target.Subject.Name, len(open), m.Moves[i].AnyOf)
		}
		if len(open) == 0 {
			return
		}
		nodes := slices.Sorted(maps.Keys(open))
		to := open[nodes[r.IntN(len(nodes))]]
		o.Pods, o.Claims = append(o.Pods, to.pod), append(o.Claims, to.claims...)
	}
	if _, ok := placements(t, (&crowd{Objects: &o}).cluster(), c.target)[string(m.Target.Node)]; !ok {
		t.Errorf("after %+v the pod does not fit on %s", m.Moves, m.Target.Node)
	}
}

type placement struct {
	pod    *corev1.Pod
	claims []*resourcev1.ResourceClaim
}

// placements asks the filters and the allocator of each node.
func placements(t *testing.T, c *scheduler.Cluster, pod *corev1.Pod) map[string]placement {
	out := map[string]placement{}
	prepared := c.Filters().Prepare(pod)
	var claims []*resourcev1.ResourceClaim
	for _, entry := range pod.Spec.ResourceClaims {
		tmpl, ok := c.Snapshot().Template(pod.Namespace, *entry.ResourceClaimTemplateName)
		if !ok {
			t.Fatal("no template")
		}
		claims = append(claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-moved"}, Spec: tmpl.Spec.Spec})
	}
	for _, node := range c.Snapshot().Nodes() {
		if len(prepared.On(inspect.NodeName(node.Name)).Refusals) > 0 {
			continue
		}
		p := placement{pod: pod.DeepCopy()}
		p.pod.Spec.NodeName = node.Name
		if len(claims) > 0 {
			result, err := c.Allocate(t.Context(), node, claims, nil)
			if err != nil {
				t.Fatal(err)
			}
			if result.Outcome != allocator.Allocated {
				continue
			}
			for i := range claims {
				claim := claims[i].DeepCopy()
				claim.Status.Allocation = &result.Allocations[i]
				claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
				p.claims = append(p.claims, claim)
				p.pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: pod.Spec.ResourceClaims[i].Name, ResourceClaimName: &claim.Name}}
			}
		}
		out[node.Name] = p
	}
	return out
}

// TestMovesOfRandomProblems compares the number of moves, and the priority of those that are moved, with
// trying everything.
func TestMovesOfRandomProblems(t *testing.T) {
	problems := effort.Of(500, 100)
	counts := map[string]int{}
	for i := range problems {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		c := randomCrowd(r)
		for range 50 {
			if len(placements(t, c.cluster(), c.target)) == 0 {
				break
			}
			c = randomCrowd(r)
		}
		most := 2
		if len(c.Pods) <= 5 {
			most = 3
		}
		got, err := MakeRoom(t.Context(), c.cluster(), c.target)
		if err != nil {
			t.Fatal(err)
		}
		want, highest, ok := exhaustive(t, c, most)
		switch {
		case !ok && got.Verdict == explain.Feasible && len(got.Moves) <= most, !ok && got.Verdict == explain.JointUnknown,
			ok && (got.Verdict != explain.Feasible || len(got.Moves) != want || !got.Proven):
			t.Errorf("problem %d: %s, %d moves (proven %t), %s; by trying everything: %d, %t", i, got.Verdict, len(got.Moves), got.Proven, got.Message, want, ok)
		case ok && want > 0 && highestOf(got) != highest:
			t.Errorf("problem %d: pods of priority %d are moved, %d would do", i, highestOf(got), highest)
		}
		if got.Target != nil {
			c.playAtRandom(t, r, got)
		}
		counts[fmt.Sprint(got.Verdict, " ", len(got.Moves))]++
	}
	t.Log(counts)
	for _, kind := range []string{"Feasible 1", "Feasible 2", "Infeasible 0"} {
		if counts[kind] < problems/100 {
			t.Errorf("only %d problems are %s", counts[kind], kind)
		}
	}
}

func highestOf(m *explain.Moves) int32 {
	out := int32(-1)
	for i := range m.Moves {
		out = max(out, m.Moves[i].Priority)
	}
	return out
}

// TestNoMoves: that there are no moves is certain only if all were tried, and so is how many are needed at
// least.
func TestNoMoves(t *testing.T) {
	for name, test := range map[string]struct {
		problem problem
		verdict explain.JointVerdict
		atLeast int
	}{
		"all tried":          {problem{}, explain.Infeasible, 4},
		"some depend":        {problem{other: make([]*candidate, 1)}, explain.JointUnknown, 2},
		"not known":          {problem{unsure: true}, explain.JointUnknown, 2},
		"given up on before": {problem{partly: true}, explain.JointUnknown, 4},
	} {
		out := &explain.Moves{AtLeast: 9}
		if test.problem.none(out); out.Verdict != test.verdict || (out.AtLeast == 0) != (test.verdict == explain.Infeasible) {
			t.Errorf("%s: %+v", name, out)
		}
		if n := test.problem.refuted(3); n != test.atLeast {
			t.Errorf("%s: at least %d, want %d", name, n, test.atLeast)
		}
	}
}
