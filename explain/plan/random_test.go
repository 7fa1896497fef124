package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// problem is a small random cluster with pods to place.
type problem struct {
	objects inspect.Objects
	pods    []*corev1.Pod
}

func randomProblem(rng *rand.Rand) *problem {
	p := &problem{objects: *explaintest.Farm(0)}
	o := &p.objects
	for i := range 2 + rng.IntN(3) {
		explaintest.AddRandomNode(rng, o, fmt.Sprintf("n%d", i))
	}
	if rng.IntN(4) == 0 {
		o.Slices = append(o.Slices, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: "shelf"},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", AllNodes: ptr.To(true), Pool: resourcev1.ResourcePool{Name: "shelf", Generation: 1, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{explaintest.ModelDevice("s0", "a100")},
			},
		})
	}
	const v100 = `device.attributes["gpu.example.com"].model == "v100"`
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, ""), explaintest.Template("v100", 1, v100), firstOf("choice", v100))
	shared := explaintest.Template("shared", 1, "")
	o.Claims = append(o.Claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "shared"}, Spec: shared.Spec.Spec})
	for i := range 2 + rng.IntN(4) {
		p.pods = append(p.pods, p.pod(rng, fmt.Sprintf("w%d", i)))
	}
	return p
}

// firstOf is a template for a device of a kind, or else two of any.
func firstOf(name, selector string) *resourcev1.ResourceClaimTemplate {
	out := explaintest.Template(name, 1, "")
	out.Spec.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpus", FirstAvailable: []resourcev1.DeviceSubRequest{
		{
			Name: "best", DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}},
		},
		{Name: "any", DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2},
	}}}
	return out
}

func (p *problem) pod(rng *rand.Rand, name string) *corev1.Pod {
	pod := explaintest.Worker(name, []string{"one", "one", "two", "v100", "choice"}[rng.IntN(5)])
	pod.Labels = map[string]string{"app": []string{"a", "b"}[rng.IntN(2)]}
	if rng.IntN(5) == 0 {
		pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("shared")}
	}
	if rng.IntN(6) == 0 {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, TopologyKey: corev1.LabelHostname},
		}}}
	}
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewQuantity(int64(1+rng.IntN(2)), resource.DecimalSI)
	if rng.IntN(3) == 0 {
		pod.Spec.Priority = ptr.To(int32(rng.IntN(2)))
	}
	pod.Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever)
	return pod
}

func (p *problem) cluster() *scheduler.Cluster {
	o := p.objects
	o.Nodes, o.Slices, o.Claims, o.Pods = slices.Clone(o.Nodes), slices.Clone(o.Slices), slices.Clone(o.Claims), slices.Clone(o.Pods)
	return explaintest.NewCluster(o)
}

// asked decides about a pod on a node, in a cluster of which nothing is kept.
func asked(ctx context.Context, t *testing.T, s *inspect.Snapshot, pod *corev1.Pod, node string) (*inspect.Snapshot, bool) {
	t.Helper()
	d, err := question.Decide(ctx, scheduler.NewCluster(s, scheduler.Options{}), pod, question.Options{Hypothetical: true, Node: inspect.NodeName(node)})
	if err != nil {
		t.Fatal(err)
	}
	if d.Verdict != explain.Allocatable && d.Verdict != explain.Allocated {
		return nil, false
	}
	if d.Took == nil {
		return s, true
	}
	return replay.With(scheduler.NewCluster(s, scheduler.Options{}), d.Took).Snapshot(), true
}

// TestReplayAtRandom compares what is played with what comes out when each pod is asked about on each node by
// itself.
func TestReplayAtRandom(t *testing.T) {
	tests := effort.Of(500, 60)
	placed, pending := 0, 0
	for seed := range tests {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		p := randomProblem(rng)
		got, err := Place(t.Context(), p.cluster(), p.pods, Options{NoJoint: true})
		if err != nil {
			t.Fatal(err)
		}
		want := playedFirst(t, p)
		if text := explaintest.ReplayText(&got.Replay); text != want {
			t.Fatalf("seed %d:\n%s\nwant:\n%s", seed, text, want)
		}
		placed, pending = placed+len(got.Replay.Placed), pending+len(got.Replay.Pending)
	}
	if placed < tests || pending < tests/2 {
		t.Errorf("only %d pods were placed and %d left waiting", placed, pending)
	}
}

// playedFirst takes one pod after the other, and puts each on the first node that takes it.
func playedFirst(t *testing.T, p *problem) string {
	t.Helper()
	s := p.cluster().Snapshot()
	pods := slices.Clone(p.pods)
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return int(ptr.Deref(b.Spec.Priority, 0) - ptr.Deref(a.Spec.Priority, 0)) })
	var out []string
	var left []*corev1.Pod
	for _, pod := range pods {
		on := ""
		for _, node := range s.Nodes() {
			if then, ok := asked(t.Context(), t, s, pod, node.Name); ok {
				s, on = then, node.Name
				break
			}
		}
		if on == "" {
			left = append(left, pod)
			continue
		}
		out = append(out, pod.Name+" "+on+" "+devicesIn(s, pod))
	}
	for _, pod := range left {
		out = append(out, pod.Name+" waits")
	}
	return fmt.Sprint(out)
}

// devicesIn are the devices of the claims that a pod got for itself.
func devicesIn(s *inspect.Snapshot, pod *corev1.Pod) string {
	var out []string
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil || len(claim.Status.ReservedFor) == 0 || claim.Status.ReservedFor[0].Name != pod.Name {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			out = append(out, claim.Status.Allocation.Devices.Results[i].Device)
		}
	}
	return fmt.Sprint(out)
}

// TestJointAtRandom compares whether all can be placed with what comes out when all orders and nodes are
// tried, and whether the scheduler's choices matter with all its choices.
func TestJointAtRandom(t *testing.T) {
	tests := effort.InUsual(60, effort.Of(500, 100))
	seen := map[string]int{}
	for seed := range tests + 1 {
		if seed == tests {
			seed = 1777 // where fewer pods are harder to place
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 29))
		p := randomProblem(rng)
		p.pods = p.pods[:min(4, len(p.pods))]
		got, err := Place(t.Context(), p.cluster(), p.pods, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := feasible(t, p.cluster().Snapshot(), p.pods)
		if got.Joint.Verdict == explain.JointUnknown || (got.Joint.Verdict == explain.Feasible) != want {
			t.Fatalf("seed %d: %s, want %t: %s", seed, got.Joint.Verdict, want, got.Joint.Message)
		}
		checkPlacement(t, seed, p, got.Joint)
		checkConflict(t, seed, p, got.Joint)
		ends := map[string]bool{}
		outcomes(t, p.cluster().Snapshot(), inQueue(p.pods), "", ends)
		if got.Replay.Certain != (len(ends) == 1) {
			t.Fatalf("seed %d: certain %t, and the scheduler may end with %v", seed, got.Replay.Certain, ends)
		}
		seen[fmt.Sprintf("%s, %d changes, certain %t", got.Joint.Verdict, min(1, len(got.Changes)), got.Replay.Certain)]++
	}
	t.Log(seen)
	for _, kind := range []string{"Feasible, 0 changes, certain true", "Feasible, 1 changes, certain false", "Infeasible, 0 changes, certain true"} {
		if seen[kind] < max(1, tests/100) {
			t.Errorf("%s came up only %d times", kind, seen[kind])
		}
	}
}

func inQueue(pods []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(pods)
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int { return int(ptr.Deref(b.Spec.Priority, 0) - ptr.Deref(a.Spec.Priority, 0)) })
	return out
}

// feasible reports whether some order and nodes place all pods.
func feasible(t *testing.T, s *inspect.Snapshot, pods []*corev1.Pod) bool {
	t.Helper()
	if len(pods) == 0 {
		return true
	}
	for i, pod := range pods {
		for _, node := range s.Nodes() {
			then, ok := asked(t.Context(), t, s, pod, node.Name)
			if ok && feasible(t, then, slices.Delete(slices.Clone(pods), i, i+1)) {
				return true
			}
		}
	}
	return false
}

// outcomes notes who is left waiting for each choice of nodes.
func outcomes(t *testing.T, s *inspect.Snapshot, pods []*corev1.Pod, left string, ends map[string]bool) {
	t.Helper()
	if len(pods) == 0 {
		ends[left] = true
		return
	}
	fits := false
	for _, node := range s.Nodes() {
		if then, ok := asked(t.Context(), t, s, pods[0], node.Name); ok {
			fits = true
			outcomes(t, then, pods[1:], left, ends)
		}
	}
	if !fits {
		outcomes(t, s, pods[1:], left+" "+pods[0].Name, ends)
	}
}

// checkPlacement plays a placement of all, step by step.
func checkPlacement(t *testing.T, seed int, p *problem, j *explain.JointPlan) {
	t.Helper()
	if j.Verdict != explain.Feasible {
		return
	}
	s := p.cluster().Snapshot()
	for _, step := range j.Placed {
		at := slices.IndexFunc(p.pods, func(pod *corev1.Pod) bool { return pod.Name == step.Subject.Name })
		then, ok := asked(t.Context(), t, s, p.pods[at], string(step.Node))
		if !ok {
			t.Fatalf("seed %d: %s does not fit on %s at its turn", seed, step.Subject.Name, step.Node)
		}
		s = then
	}
	if len(j.Placed) != len(p.pods) {
		t.Fatalf("seed %d: %d of %d are placed", seed, len(j.Placed), len(p.pods))
	}
}

// checkConflict sees that the pods of a conflict cannot be placed together, and all but any one of them can
// if it is minimal.
func checkConflict(t *testing.T, seed int, p *problem, j *explain.JointPlan) {
	t.Helper()
	if j.Verdict != explain.Infeasible {
		return
	}
	var pods []*corev1.Pod
	for _, subject := range j.Conflict {
		at := slices.IndexFunc(p.pods, func(pod *corev1.Pod) bool { return pod.Name == subject.Name })
		pods = append(pods, p.pods[at])
	}
	if len(pods) == 0 || feasible(t, p.cluster().Snapshot(), pods) {
		t.Fatalf("seed %d: %v can be placed together", seed, j.Conflict)
	}
	for i := range pods {
		if fewer := slices.Delete(slices.Clone(pods), i, i+1); j.Minimal && !feasible(t, p.cluster().Snapshot(), fewer) {
			t.Fatalf("seed %d: %v cannot be placed together without %s either", seed, j.Conflict, pods[i].Name)
		}
	}
	if !j.Minimal {
		t.Errorf("seed %d: a conflict of so few pods was not made minimal", seed)
	}
}
