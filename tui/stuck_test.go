package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/causes"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/claims"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/detail"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/objects"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// TestStuckMeansOneThing holds what views call stuck against what explain without a name does, and what they
// call refused against each other, on the demo cluster and that of every scenario.
func TestStuckMeansOneThing(t *testing.T) {
	n := 0
	clusters.Each(t, func(t *testing.T, s *inspect.Snapshot) {
		if n++; n%testwork.InFull(1, 4) != 0 {
			return
		}
		w := screen.NewWorld(t.Context(), 1, s)
		w.Theme, w.Now = theme.None(), demo.Now()
		all, err := triage.Of(t.Context(), w.Cluster(), triage.Options{Question: w.Question()})
		if err != nil {
			t.Fatal(err)
		}
		stuckAgrees(t, w, all)
		refusedAgrees(t, w)
	})
}

// pass shows a screen and returns the objects of the rows that a filter lets pass, and what is said of them.
func pass(w *screen.World, s screen.Screen, filter string) (refs []screen.Ref, status string) {
	screentest.Settle(w, s, screen.Shown{})
	status = s.State().Status
	screentest.Settle(w, s, screen.Filter{Text: filter})
	screentest.Settle(w, s, tea.KeyPressMsg{Code: '*', Text: "*"})
	return s.State().Marked, status
}

// stuckAgrees: a claim is stuck if no node can give it devices. Then the pods that wait for it are stuck, or,
// if there is none, it is told itself. The other way round a claim that is told is stuck, unless only others
// before it in the queue take what it needs.
func stuckAgrees(t *testing.T, w *screen.World, all *explain.Triage) {
	t.Helper()
	told, behind := map[screen.Ref]bool{}, map[screen.Ref]bool{}
	for i := range all.Causes {
		for _, s := range all.Causes[i].Subjects {
			ref := screen.Ref{Kind: screen.Kind(s.Kind), Namespace: s.Namespace, Name: s.Name}
			told[ref], behind[ref] = true, s.Behind
		}
	}
	rows, status := pass(w, causes.New(), "")
	if len(rows) != all.Stuck()+all.Undecided() || slices.ContainsFunc(rows, func(r screen.Ref) bool { return !told[r] }) {
		t.Errorf("causes has %v, explain tells %v", rows, told)
	}
	if n := all.Stuck(); n > 0 && !strings.Contains(status, "stuck") || sumOf(status) != n+all.Undecided() && len(rows) > 0 {
		t.Errorf("causes: %q, but %d are stuck and of %d it is not known", status, n, all.Undecided())
	}
	stuck, _ := pass(w, claims.New(), `state=stuck`)
	for _, ref := range stuck {
		waiting := waitingPods(w, ref)
		for _, pod := range waiting {
			if !told[pod] {
				t.Errorf("claim %v is stuck, but causes does not tell of pod %v", ref, pod)
			}
		}
		if len(waiting) == 0 && !told[ref] && len(w.Snapshot.PodsOf(claimOf(ref))) == 0 {
			t.Errorf("claim %v is stuck, but causes does not tell of it", ref)
		}
	}
	for ref := range told {
		if ref.Kind != screen.Claim || behind[ref] || slices.Contains(stuck, ref) {
			continue
		}
		if claim, _ := w.Snapshot.Claim(claimOf(ref)); inspect.StateOf(claim) == inspect.ClaimPending && all.Undecided() == 0 {
			t.Errorf("causes tells of claim %v, which is not stuck", ref)
		}
	}
}

func claimOf(ref screen.Ref) inspect.ClaimRef {
	return inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}
}

// sumOf adds up the numbers of a text.
func sumOf(text string) (sum int) {
	for _, word := range strings.Fields(text) {
		n := 0
		if _, err := fmt.Sscan(word, &n); err == nil {
			sum += n
		}
	}
	return sum
}

// waitingPods are the pods of a claim that wait for the scheduler that is decided about.
func waitingPods(w *screen.World, claim screen.Ref) (out []screen.Ref) {
	for _, ref := range w.Snapshot.PodsOf(claimOf(claim)) {
		pod, ok := w.Snapshot.Pod(ref)
		if ok && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !inspect.Ended(pod) && (pod.Spec.SchedulerName == "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName) {
			out = append(out, screen.Ref{Kind: screen.Pod, Namespace: ref.Namespace, Name: ref.Name})
		}
	}
	return out
}

// refusedAgrees: a pod is refused if the scheduler says so, and a claim if it has nothing and waits for such
// a pod.
func refusedAgrees(t *testing.T, w *screen.World) {
	t.Helper()
	pods, _ := pass(w, objects.NewPods(detail.About), "state=refused")
	want := 0
	for _, claim := range w.Snapshot.Objects().Claims {
		users := w.Snapshot.PodsOf(inspect.RefOf(claim))
		if claim.Status.Allocation == nil && slices.ContainsFunc(users, func(p inspect.PodRef) bool {
			return slices.Contains(pods, screen.Ref{Kind: screen.Pod, Namespace: p.Namespace, Name: p.Name})
		}) {
			want++
		}
	}
	used := usage.New()
	_, status := pass(w, used, "")
	if len(used.Rows()) > 0 && !strings.HasSuffix(strings.ReplaceAll(status, "≥", ""), " "+words.Count(want, "claim")+" refused") {
		t.Errorf("usage: %q, but %d claims wait for pods that are listed as refused", status, want)
	}
	namespaces := objects.NewNamespaces(detail.About)
	screentest.Settle(w, namespaces, screen.Shown{}, screen.Filter{Text: "refused>0"})
	lines := strings.Split(namespaces.Plain(w, 0), "\n")
	sum, column := 0, slices.Index(strings.Fields(lines[0]), "REFUSED")
	for _, line := range lines[1:] {
		if fields := strings.Fields(line); column >= 0 && len(fields) > column {
			sum += sumOf(fields[column])
		}
	}
	if sum != want {
		t.Errorf("the namespaces have %d claims refused, but %d wait for pods that are listed as refused:\n%s", sum, want, strings.Join(lines, "\n"))
	}
}

// TestStuckIsSaidOnlyOfVerdicts: views that work out no verdict do not say stuck.
func TestStuckIsSaidOnlyOfVerdicts(t *testing.T) {
	w := screentest.Demo(t)
	for _, v := range viewTable {
		if v.name == "claims" || v.name == "causes" || v.name == "checkup" {
			continue
		}
		s := v.make(&Options{})
		screentest.Settle(w, s, screen.Shown{})
		for _, text := range []string{s.State().Status, s.Plain(w, 0), s.View(w, 200, 50)} {
			if strings.Contains(strings.ToLower(text), "stuck") {
				t.Errorf("%s says stuck:\n%s", v.name, text)
			}
		}
	}
}
