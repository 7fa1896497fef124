package usage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// again is the key by which the view counts by something else.
func again(s *Screen) tea.Msg {
	for _, key := range s.State().Keys {
		if key.Name == "group" {
			return screentest.Key(key.Press[0])
		}
	}
	panic("there is no such key")
}

func TestViews(t *testing.T) {
	w := screentest.Demo(t)
	for _, size := range [][2]int{{60, 10}, {80, 19}, {120, 30}, {200, 45}, {300, 95}} {
		s := New()
		screentest.Settle(w, s, screen.Shown{})
		for _, by := range append(usage.Groupings(), usage.Queue, usage.Cohort) {
			screentest.Golden(t, fmt.Sprintf("%s-%dx%d", by, size[0], size[1]), w, s, size[0], size[1])
			screentest.Settle(w, s, again(s))
		}
		if s.by != usage.Namespace {
			t.Errorf("after all of them it counts by %s", s.by)
		}
	}
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	screentest.GoldenPlain(t, "demo-plain", w, s, 0)
}

// TestQuota: beside what a queue holds stands its quota, unless only a namespace is counted.
func TestQuota(t *testing.T) {
	w := screentest.Demo(t)
	told := func() string {
		s := New()
		screentest.Settle(w, s, screen.Shown{})
		for s.by != usage.Queue {
			screentest.Settle(w, s, again(s))
		}
		for i := range s.Rows() {
			if r := &s.Rows()[i]; r.Name == "serving" {
				return fmt.Sprint(r.panel(w, 120), r.ref.Kind)
			}
		}
		return "no such queue"
	}
	if got := told(); !strings.Contains(got, "14 of 10 gpus of flavor default used") || !strings.Contains(got, string(screen.ClusterQueue)) {
		t.Error(got)
	}
	w.Namespace = "infer"
	if got := told(); strings.Contains(got, "quota") {
		t.Errorf("of a namespace: %s", got)
	}
}

// TestNoQueues: where there is no Kueue, nothing is counted by its queues.
func TestNoQueues(t *testing.T) {
	w := screentest.Demo(t)
	objects := *w.Snapshot.Objects()
	objects.ClusterQueues, objects.LocalQueues, objects.KueueWorkloads = nil, nil, nil
	w = screentest.World(t, objects)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	for range usage.Groupings() {
		screentest.Settle(w, s, again(s))
	}
	if s.by != usage.Namespace {
		t.Errorf("after all of them it counts by %s", s.by)
	}
}

// TestFilterKeepsTotals: what a filter hides still counts.
func TestFilterKeepsTotals(t *testing.T) {
	w := screentest.Demo(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	whole := s.State().Status
	screentest.Settle(w, s, screen.Filter{Text: "idle>0"})
	if got := s.Plain(w, 0); strings.Contains(got, "infer") || !strings.Contains(got, "dev ") || s.State().Status != whole {
		t.Errorf("%q shows\n%s", s.State().Status, got)
	}
	screentest.Settle(w, s, screen.Filter{Text: "notebook-omar"})
	if s.Row().Namespace != "dev" {
		t.Error("a claim does not lead to its user")
	}
}

// TestIdleSinceTheStart: where no object tells since when a claim is idle, it is so at least since the
// program watches, and exactly since it was seen to become so.
func TestIdleSinceTheStart(t *testing.T) {
	w := screentest.Demo(t)
	objects := *w.Snapshot.Objects()
	objects.Pods = nil
	w = screentest.World(t, objects)
	idle := func(h *screen.History) string {
		t.Helper()
		w.History = h
		s := New()
		screentest.Settle(w, s, screen.Shown{}, screen.Filter{Text: "idle>0"})
		return s.Row().panel(w, 80)[len(s.Row().panel(w, 80))-1].String() + "|" + s.Plain(w, 0)
	}
	ref := screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "notebook-omar"}
	began := &screen.History{Began: w.Now.Add(-2 * time.Minute)}
	seen := &screen.History{Began: began.Began, Events: map[screen.Ref][]screen.Event{ref: {{Time: w.Now.Add(-time.Minute), Kind: screen.ClaimUnreserved}}}}
	for _, test := range []struct {
		history *screen.History
		want    string
	}{{nil, ""}, {began, " for ≥2m"}, {seen, " for 60s"}} {
		if got := idle(test.history); !strings.Contains(got, " 1"+test.want+"  ") || strings.Contains(got, "?") {
			t.Errorf("%q is not in\n%s", test.want, got)
		}
	}
}

func TestEmpty(t *testing.T) {
	w := screentest.World(t, inspect.Objects{})
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if got := s.Plain(w, 80); got != "there are no claims, so nobody uses devices" {
		t.Errorf("%q", got)
	}
	w = screentest.Demo(t)
	w.Namespace = "nothing"
	screentest.Settle(w, s, screen.Changed{})
	if got := s.Plain(w, 80); got != "no claims in namespace nothing; n shows other namespaces" {
		t.Errorf("%q", got)
	}
	w.Namespace = "net"
	screentest.Settle(w, s, screen.Changed{})
	if got := s.State().Status; got != "4 of 127 held, 0 idle, 1 claim refused" {
		t.Errorf("%q", got)
	}
}

// TestUnseen: without pods nobody can say how much is refused.
func TestUnseen(t *testing.T) {
	w := screentest.Demo(t)
	w = w.Next(2, w.Snapshot.WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Forbidden, Message: "cannot list pods"}}).With(func(o *inspect.Objects) { o.Pods = nil }))
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if got := s.State().Status; got != "54 of 127 held, ≥1 idle, ≥0 claims refused" {
		t.Errorf("%q", got)
	}
	if got := s.Plain(w, 0); !strings.HasSuffix(got, "more may be idle or refused, for not all pods were read") {
		t.Error(got)
	}
}
