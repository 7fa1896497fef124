package triage

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// randomCluster has pods that wait, some of them alike, beside those that run; nodes have two devices each,
// some of which are held.
func randomCluster(seed int) *scheduler.Cluster {
	g := randompod.New(seed)
	o := g.World()
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
	for i, node := range o.Nodes {
		o.Slices = append(o.Slices, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: resourcev1.ResourceSliceSpec{
				Driver: explaintest.Driver, NodeName: ptr.To(node.Name), Pool: resourcev1.ResourcePool{Name: node.Name, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
			},
		})
		if (seed+i)%2 == 0 {
			held := explaintest.AllocatedClaim(fmt.Sprint("held-", i), node.Name, 0)
			o.Claims = append(o.Claims, held)
			o.Pods = append(o.Pods, &corev1.Pod{ // which ends with the claim, and makes room for more than devices
				ObjectMeta: metav1.ObjectMeta{Namespace: held.Namespace, Name: held.Name, UID: "1"},
				Spec: corev1.PodSpec{
					NodeName: node.Name, ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &held.Name}},
					Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}}},
				},
				Status: corev1.PodStatus{Phase: corev1.PodRunning},
			})
		}
	}
	for _, pod := range o.Pods { // what is nominated would wait too
		if pod.Spec.NodeName == "" {
			pod.Spec.NodeName, pod.Status.NominatedNodeName = pod.Status.NominatedNodeName, ""
		}
	}
	for shape := range 4 {
		pod := g.Pod(fmt.Sprint("waits-", shape))
		pod.Spec.NodeName, pod.Status, pod.DeletionTimestamp = "", corev1.PodStatus{}, nil
		if shape%2 == 0 { // simple ones fit more often
			pod.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}, Priority: pod.Spec.Priority}
		}
		o.VolumeClaims = append(o.VolumeClaims, g.ClaimsOf(pod)...)
		for copy := range 1 + shape {
			one := pod.DeepCopy()
			one.Name = fmt.Sprintf("waits-%d-%d", shape, copy)
			if shape != 1 {
				claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: one.Namespace, Name: one.Name}}
				claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
					DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(1 + shape/3)}}}
				o.Claims = append(o.Claims, claim)
				one.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(one.Name)}}
			}
			o.Pods = append(o.Pods, one)
		}
	}
	o.Sort()
	return scheduler.NewCluster(inspect.New(o, inspect.Config{ServerVersion: "v1.37.1", Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: synced()}), scheduler.Options{Library: explaintest.Expressions})
}

func synced() map[inspect.Resource]inspect.Health {
	out := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		out[r] = inspect.Health{State: inspect.Synced}
	}
	return out
}

// simply schedules a queue with none of the shortcuts: every pod that is not placed is asked about on all
// nodes, again and again until nothing changes.
func simply(ctx context.Context, t *testing.T, c *scheduler.Cluster, queue []queued, chosen map[explain.Subject]inspect.NodeName) map[string]inspect.NodeName {
	t.Helper()
	nodes := map[string]inspect.NodeName{}
	for before := -1; before != len(nodes); {
		before = len(nodes)
		for _, q := range queue {
			pod, ok := q.subject.(*corev1.Pod)
			if _, known := nodes[q.subject.GetName()]; known || !ok {
				continue
			}
			d, err := question.Decide(ctx, c, pod, question.Options{})
			if node, ok := chosen[cycle.SubjectOf(pod)]; ok && err == nil {
				var there *question.Decision
				if there, err = question.Decide(ctx, c, pod, question.Options{Node: node}); err == nil && there.Took != nil {
					d = there
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Verdict == explain.Allocatable || d.Verdict == explain.Allocated {
				nodes[pod.Name] = inspect.NodeName(d.Took.Pod.Spec.NodeName)
				c = scheduler.NewCluster(replay.With(c, d.Took).Snapshot(), scheduler.Options{Library: explaintest.Expressions})
			}
		}
	}
	return nodes
}

// playedRun is what becomes of a queue.
func playedRun(t *testing.T, c *scheduler.Cluster, queue []queued) *run {
	t.Helper()
	_, played, err := plan.Outcome(t.Context(), c, replay.Choosing{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runOf(t.Context(), c, queue, played, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestShortcuts compares the placements of random queues with those that are found without shortcuts, and the
// effect of fixes that change the cluster with what comes of the same changes made by hand.
func TestShortcuts(t *testing.T) {
	fit, wait, tried := 0, 0, map[explain.FixKind]int{}
	n := effort.InUsual(12, effort.Of(1_000, 20))
	for seed := range n {
		c := randomCluster(seed)
		queue, _ := queueOf(c.Snapshot(), Options{})
		r := playedRun(t, c, queue)
		want := simply(t.Context(), t, c, queue, r.nodes)
		for i, q := range queue {
			_, ok := want[q.subject.GetName()]
			if _, pod := q.subject.(*corev1.Pod); pod && ok != (r.outcomes[i] == placed) {
				t.Fatalf("seed %d: %s is placed: %t, want %t", seed, q.subject.GetName(), !ok, ok)
			}
			if ok {
				fit++
			} else {
				wait++
			}
		}
		for name, node := range r.nodes {
			if want[name.Name] != node {
				t.Fatalf("seed %d: %s is placed on %s, want %s", seed, name.Name, node, want[name.Name])
			}
		}
		checkTriage(t, seed, c, queue, want, tried)
	}
	t.Logf("%d placed, %d stuck, fixes %v", fit, wait, tried)
	least := n / 60 // of each; in the usual run it takes what comes
	for _, kind := range []explain.FixKind{explain.ReleaseClaim, explain.MovePod, explain.UncordonNode} {
		if tried[kind] < least {
			t.Errorf("%d fixes %s, want at least %d", tried[kind], kind, least)
		}
	}
	if fit < n || wait < n {
		t.Errorf("%d placed and %d stuck, want at least %d of each", fit, wait, n)
	}
}

// checkTriage checks that every pod is told once, and what fixes free.
func checkTriage(t *testing.T, seed int, c *scheduler.Cluster, queue []queued, before map[string]inspect.NodeName, tried map[explain.FixKind]int) {
	t.Helper()
	got, err := Of(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, s := range got.Ready {
		told[s.Name]++
	}
	for _, s := range got.Depends {
		told[s.Name]++
	}
	for i := range got.Causes {
		for _, s := range got.Causes[i].Subjects {
			told[s.Name]++
		}
		for j := range got.Causes[i].Fixes {
			checkFix(t, seed, c, queue, before, &got.Causes[i].Fixes[j], tried)
		}
	}
	for _, q := range queue {
		if told[q.subject.GetName()] != 1 {
			t.Fatalf("seed %d: %s is told %d times", seed, q.subject.GetName(), told[q.subject.GetName()])
		}
	}
}

// checkFix makes a change of the cluster by hand, and schedules everything again.
func checkFix(t *testing.T, seed int, c *scheduler.Cluster, queue []queued, before map[string]inspect.NodeName, f *explain.CauseFix, tried map[explain.FixKind]int) {
	t.Helper()
	if len(f.Also) > 0 || f.Kind != explain.ReleaseClaim && f.Kind != explain.MovePod && f.Kind != explain.UncordonNode {
		return
	}
	tried[f.Kind]++
	changed := scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { byHand(o, &f.Fix) }), scheduler.Options{Library: explaintest.Expressions})
	after := simply(t.Context(), t, changed, queue, playedRun(t, changed, queue).nodes)
	var frees, loses []string
	for _, q := range queue {
		_, was := before[q.subject.GetName()]
		_, is := after[q.subject.GetName()]
		switch {
		case is && !was:
			frees = append(frees, q.subject.GetName())
		case was && !is:
			loses = append(loses, q.subject.GetName())
		}
	}
	if !slices.Equal(names(f.Frees), frees) || !slices.Equal(names(f.Loses), loses) {
		t.Fatalf("seed %d: %s frees %v and loses %v, want %v and %v", seed, f.Message, names(f.Frees), names(f.Loses), frees, loses)
	}
}

func byHand(o *inspect.Objects, f *explain.Fix) {
	for _, h := range f.Claims {
		i := slices.IndexFunc(o.Claims, func(claim *resourcev1.ResourceClaim) bool { return inspect.RefOf(claim) == h.Claim })
		o.Claims[i] = o.Claims[i].DeepCopy()
		o.Claims[i].Status = resourcev1.ResourceClaimStatus{}
		o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool {
			return slices.Contains(h.Pods, inspect.PodRef{Namespace: p.Namespace, Name: p.Name})
		})
	}
	o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool {
		return slices.Contains(f.Pods, inspect.PodRef{Namespace: p.Namespace, Name: p.Name})
	})
	for i, claim := range o.Claims { // of a pod of the same name: Kubernetes clears it when that ends
		if slices.Contains(f.Pods, inspect.PodRef(inspect.RefOf(claim))) {
			o.Claims[i] = claim.DeepCopy()
			o.Claims[i].Status = resourcev1.ResourceClaimStatus{}
		}
	}
	for i, node := range o.Nodes {
		if f.Kind == explain.UncordonNode && node.Name == string(f.Node) {
			o.Nodes[i] = node.DeepCopy()
			o.Nodes[i].Spec.Unschedulable = false
		}
	}
}

func names(list []explain.Subject) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}
