package causes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

func TestViews(t *testing.T) {
	w, s := screentest.Demo(t), New()
	screentest.Settle(w, s, screen.Shown{})
	for _, size := range [][2]int{{80, 24}, {200, 50}, {60, 15}} {
		screentest.Golden(t, fmt.Sprintf("demo-%dx%d", size[0], size[1]), w, s, size[0], size[1])
	}
	screentest.GoldenPlain(t, "demo-plain", w, s, 0)
}

// TestNothingStuck: that nothing is stuck is said when everything was read, and of nothing else.
func TestNothingStuck(t *testing.T) {
	running := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	held := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "c"}, Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}}
	read := inspect.Health{State: inspect.Synced}
	for _, test := range []struct {
		health map[inspect.Resource]inspect.Health
		want   string
	}{
		{health: demo.Health(), want: "nothing is stuck"},
		{health: map[inspect.Resource]inspect.Health{inspect.Pods: read, inspect.Claims: read}, want: "nothing is stuck"},
		{want: "nothing is known to be stuck: no pods were read"},
		{health: map[inspect.Resource]inspect.Health{inspect.Claims: read}, want: "nothing is known to be stuck: no pods were read"},
		{health: map[inspect.Resource]inspect.Health{inspect.Pods: read}, want: "nothing is known to be stuck: no resourceclaims were read"},
		{
			health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden, Message: "cannot list pods"}},
			want:   "nothing is known to be stuck: cannot list pods",
		},
	} {
		w := screen.NewWorld(t.Context(), 1, inspect.New(inspect.Objects{Pods: []*corev1.Pod{running}, Claims: []*resourcev1.ResourceClaim{held}}, inspect.Config{Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: test.health}))
		w.Theme = theme.None()
		s := New()
		screentest.Settle(w, s, screen.Shown{})
		if got := s.Plain(w, 0); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestNoAllClearMeanwhile: no frame says that nothing is stuck before it is known what is.
func TestNoAllClearMeanwhile(t *testing.T) {
	w := screentest.Demo(t)
	w.Namespace = "net"
	s := New()
	frames := 0
	screentest.SettleWatched(w, s, func() {
		frames++
		text := s.Plain(w, 0)
		if waits := text == "one moment" || text == "looking at everything that waits"; waits == (len(s.Rows()) > 0) || waits && s.State().Status != "" {
			t.Errorf("frame %d says %q, and %q", frames, text, s.State().Status)
		}
	}, screen.Shown{})
	if frames < 4 || len(s.Rows()) == 0 {
		t.Errorf("%d frames, %d rows: this test shows nothing", frames, len(s.Rows()))
	}
}

// TestTrouble: what was known stays when it cannot be worked out anew, and the page says why.
func TestTrouble(t *testing.T) {
	w := screentest.Demo(t)
	w.Namespace = "net"
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	rows := len(s.Rows())
	fail := func(context.Context, *screen.World) (*explain.Triage, error) {
		return nil, errors.New("too \x1b[31mmuch")
	}
	screentest.Settle(w, s, s.answer.Ask(w, fail)())
	if len(s.Rows()) != rows || !strings.Contains(s.State().Arrangement, `not up to date: too \x1b[31mmuch`) {
		t.Errorf("%d rows and %q", len(s.Rows()), s.State().Arrangement)
	}
	screentest.Settle(w, s, s.answer.AskTelling(w, look)())
	if s.State().Arrangement != "" {
		t.Errorf("%q after it could be", s.State().Arrangement)
	}
	s = New()
	s.asked = true
	screentest.Settle(w, s, screen.Shown{}, s.answer.Ask(w, fail)())
	if got := s.Plain(w, 0); got != `what is stuck is not known: too \x1b[31mmuch` || s.State().Status != "" {
		t.Errorf("%q, %q", got, s.State().Status)
	}
}

// TestNamespace: the view shows what is stuck in the namespace that is looked at.
func TestNamespace(t *testing.T) {
	w := screentest.Demo(t)
	w.Namespace = "net"
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if rows := s.Rows(); len(rows) != 1 || rows[0].ref.Name != "cdn-egress-2" {
		t.Errorf("%d rows", len(rows))
	}
	w.Namespace, w.Snapshot = "storage", w.Snapshot.With(func(o *inspect.Objects) {
		running := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
		o.Pods = append(slices.Clone(o.Pods), running)
	})
	screentest.Settle(w, s, screen.Changed{})
	if got := s.Plain(w, 80); got != "nothing is stuck in namespace storage; n shows other namespaces" {
		t.Error(got)
	}
	w.Namespace = "nothing"
	screentest.Settle(w, s, screen.Changed{})
	if got := s.Plain(w, 80); got != "nothing of a namespace nothing is known; n shows other namespaces" {
		t.Errorf("%q", got)
	}
}

// crowd is the demo cluster in which twelve pods of a StatefulSet, made twenty minutes ago, are stuck for
// what one older pod is.
func crowd(t *testing.T) *screen.World {
	t.Helper()
	objects := *screentest.Demo(t).Snapshot.Objects()
	pods := slices.Clone(objects.Pods)
	for _, pod := range objects.Pods {
		for i := 0; i < 12 && pod.Name == "llama-405b-eval"; i++ {
			twin, controls := pod.DeepCopy(), true
			twin.Name = fmt.Sprintf("big-%d", i)
			twin.UID, twin.CreationTimestamp = types.UID(twin.Name), metav1.NewTime(demo.Now().Add(-20*time.Minute))
			for i := range twin.Status.Conditions {
				twin.Status.Conditions[i].LastTransitionTime = twin.CreationTimestamp
			}
			twin.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "big", Controller: &controls}}
			pods = append(pods, twin)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	objects.Pods = pods
	return screentest.World(t, objects)
}

func textOf(lines []styled.Line) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.String() + "\n")
	}
	return b.String()
}

// untilAge is a row but for why.
var untilAge = regexp.MustCompile(`^.*? \d+[mh] `)

// TestFold: a cause of several pods is one row, which opens to workloads, and these to their pods, in the
// order of their numbers.
func TestFold(t *testing.T) {
	w := crowd(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	want := func(what string, first ...string) {
		t.Helper()
		var got []string
		for _, line := range strings.Split(s.Table(w, 140, 40), "\n")[1:] {
			if found := untilAge.FindString(string([]rune(line)[2:])); found != "" {
				got = append(got, strings.Join(strings.Fields(found), " "))
			}
		}
		if !slices.Equal(got[:len(first)], first) {
			t.Errorf("%s: %q, want %q", what, got[:len(first)], first)
		}
	}
	press := func(keys ...tea.Msg) { screentest.Settle(w, s, keys...) }
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	status := "25 pods, 1 claim and 1 workload stuck"
	want("at first", "ml ▸ 13 pods ████████ 22h", "ml pretrain-2 15h")
	if s.State().Status != status || s.State().Selection != (screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "llama-405b-eval"}) {
		t.Errorf("%q, at %v", s.State().Status, s.State().Selection)
	}
	if text := textOf(s.panel(s.Row(), 80)); !strings.Contains(text, "13 pods, 22h, 12 of them 20m or less") {
		t.Errorf("the panel does not say how long most wait:\n%s", text)
	}
	press(enter)
	want("open", "ml ▾ 13 pods ████████ 22h", "ml ▸ StatefulSet big: 12 pods 20m", "ml llama-405b-eval 22h", "ml pretrain-2 15h")
	press(screentest.Key("j"), enter)
	want("both open", "ml ▾ 13 pods ████████ 22h", "ml ▾ StatefulSet big: 12 pods 20m", "ml big-0 20m", "ml big-1 20m", "ml big-2 20m")
	press(screentest.Key("J"))
	if s.Row().ref.Name != "pretrain-2" {
		t.Errorf("the next cause is that of %v", s.Row().ref)
	}
	press(screentest.Key("K"), screentest.Key("o"))
	want("closed again", "ml ▸ 13 pods ████████ 22h", "ml pretrain-2 15h")
	if s.State().Status != status {
		t.Errorf("%q when it is closed", s.State().Status)
	}

	press(screen.Selected{Ref: screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "big-10"}})
	if s.Row().ref.Name != "big-10" || s.Row().many != (count{}) {
		t.Errorf("the cursor is at %v, which was asked for by name", s.Row().ref)
	}
	press(screentest.Key("K"), screentest.Key("o"), screen.Filter{Text: "big-1"})
	want("filtered", "ml ▾ 13 pods ████████ 22h", "ml ▾ StatefulSet big: 12 pods 20m", "ml big-1 20m", "ml big-10 20m", "ml big-11 20m")
	if got := s.State().Status; got != "3 shown of "+status {
		t.Errorf("%q under a filter", got)
	}
	press(screentest.Key("*"))
	if refs := s.State().Marked; len(refs) != 3 {
		t.Errorf("%v are marked", refs)
	}
}

// TestSortTree: rows are sorted among those that hang on the same row.
func TestSortTree(t *testing.T) {
	w := crowd(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{}, tea.KeyPressMsg{Code: tea.KeyEnter})
	for range 3 { // namespace, name, how long it waits
		screentest.Settle(w, s, screentest.Key("s"))
	}
	lines := strings.Split(s.Plain(w, 0), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "13 pods") })
	if !strings.Contains(lines[1], "transcode-8k") || at < 5 || !strings.Contains(lines[at+1], "StatefulSet big") || !strings.Contains(lines[at+14], "llama-405b-eval") {
		t.Errorf("sorted by how long they wait:\n%s", strings.Join(lines, "\n"))
	}
}

// TestFiltered: the status tells how many of how many are shown.
func TestFiltered(t *testing.T) {
	w := screentest.Demo(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{}, screen.Filter{Text: "waits>20h"})
	if got := s.State().Status; got != "1 shown of 13 pods, 1 claim and 1 workload stuck" {
		t.Errorf("%q", got)
	}
}
