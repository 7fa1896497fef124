package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
)

// second is a pod that was created in a second.
func second(n int, pod *corev1.Pod) *corev1.Pod {
	pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC))
	return pod
}

// besideDB is a pod that has to be on a node with one that is labelled db.
func besideDB(name string, labels map[string]string) *corev1.Pod {
	pod := explaintest.Worker(name, "one")
	pod.Labels = labels
	pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, TopologyKey: corev1.LabelHostname},
	}}}
	return pod
}

// TestQueue: what is said of a pod by itself is said of it with those before it, too.
func TestQueue(t *testing.T) {
	for _, test := range []struct {
		name    string
		pods    []*corev1.Pod // the last is asked about
		verdict explain.Verdict
		queue   explain.Verdict
		before  int
		after   string
		message string
	}{
		{"the first", []*corev1.Pod{second(1, explaintest.Worker("b", "eight")), second(0, explaintest.Worker("a", "eight"))}, explain.Allocatable, explain.Allocatable, 0, "", "can be scheduled on node node-0000"},
		{"behind one that takes all", []*corev1.Pod{second(0, explaintest.Worker("a", "eight")), second(1, explaintest.Worker("b", "eight"))}, explain.Allocatable, explain.Unsatisfiable, 1, "a", " now, but not behind 1 pod before it in kube-scheduler's queue"},
		{"behind one that leaves room", []*corev1.Pod{second(0, explaintest.Worker("a", "four")), second(1, explaintest.Worker("b", "four"))}, explain.Allocatable, explain.Allocatable, 1, "a", "can be scheduled on node node-0000"},
		{"behind one that takes nothing", []*corev1.Pod{second(0, explaintest.Worker("a", "none")), second(1, explaintest.Worker("b", "eight"))}, explain.Allocatable, explain.Allocatable, 1, "", "can be scheduled on node node-0000"},
		{"of the same second", []*corev1.Pod{second(0, explaintest.Worker("a", "eight")), second(0, explaintest.Worker("b", "eight"))}, explain.Allocatable, explain.Unknown, 1, "", "is not known"},
		{"fits nowhere", []*corev1.Pod{second(0, explaintest.Worker("a", "eight")), second(1, explaintest.Worker("b", "none"))}, explain.Unsatisfiable, explain.Unsatisfiable, 1, "", "cannot be scheduled"},
		{"waits for one that comes later", []*corev1.Pod{second(1, besideDB("a", map[string]string{"app": "db"})), second(0, besideDB("b", nil))}, explain.Unsatisfiable, explain.Allocatable, 0, "a", "does not fit yet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(1)
			o.Pods = append(o.Pods, test.pods...)
			c := explaintest.NewCluster(*o)
			e, err := question.PodObject(t.Context(), c, test.pods[len(test.pods)-1], question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{}); err != nil || e.Queue == nil {
				t.Fatal(e.Queue, err)
			}
			var after []string
			for _, s := range e.Queue.After {
				after = append(after, s.Name)
			}
			if q := e.Queue; e.Verdict != test.verdict || q.Verdict != test.queue || q.Before != test.before || q.Waiting != 2 || strings.Join(after, " ") != test.after {
				t.Errorf("%s, %+v, want %+v", e.Verdict, q, test)
			}
			if !strings.Contains(e.Message, test.message) || e.Verdict == explain.Unsatisfiable && e.Queue.Verdict == explain.Allocatable && len(e.Fixes) > 0 {
				t.Errorf("%s; fixes %v", e.Message, e.Fixes)
			}
		})
	}
}

// TestQueuePlenty: a pod that fits on more nodes than there are pods before it is not placed with them,
// unless one of them may take from more than its node.
func TestQueuePlenty(t *testing.T) {
	shared := func(name string, at int) *corev1.Pod {
		pod := second(at, explaintest.Worker(name, "one"))
		pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: new("shared")}
		return pod
	}
	for _, test := range []struct {
		name   string
		nodes  int
		before []*corev1.Pod
		asked  *corev1.Pod
		all    bool // all nodes reach the devices of the first
		want   bool
	}{
		{"more nodes than pods", 3, []*corev1.Pod{second(0, explaintest.Worker("a", "eight")), second(1, explaintest.Worker("b", "eight"))}, second(2, explaintest.Worker("c", "eight")), false, true},
		{"as many nodes as pods", 2, []*corev1.Pod{second(0, explaintest.Worker("a", "eight")), second(1, explaintest.Worker("b", "eight"))}, second(2, explaintest.Worker("c", "one")), false, false},
		{"one that repels", 3, []*corev1.Pod{second(0, besideDB("a", nil))}, second(2, explaintest.Worker("c", "eight")), false, false},
		{"it wants to be beside another", 3, []*corev1.Pod{second(0, explaintest.Worker("a", "one"))}, second(2, besideDB("c", map[string]string{"app": "db"})), false, false},
		{"the same claim", 3, []*corev1.Pod{shared("a", 0)}, shared("c", 2), false, false},
		{"nodes cannot be compared for it", 3, []*corev1.Pod{second(0, explaintest.Worker("a", "one"))}, incomparable(second(2, explaintest.Worker("c", "one"))), false, false},
		{"devices of all nodes", 3, []*corev1.Pod{second(0, explaintest.Worker("a", "one"))}, second(2, explaintest.Worker("c", "one")), true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(test.nodes)
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "shared"}, Spec: o.Templates[0].Spec.Spec}
			o.Pods, o.Claims = append(o.Pods, append(test.before, test.asked)...), append(o.Claims, claim)
			if test.all {
				o.Slices[0].Spec.NodeName, o.Slices[0].Spec.AllNodes = nil, new(true)
			}
			c := explaintest.NewCluster(*o)
			e, err := question.PodObject(t.Context(), c, test.asked, question.Options{})
			if err != nil || e.Verdict != explain.Allocatable {
				t.Fatal(e, err)
			}
			q := &queueing{Explanation: e, pod: test.asked, before: test.before}
			if got := q.plenty(c); got != test.want {
				t.Errorf("plenty is %v, want %v", got, test.want)
			}
			if err := Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{}); err != nil || test.want && e.Queue.After != nil {
				t.Errorf("%+v, %v", e.Queue, err)
			}
			if !test.want {
				return
			}
			r, err := playWith(t.Context(), c, []*corev1.Pod{test.asked}, test.before, replay.Choosing{})
			if err != nil || !r.Certain || len(r.Placed) != 1 || e.Queue.Verdict != explain.Allocatable {
				t.Errorf("it was played otherwise: %+v, %v", r, err)
			}
		})
	}
}

// TestQueueComparing: a pod for which kube-scheduler cannot compare nodes is not said to fit behind another,
// however many nodes there are.
func TestQueueComparing(t *testing.T) {
	o := explaintest.SmallFarm(3)
	asked := incomparable(second(2, explaintest.Worker("c", "one")))
	o.Pods = append(o.Pods, second(0, explaintest.Worker("a", "one")), asked)
	c := explaintest.NewCluster(*o)
	e, err := question.PodObject(t.Context(), c, asked, question.Options{})
	if err != nil || e.Verdict != explain.Allocatable {
		t.Fatal(e, err)
	}
	if err := Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{}); err != nil || e.Queue.Verdict == explain.Allocatable {
		t.Errorf("%+v, %v", e.Queue, err)
	}
}

// incomparable lets a pod prefer nodes by a value that the API server lets in and kube-scheduler cannot read.
func incomparable(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpGt, Values: []string{"-1"}}}}},
	}}}
	return pod
}

// TestQueueOfSeveral: several pods that are asked about together are said to be behind others that are not.
func TestQueueOfSeveral(t *testing.T) {
	o := explaintest.SmallFarm(1)
	o.Pods = append(o.Pods, second(0, explaintest.Worker("a", "eight")), second(1, explaintest.Worker("b", "four")), second(2, explaintest.Worker("c", "four")))
	c := explaintest.NewCluster(*o)
	answers, err := question.Objects(t.Context(), c, []metav1.Object{o.Pods[1], o.Pods[2]}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Queue(t.Context(), c, answers, replay.Choosing{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range answers {
		if e.Verdict != explain.Allocatable || e.Queue == nil || e.Queue.Verdict != explain.Unsatisfiable || !slices.Contains(e.Queue.After, explain.Subject{Kind: "Pod", Namespace: "ml", Name: "a"}) {
			t.Errorf("%s: %s, %+v", e.Message, e.Verdict, e.Queue)
		}
	}
}

// TestPendingCodes: the code of a pod that is left waiting is that of the cause which its message tells.
func TestPendingCodes(t *testing.T) {
	c := explaintest.DemoCluster(t)
	waiting, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, err := Place(t.Context(), c, waiting, Options{NoJoint: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"train-0": "NotEnoughDevices", "driver-canary": "DeviceTainted", "sweep-2": "SelectorError", "cdn-egress-2": "CapacityInsufficient",
		"whisper-large": "DeviceInUse", "transcode-8k": "PoolIncomplete", "pretrain-2": "NotEnoughDevices", "llama-405b-eval": "SelectorRejected",
		"thumbnails": "InsufficientResources", "rerank-0": "ClassNotFound", "eval-nightly": "SchedulingGated",
	}
	for i := range p.Replay.Pending {
		pending := &p.Replay.Pending[i]
		if code := want[pending.Subject.Name]; code != "" && code != string(pending.Code) {
			t.Errorf("%s: %s (%s), want %s", pending.Subject.Name, pending.Code, pending.Message, code)
		}
		delete(want, pending.Subject.Name)
	}
	if len(want) > 0 {
		t.Errorf("not pending: %v", want)
	}
}

// TestDropChoiceOfTemplate: what is to be written in a template is not said of a claim that is still to be
// made, and is tried for all claims that are made from it.
func TestDropChoiceOfTemplate(t *testing.T) {
	o := explaintest.SmallFarm(1)
	o.Templates = append(o.Templates, firstOf("choice", `device.attributes["gpu.example.com"].model == "best"`), explaintest.Template("best", 1, `device.attributes["gpu.example.com"].model == "best"`))
	o.Slices[0].Spec.Devices = []resourcev1.Device{explaintest.ModelDevice("a0", "a"), explaintest.ModelDevice("a1", "a"), explaintest.ModelDevice("a2", "a"), explaintest.ModelDevice("a3", "a"), explaintest.ModelDevice("b", "best")}
	p := place(t, o, second(0, explaintest.Worker("x", "choice")), second(1, explaintest.Worker("y", "choice")), second(2, explaintest.Worker("only", "best")))
	i := slices.IndexFunc(p.Changes, func(f explain.Fix) bool { return f.Kind == explain.DropChoice })
	if i < 0 {
		t.Fatalf("%+v", p.Changes)
	}
	change := p.Changes[i].Changes[0]
	if change.Kind != "ResourceClaimTemplate" || change.Name != "choice" || change.Patch[0].Path != "/spec/spec/devices/requests/0/firstAvailable/0" {
		t.Errorf("%+v", change)
	}
	o.Slices[0].Spec.Devices = o.Slices[0].Spec.Devices[1:] // one too few for both without it
	p = place(t, o, second(0, explaintest.Worker("x", "choice")), second(1, explaintest.Worker("only", "best")), second(2, explaintest.Worker("y", "choice")))
	if slices.ContainsFunc(p.Changes, func(f explain.Fix) bool { return f.Kind == explain.DropChoice }) {
		t.Errorf("%+v", p.Changes)
	}
}

// TestPlaceAfterFailure: whom kube-scheduler fails to choose a node for is tried again, and placed once only
// one node is left to choose from.
func TestPlaceAfterFailure(t *testing.T) {
	o := explaintest.SmallFarm(2)
	o.Nodes[1].Labels["disk"] = "ssd"
	bad := second(0, explaintest.Worker("bad", "four"))
	bad.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
		Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"-1"}}}},
	}}}}
	last := second(1, explaintest.Worker("last", "eight"))
	last.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	p := place(t, o, bad, last)
	if got, want := explaintest.Ends(&p.Replay), "last→node-0001/1, bad→node-0000/1"; got != want || !p.Replay.Certain {
		t.Errorf("%s, want %s; certain %t (%v)", got, want, p.Replay.Certain, p.Replay.Remarks)
	}
}

// TestPlaceEqualBesideAnother: which of equal pods of one second is left waiting is not certain, also where
// another one of that second may take the room of both.
func TestPlaceEqualBesideAnother(t *testing.T) {
	a, b := second(0, explaintest.Worker("a", "eight")), second(0, explaintest.Worker("b", "eight"))
	p := place(t, explaintest.SmallFarm(1), a, b, second(0, explaintest.Worker("other", "four")))
	for _, pending := range p.Replay.Pending {
		if pending.Verdict != explain.Unknown {
			t.Errorf("%s is left waiting: %s, %s", pending.Subject.Name, pending.Verdict, pending.Message)
		}
	}
	if p.Replay.Certain || !p.LeavesSome() {
		t.Errorf("certain %t, leaves some %t", p.Replay.Certain, p.LeavesSome())
	}
}
