package triage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// waiting adds a pod to objects that waits for a number of devices of class "any" by a claim of its own,
// minutes after the hour. With 0 devices it has no claim.
func waiting(o *inspect.Objects, name string, devices int64, minutes int, change ...func(*corev1.Pod)) {
	created := metav1.NewTime(time.Date(2026, 11, 20, 9, minutes, 0, 0, time.UTC))
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		if devices > 0 {
			p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(name)}}
		}
	})
	pod.Name, pod.CreationTimestamp = name, created
	for _, c := range change {
		c(pod)
	}
	o.Pods = append(o.Pods, pod)
	if devices > 0 {
		claim := explaintest.GPUClaim(devices, "any")
		claim.Namespace, claim.Name = "ml", name
		o.Claims = append(o.Claims, claim)
	}
}

// outline is what a triage says, a line for each cause, fix and subject.
func outline(t *explain.Triage) []string {
	var out []string
	for i := range t.Causes {
		c := &t.Causes[i]
		line := c.Key + " (" + string(c.Actor) + "):"
		for _, s := range c.Subjects {
			line += " " + s.Name
			if s.Behind {
				line += "*"
			}
		}
		out = append(out, line)
		for j := range c.Fixes {
			f := &c.Fixes[j]
			out = append(out, fmt.Sprintf("  %s frees %s, loses %s", f.Kind, namesOf(f.Frees), namesOf(f.Loses)))
		}
	}
	return out
}

func namesOf(list []explain.Subject) string {
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	return "[" + strings.Join(names, " ") + "]"
}

func triageOf(t *testing.T, o inspect.Objects, opts triage.Options) *explain.Triage {
	t.Helper()
	got, err := triage.Of(t.Context(), explaintest.NewCluster(o), opts)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// held lets a claim hold devices of a node.
func held(o *inspect.Objects, name string, node int, devices ...string) {
	claim := explaintest.GPUClaim(int64(len(devices)), "any")
	claim.Namespace, claim.Name = "ml", name
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	for _, device := range devices {
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpu", Driver: explaintest.Driver, Pool: explaintest.NodeName(node), Device: device,
		})
	}
	o.Claims = append(o.Claims, claim)
}

func TestTriage(t *testing.T) {
	priority := func(n int32) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	tests := []struct {
		name    string
		objects func() inspect.Objects
		want    []string
		ready   string
	}{
		{
			"different numbers of devices that are in use have one cause", func() inspect.Objects {
				o := explaintest.NodesWithDevices(4)
				held(&o, "idle", 0, "d00", "d01", "d02")
				waiting(&o, "a", 3, 0)
				waiting(&o, "b", 2, 1)
				return o
			},
			[]string{
				"HeldBy gpu.example.com (User): a b",
				"  ReleaseClaim frees [a], loses []", // b comes after it, and then one device is left
				"  ReduceCount frees [b], loses []",
			}, "",
		},
		{
			"who never fits does not wait for those before it", func() inspect.Objects {
				o := explaintest.NodesWithDevices(2)
				waiting(&o, "bad", 1, 0)
				o.Claims[0].Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(`device.attributes["gpu.example.com"].missing == "x"`)
				waiting(&o, "good", 1, 1)
				return o
			},
			[]string{
				`SelectorError device.attributes["gpu.example.com"].missing == "x" (User): bad`,
				"  RelaxSelector frees [bad], loses []",
			}, "good",
		},
		{
			"who comes first takes what others would fit on", func() inspect.Objects {
				o := explaintest.NodesWithDevices(2)
				waiting(&o, "late", 2, 5)
				waiting(&o, "early", 1, 0)
				waiting(&o, "important", 1, 9, priority(10))
				return o
			},
			[]string{
				"HeldBy gpu.example.com (ClusterAdmin): late*",
				"  AddNode frees [late], loses []",
			}, "important early",
		},
		{
			"pods that ask for the same are freed together", func() inspect.Objects {
				o := explaintest.NodesWithDevices(2, 2)
				for i := range 3 {
					waiting(&o, fmt.Sprint("w", i), 3, i)
				}
				return o
			},
			[]string{
				"Asked Count (User): w0 w1 w2",
				"  ReduceCount frees [w0 w1], loses []",
			}, "",
		},
		{
			"gates come last, and a claim that no pod uses counts if it can have nothing", func() inspect.Objects {
				o := explaintest.NodesWithDevices(1)
				for _, name := range []string{"g0", "g1"} {
					waiting(&o, name, 0, 0, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "queue"}} })
				}
				for name, n := range map[string]int64{"lonely": 2, "fine": 1} {
					claim := explaintest.GPUClaim(n, "any")
					claim.Namespace, claim.Name = "ml", name
					o.Claims = append(o.Claims, claim)
				}
				waiting(&o, "takes", 1, 9)
				return o
			},
			[]string{
				"Asked Count (User): lonely",
				"  ReduceCount frees [lonely], loses []",
				"SchedulingGated SchedulingGates SchedulingGated queue (ClusterAdmin): g0 g1",
			}, "takes",
		},
		{
			"a pod that waits for another pod is placed after it", func() inspect.Objects {
				o := explaintest.NodesWithDevices(1)
				waiting(&o, "first", 0, 0, func(p *corev1.Pod) {
					p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
						LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "second"}}, TopologyKey: corev1.LabelHostname,
					}}}}
				})
				waiting(&o, "second", 0, 1, func(p *corev1.Pod) { p.Labels = map[string]string{"app": "second"} })
				o.Nodes[0].Labels = map[string]string{corev1.LabelHostname: "n0"}
				return o
			}, nil, "first second",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := triageOf(t, tt.objects(), triage.Options{})
			lines := slices.DeleteFunc(outline(got), func(line string) bool { // others are told too; these must be there
				return strings.HasPrefix(line, "  ") && !slices.Contains(tt.want, line)
			})
			if !slices.Equal(lines, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(outline(got), "\n"), strings.Join(tt.want, "\n"))
			}
			if ready := strings.Trim(namesOf(got.Ready), "[]"); ready != tt.ready {
				t.Errorf("ready %q, want %q", ready, tt.ready)
			}
		})
	}
}

// TestNarrowed: what is not asked about still takes its turn.
func TestNarrowed(t *testing.T) {
	o := explaintest.NodesWithDevices(1)
	waiting(&o, "other", 1, 0, func(p *corev1.Pod) { p.Labels = map[string]string{"team": "other"} })
	waiting(&o, "mine", 1, 1, func(p *corev1.Pod) { p.Labels = map[string]string{"team": "mine"} })
	mine, err := labels.Parse("team=mine")
	if err != nil {
		t.Fatal(err)
	}
	got := triageOf(t, o, triage.Options{Selector: mine})
	if got.Waiting != 1 || got.Stuck() != 1 || !got.Causes[0].Subjects[0].Behind {
		t.Errorf("%d wait: %q", got.Waiting, outline(got))
	}
	if got := triageOf(t, o, triage.Options{Namespace: "elsewhere"}); got.Waiting != 0 || got.Stuck() != 0 {
		t.Errorf("%d wait elsewhere: %q", got.Waiting, outline(got))
	}
}

// TestNotDecided: what is given up, and what waits for another scheduler, is told and not judged.
func TestNotDecided(t *testing.T) {
	o := explaintest.NodesWithDevices(1)
	waiting(&o, "endless", 2, 0)
	waiting(&o, "batch", 2, 0, func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" })
	opts := triage.Options{Bound: func(context.Context, func(context.Context) error) error {
		return fmt.Errorf("giving up: %w", triage.ErrTooLong)
	}}
	got := triageOf(t, o, opts)
	if got.Stuck() != 0 || got.Undecided() != 1 || len(got.NotLookedInto) != 1 || got.NotLookedInto[0].Name != "endless" || len(got.OtherSchedulers["volcano"]) != 1 {
		t.Errorf("%d stuck, %v, %v", got.Stuck(), got.NotLookedInto, got.OtherSchedulers)
	}
}

// TestRunning: what has been scheduled and does not run, and claims that cannot go.
func TestRunning(t *testing.T) {
	o := explaintest.NodesWithDevices(2)
	held(&o, "leaving", 0, "d00")
	deleted := metav1.NewTime(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	o.Claims[0].DeletionTimestamp, o.Claims[0].Finalizers = &deleted, []string{"resource.kubernetes.io/delete-protection"}
	for _, name := range []string{"x", "y"} {
		waiting(&o, name, 0, 0, func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status.Phase = "gone", corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
	waiting(&o, "crashes", 0, 0, func(p *corev1.Pod) { // by itself: it uses no devices
		p.Spec.NodeName, p.Status.Phase = "n0", corev1.PodPending
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 9, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"},
		}}}
	})
	waiting(&o, "leaves", 0, 0, func(p *corev1.Pod) { // it waits for nothing any more
		p.DeletionTimestamp, p.Spec.NodeSelector = &deleted, map[string]string{"no": "where"}
	})
	got := triageOf(t, o, triage.Options{})
	want := []string{"NodeSilent gone (ClusterAdmin): x y", "Deleting (User): leaving"}
	if !slices.Equal(outline(got), want) {
		t.Errorf("got %q, want %q", outline(got), want)
	}
}

// TestAtLeast: in a large cluster not all that a change frees is placed.
func TestAtLeast(t *testing.T) {
	o := explaintest.NodesWithDevices(slices.Repeat([]int{1}, 100)...)
	for i := range 100 {
		waiting(&o, fmt.Sprintf("w%02d", i), 2, 0)
	}
	got := triageOf(t, o, triage.LimitFreed(triage.Options{}, 10))
	if f := got.Causes[0].Fixes[0]; len(got.Causes) != 1 || !f.AtLeast || len(f.Frees) != 10 {
		t.Errorf("%d causes; %s frees %d, at least: %t", len(got.Causes), f.Kind, len(f.Frees), f.AtLeast)
	}
}

// TestUntried: without trials the causes and those whom they keep are the same, and have no fixes.
func TestUntried(t *testing.T) {
	o := explaintest.NodesWithDevices(4)
	held(&o, "idle", 0, "d00", "d01", "d02")
	waiting(&o, "a", 3, 0)
	waiting(&o, "b", 2, 1)
	tried, got := triageOf(t, o, triage.Options{}), triageOf(t, o, triage.Options{Untried: true})
	if len(got.Causes) != 1 || len(got.Causes[0].Fixes) != 0 || len(tried.Causes[0].Fixes) == 0 {
		t.Errorf("untried %q, tried %q", outline(got), outline(tried))
	}
	if got.Causes[0].Key != tried.Causes[0].Key || len(got.Causes[0].Subjects) != 2 {
		t.Errorf("%q", outline(got))
	}
}

// TestExplained: an explanation is handed on before its fixes are.
func TestExplained(t *testing.T) {
	o := explaintest.NodesWithDevices(1)
	waiting(&o, "w", 2, 0)
	got := triageOf(t, o, triage.Options{Explained: func(e *explain.Explanation) {
		for i := range e.Fixes {
			e.Fixes[i].Commands = []string{"do it"}
		}
	}})
	if f := got.Causes[0].Fixes[0]; !slices.Equal(f.Commands, []string{"do it"}) {
		t.Errorf("commands %q", f.Commands)
	}
}

// TestUnseen: where pods could not be read, that nothing is known to be stuck is no all-clear.
func TestUnseen(t *testing.T) {
	for name, tt := range map[string]struct {
		health    inspect.Health
		namespace string
		want      bool
	}{
		"all":                 {inspect.Health{State: inspect.Synced}, "", false},
		"forbidden":           {inspect.Health{State: inspect.Forbidden}, "", true},
		"another namespace":   {inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, "", true},
		"that namespace only": {inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, "ml", false},
	} {
		s := inspect.New(explaintest.NodesWithDevices(1), inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Pods: tt.health}})
		got, err := triage.Of(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), triage.Options{Namespace: tt.namespace})
		if err != nil || got.Unseen != tt.want {
			t.Errorf("%s: unseen %t, %v", name, got.Unseen, err)
		}
	}
}
