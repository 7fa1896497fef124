package plan

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// ofVolcano is a pod that another scheduler places.
func ofVolcano(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulerName = "volcano"
	return pod
}

// TestOtherSchedulers: what another scheduler does with its pods is not known, nor what room is left by them.
func TestOtherSchedulers(t *testing.T) {
	for _, test := range []struct {
		name          string
		pods, waiting []*corev1.Pod
		want, remark  string
		certain       bool
	}{
		{"asked about", []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, nil, "v→node-0000/1", "ml/v belongs to another scheduler", false},
		{"waits and fits", explaintest.Workers(1, "w", "eight"), []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, "w-0000→node-0000/1", "ml/v waits for another scheduler", false},
		{"waits and fits nowhere", explaintest.Workers(1, "w", "eight"), []*corev1.Pod{ofVolcano(explaintest.Worker("v", "none"))}, "w-0000→node-0000/1", "", true},
		{"waits, and nothing else", nil, []*corev1.Pod{ofVolcano(explaintest.Worker("v", "one"))}, "", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(1)
			o.Pods = append(o.Pods, test.waiting...)
			c := explaintest.NewCluster(*o)
			p, err := Place(t.Context(), c, test.pods, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := explaintest.Ends(&p.Replay); got != test.want || p.Replay.Certain != test.certain || !strings.Contains(strings.Join(p.Replay.Remarks, ";"), test.remark) {
				t.Errorf("%s, certain %t, %v", got, p.Replay.Certain, p.Replay.Remarks)
			}
		})
	}
}

// TestPlaceEitherOr: of two pods one is left waiting for certain, but which of them is not known.
func TestPlaceEitherOr(t *testing.T) {
	a, b := explaintest.Worker("a", "one"), explaintest.Worker("b", "eight")
	a.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	b.CreationTimestamp = a.CreationTimestamp
	p := place(t, explaintest.SmallFarm(1), a, b)
	if got := explaintest.Ends(&p.Replay); got != "a→node-0000/1, b waits Unknown NotEnoughDevices" || p.Joint.Verdict != explain.Infeasible || !p.LeavesSome() {
		t.Errorf("%s, %s, leaves some %t, certain %t: %v", got, p.Joint.Verdict, p.LeavesSome(), p.Replay.Certain, p.Replay.Remarks)
	}
}

// TestPlaceNever: who waits in all runs is left waiting for certain, whoever else may not be.
func TestPlaceNever(t *testing.T) {
	first, a, b, last := important("first", "four", "1"), explaintest.Worker("a", "four"), explaintest.Worker("b", "one"), explaintest.Worker("last", "eight")
	for i, pod := range []*corev1.Pod{first, a, b, last} {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i/3, 0, time.UTC))
	}
	p := place(t, explaintest.SmallFarm(1), first, a, b, last)
	if got, want := explaintest.Ends(&p.Replay), "first→node-0000/1, a→node-0000/1, b waits Unknown DeviceInUse, last waits Unsatisfiable DeviceInUse"; got != want {
		t.Errorf("%s, want %s (%v)", got, want, p.Replay.Remarks)
	}
}

// TestPlaceHopeless: pods that fit nowhere are no reason to doubt what becomes of the others, however many
// they are and whatever their shapes.
func TestPlaceHopeless(t *testing.T) {
	o := explaintest.SmallFarm(3)
	o.Templates = append(o.Templates, explaintest.Template("more", 9, ""))
	pods := append(explaintest.Workers(maxExplored, "more", "more"), explaintest.Worker("a", "four"), explaintest.Worker("b", "one"), explaintest.Worker("c", "eight"))
	for i, pod := range pods {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC))
	}
	p := place(t, o, pods...)
	if !p.Replay.Certain || len(p.Replay.Placed) != 3 || len(p.Replay.Remarks) > 0 {
		t.Errorf("certain %t, %d placed, %v", p.Replay.Certain, len(p.Replay.Placed), p.Replay.Remarks)
	}
	o.Nodes, o.Slices = o.Nodes[:2], o.Slices[:2] // the last now depends on where the others are
	p = place(t, o, pods...)
	if got := strings.Join(p.Replay.Remarks, "; "); p.Replay.Certain || !strings.HasPrefix(got, "whether ml/c finds a node depends on") {
		t.Errorf("certain %t, %s", p.Replay.Certain, got)
	}
	for _, w := range p.Replay.Pending {
		if hopeless := strings.HasPrefix(w.Subject.Name, "more"); hopeless != (w.Verdict == explain.Unsatisfiable) {
			t.Errorf("%s waits, %s", w.Subject.Name, w.Verdict)
		}
	}
}

// TestPlaceMember: who asks about one pod of a group is told of it with the others, whose claims are still to
// be made too.
func TestPlaceMember(t *testing.T) {
	for devices, want := range map[int]string{2: "g-0000 waits Unsatisfiable PodGroupIncomplete", 3: "g-0000→node-0000/1"} {
		o := explaintest.SmallFarm(1)
		o.Slices[0].Spec.Devices = o.Slices[0].Spec.Devices[:devices]
		members := group(o, "g", 3, 3, "one")
		features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})
		c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: features}), scheduler.Options{})
		p, err := Place(t.Context(), c, members[:1], Options{Others: members})
		if err != nil || explaintest.Ends(&p.Replay) != want {
			t.Errorf("%d devices: %s, %v", devices, explaintest.Ends(&p.Replay), err)
		}
	}
}

// TestPlaceAfterPreempting: who has room once others are ended is placed; who has none even then is left
// waiting.
func TestPlaceAfterPreempting(t *testing.T) {
	o := full()
	o.Templates = append(o.Templates, explaintest.Template("nine", 9, ""))
	later := explaintest.Worker("later", "one")
	later.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = important("", "", "5").Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
	p := place(t, o, important("vip", "one", "8"), later, explaintest.Worker("never", "nine"))
	want := "vip→node-0000/1, later→node-0000/1, never waits Unsatisfiable NotEnoughDevices"
	if got := explaintest.Ends(&p.Replay); got != want || !p.Replay.Certain {
		t.Errorf("%s, certain %t: %v", got, p.Replay.Certain, p.Replay.Remarks)
	}
}

// TestUnknownPriority: which of two pods comes first is not known where the priority of one is not.
func TestUnknownPriority(t *testing.T) {
	of := func(pod *corev1.Pod, class string) *corev1.Pod {
		pod.Spec.PriorityClassName = class
		return pod
	}
	for _, test := range []struct {
		name           string
		asked, waiting *corev1.Pod
		certain        bool
	}{
		{"of the other one", explaintest.Worker("a", "eight"), of(explaintest.Worker("b", "eight"), "high"), false},
		{"of this one", of(explaintest.Worker("a", "eight"), "high"), explaintest.Worker("b", "eight"), false},
		{"of the same class", of(explaintest.Worker("a", "eight"), "high"), of(explaintest.Worker("b", "eight"), "high"), true},
		{"of one that fits nowhere", explaintest.Worker("a", "eight"), of(explaintest.Worker("b", "none"), "high"), true},
	} {
		o := explaintest.SmallFarm(1)
		o.Pods = append(o.Pods, test.waiting)
		p, err := Place(t.Context(), explaintest.NewCluster(*o), []*corev1.Pod{test.asked}, Options{Others: []*corev1.Pod{test.waiting}})
		if err != nil || p.Replay.Certain != test.certain || test.certain && len(p.Changes) > 0 {
			t.Errorf("%s: %s, certain %t (%v), %d changes, %v", test.name, explaintest.Ends(&p.Replay), p.Replay.Certain, p.Replay.Remarks, len(p.Changes), err)
		}
	}
}

// TestShortOfQuota: whether a pod gets the claims that are to be made for it is a matter of quotas, too.
func TestShortOfQuota(t *testing.T) {
	for _, test := range []struct {
		name   string
		hard   string
		health inspect.Health
		pods   int
		remark string
	}{
		{"enough", "2", inspect.Health{State: inspect.Synced}, 2, ""},
		{"one too few", "2", inspect.Health{State: inspect.Synced}, 3, "quota ml/q does not allow the claims of ml/w-0002, so it waits as long as that is so"},
		{"not read", "", inspect.Health{State: inspect.Forbidden}, 1, "not all quotas could be read, and one may keep the claims of ml/w-0000 from being created"},
		{"read of this namespace", "", inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(1)
			if test.hard != "" {
				hard := corev1.ResourceList{"count/resourceclaims.resource.k8s.io": resource.MustParse(test.hard)}
				o.Quotas = append(o.Quotas, &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard},
				})
			}
			health := map[inspect.Resource]inspect.Health{inspect.Quotas: test.health}
			c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health}), scheduler.Options{})
			pods := explaintest.Workers(test.pods, "w", "one")
			p, err := Place(t.Context(), c, pods, Options{})
			if err != nil || strings.Join(p.Replay.Remarks, ";") != test.remark || p.Replay.Certain != (test.remark == "") {
				t.Errorf("certain %t, %v, %v", p.Replay.Certain, p.Replay.Remarks, err)
			}
		})
	}
}

// TestGroupOfOneSecond: pods of a group that differ and were created in the same second come in any order, so
// it is not certain that they are placed as they were played.
func TestGroupOfOneSecond(t *testing.T) {
	s, err := scenario.LoadPods("../../testdata/several/gang-of-leader-and-workers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, certain := range []bool{false, true} {
		snapshot := s.Snapshot.With(func(o *inspect.Objects) {
			for n, pod := range o.Pods {
				pod = pod.DeepCopy()
				pod.CreationTimestamp = metav1.Unix(int64(1+i*n), 0)
				o.Pods[n] = pod
			}
		})
		pods, _ := Waiting(snapshot, func(*corev1.Pod) bool { return true })
		by := replay.Choosing{Images: scores.ImagesOf(snapshot.Nodes()), Workloads: &inspect.Selecting{}}
		p, err := Place(t.Context(), scheduler.NewCluster(snapshot, scheduler.Options{}), pods, Options{NoJoint: true, Choosing: by})
		if err != nil {
			t.Fatal(err)
		}
		if p.Replay.Certain != certain {
			t.Errorf("%d: certain %t, %v", i, p.Replay.Certain, p.Replay.Remarks)
		}
	}
}

// TestNonePlaced: where nothing is placed the order of the pods does not matter, however many there are. It
// matters once one is placed.
func TestNonePlaced(t *testing.T) {
	never := explaintest.Workers(80, "w", "one")
	for i, pod := range never {
		pod.Spec.NodeSelector = map[string]string{"no-node-has": strconv.Itoa(i % 2)}
	}
	for name, test := range map[string]struct {
		pods []*corev1.Pod
		want bool
	}{
		"none": {never, true},
		"one":  {slices.Concat(never, explaintest.Workers(1, "c", "four"), explaintest.Workers(1, "d", "eight")), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range test.pods {
				pod.CreationTimestamp = metav1.NewTime(time.Unix(1, 0)) // any of them may be the first
			}
			p := place(t, explaintest.SmallFarm(1), test.pods...)
			if p.Replay.Certain != test.want {
				t.Errorf("certain %t, %v", p.Replay.Certain, p.Replay.Remarks)
			}
		})
	}
}
