package disruption

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestPlayEnding: who is being deleted already does not come back by an event, unless its controller waits
// until it is gone.
func TestPlayEnding(t *testing.T) {
	for owner, want := range map[string]string{
		"ReplicaSet": "five is being deleted already", "StatefulSet": "five Pending",
	} {
		o := explaintest.SmallFarm(2)
		o.Templates[0] = explaintest.Template("one", 5, "")
		pod := explaintest.AddRunning(o, "five", "node-0000", owner, 0, 1, 2, 3, 4)
		pod.DeletionTimestamp = ptr.To(metav1.Now())
		explaintest.AddRunning(o, "again", "node-0001", owner, 0, 1, 2, 3, 4)
		c := explaintest.NewCluster(*o)
		s := c.Snapshot()
		lost := func(id inspect.DeviceID) bool { return id.Pool == "node-0000" }
		for _, e := range []*Event{Drain(s, "node-0000"), LoseNodes(s, "node-0000"), LoseDevices(s, "all", lost)} {
			d, err := Play(t.Context(), c, e)
			if err != nil || gone(d) != want || len(d.Claims) != 1 {
				t.Errorf("%s by %s: %s, %d claims, %v", owner, e.What, gone(d), len(d.Claims), err)
			}
			if back := slices.ContainsFunc(After(s, e).Objects().Pods, func(p *corev1.Pod) bool { return p.Name == "five" }); back != (owner == "StatefulSet") {
				t.Errorf("%s after %s: comes back %t", owner, e.What, back)
			}
		}
		if d, err := Play(t.Context(), c, Evict(pod)); err != nil || (len(d.Gone) == 1) != (owner == "StatefulSet") {
			t.Errorf("%s evicted: %s, %v", owner, gone(d), err)
		}
	}
}

// TestPlayDepends: who has no room in the run that was played, and has in another one, is not left waiting
// for certain.
func TestPlayDepends(t *testing.T) {
	o := explaintest.SmallFarm(3)
	explaintest.AddRunning(o, "any", "node-0001", "Job", 0)
	pod := explaintest.AddRunning(o, "only", "node-0001", "Job", 1)
	pod.Spec.ResourceClaims[0].ResourceClaimTemplateName = ptr.To("old")
	o.Slices[2].Spec.Devices = o.Slices[2].Spec.Devices[:1]
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0001"))
	if err != nil || len(d.Gone) != 2 || d.Replay.Certain {
		t.Fatalf("%s, certain %t, %v", gone(d), d.Replay.Certain, err)
	}
	for _, g := range d.Gone {
		if g.Pending != nil && g.Pending.Verdict != explain.Unknown {
			t.Errorf("%s is left waiting: %s, %s", g.Subject.Name, g.Pending.Verdict, g.Pending.Message)
		}
	}
}

// TestLoseNodeShared: a claim that the pod of a daemon set shares is released when the node is gone.
func TestLoseNodeShared(t *testing.T) {
	o := explaintest.SmallFarm(2)
	explaintest.AddRunning(o, "daemon", "node-0000", "DaemonSet", 0)
	shared := o.Claims[0]
	shared.OwnerReferences = nil
	pod := explaintest.Worker("a", "one")
	pod.Spec.NodeName = "node-0000"
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "owner", Controller: ptr.To(true)}}
	pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: &shared.Name}
	shared.Status.ReservedFor = append(shared.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "a", UID: pod.UID})
	o.Pods = append(o.Pods, pod)
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, LoseNodes(c.Snapshot(), "node-0000"))
	if err != nil || gone(d) != "a Placed node-0001, daemon goes with its node" {
		t.Errorf("%s, %v", gone(d), err)
	}
}

// TestStrandedEnded: a claim that is reserved for a pod that has ended is released without anybody doing
// something.
func TestStrandedEnded(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]int{corev1.PodSucceeded: 0, corev1.PodRunning: 1} {
		o := explaintest.SmallFarm(1)
		explaintest.AddRunning(o, "a", "node-0000", "Job", 0).Status.Phase = phase
		if phase == corev1.PodRunning {
			o.Claims[0].Status.ReservedFor[0].Name, o.Claims[0].OwnerReferences = "other", nil
		}
		c := explaintest.NewCluster(*o)
		d, err := Play(t.Context(), c, LoseDevices(c.Snapshot(), "all", func(inspect.DeviceID) bool { return true }))
		if n := len(slices.DeleteFunc(d.Besides, func(n explain.Note) bool { return n.Kind != "ResourceClaim" })); err != nil || n != want {
			t.Errorf("%s: %d stranded, %v", phase, n, err)
		}
	}
}

// TestPlayUnread: an event of which not all pods are known ends nobody for certain.
func TestPlayUnread(t *testing.T) {
	for _, resources := range [][]inspect.Resource{{inspect.Pods}, {inspect.Claims}} {
		c := explaintest.Unreadable(explaintest.BusyFarm(), resources...)
		s := c.Snapshot()
		rest := func(inspect.DeviceID) bool { return true }
		for _, e := range []*Event{Drain(s, "node-0000"), LoseNodes(s, "node-0000"), LoseDevices(s, "all", rest), DeleteNamespace(s, "ml")} {
			d, err := Play(t.Context(), c, e)
			if err != nil {
				t.Fatal(err)
			}
			if !d.Unseen || d.Replay.Certain && slices.ContainsFunc(d.Gone, func(g explain.GonePod) bool { return g.Then == explain.ComesBack }) {
				t.Errorf("%v, %s: unseen %t, certain %t", resources, d.What, d.Unseen, d.Replay.Certain)
			}
		}
		var parts []Part
		for _, node := range s.Nodes() {
			parts = append(parts, Part{Name: node.Name})
		}
		w, err := FindWeakest(t.Context(), c, parts, 1, func(p []Part) *Event { return LoseNodes(s, inspect.NodeName(p[0].Name)) })
		if err != nil || w.Certain {
			t.Errorf("%v: the weakest is certain: %+v, %v", resources, w, err)
		}
	}
}

// TestLossUnread: who would perhaps have been placed without an event does not lose his place for certain.
func TestLossUnread(t *testing.T) {
	for _, test := range []struct {
		unread []inspect.Resource
		want   explain.Verdict
	}{{nil, explain.Unsatisfiable}, {[]inspect.Resource{inspect.TaintRules}, explain.Unknown}} {
		o := explaintest.SmallFarm(1)
		o.Pods = append(o.Pods, explaintest.Worker("waits", "eight"))
		c := explaintest.Unreadable(o, test.unread...)
		d, err := Play(t.Context(), c, LoseDevices(c.Snapshot(), "all", func(inspect.DeviceID) bool { return true }))
		if err != nil || len(d.Losses) != 1 || d.Losses[0].Verdict != test.want {
			t.Errorf("without %v: %+v, %v", test.unread, d, err)
		}
	}
}

// TestLossesAreBounded: the larger a cluster is, the longer one loss takes, so the fewer are played.
func TestLossesAreBounded(t *testing.T) {
	for nodes, want := range map[int]int{1: 400, 1000: 400, 4000: 100, 25_000: 20} {
		o := &inspect.Objects{}
		for i := range nodes {
			o.Nodes = append(o.Nodes, &corev1.Node{})
			o.Nodes[i].Name = fmt.Sprint("n", i)
		}
		if got := lossesFor(explaintest.NewCluster(*o).Snapshot()); got != want {
			t.Errorf("%d nodes: %d losses, want %d", nodes, got, want)
		}
	}
}

// TestPlayLeavesSome: that some of those who are to come back find no node is certain, whichever these are.
func TestPlayLeavesSome(t *testing.T) {
	o := explaintest.SmallFarm(2)
	o.Templates = append(o.Templates, explaintest.Template("five", 5, ""), explaintest.Template("six", 6, ""))
	for i, name := range []string{"five", "six"} {
		pod := explaintest.AddRunning(o, name, "node-0001", "Job", i)
		pod.Spec.ResourceClaims[0].ResourceClaimTemplateName = &name
	}
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Time: time.Unix(1_800_000_000, 0)}), scheduler.Options{})
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0001"))
	if err != nil || !d.LeavesSome || d.Replay.Certain || !strings.Contains(strings.Join(d.Replay.Remarks, ";"), "not all of them find a node") {
		t.Errorf("%s, leaves some %t, %v, %v", gone(d), d.LeavesSome, d.Replay.Remarks, err)
	}
}

// TestPlayOtherScheduler: what another scheduler makes of its pods is not certain.
func TestPlayOtherScheduler(t *testing.T) {
	o := explaintest.BusyFarm()
	o.Pods[0].Spec.SchedulerName = "volcano"
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0000"))
	if err != nil || d.Replay.Certain || !strings.HasPrefix(gone(d), "five Placed node-0001") {
		t.Errorf("%s, certain %t, %v", gone(d), d.Replay.Certain, err)
	}
}

// TestPlayWithoutClaims: what is not known of pods that run is not known of those that go either.
func TestPlayWithoutClaims(t *testing.T) {
	for _, gone := range []bool{false, true} {
		o := explaintest.BusyFarm()
		o.Pods = o.Pods[:4] // none of which waits
		if gone {
			o.Claims = o.Claims[1:]
		}
		c := explaintest.NewCluster(*o)
		d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0001"))
		if err != nil || d.Unseen != gone {
			t.Errorf("gone %t: unseen %t, %v", gone, d.Unseen, err)
		}
	}
}
