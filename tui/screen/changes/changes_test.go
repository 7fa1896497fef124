package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // golden files have times of day
	m.Run()
}

// never never comes.
func never(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }

func shown(w *screen.World, config Config) *Screen {
	if config.Tick == nil {
		config.Tick = never
	}
	s := New(config)
	if config.Once { // nothing is ever shown then
		screentest.Settle(w, s, screen.Changed{})
	} else {
		screentest.Settle(w, s, screen.Shown{})
	}
	return s
}

// seen is the demo cluster after some things were seen to happen in it.
func seen(t *testing.T) *screen.World {
	t.Helper()
	w := screentest.Demo(t)
	ago := func(d time.Duration) time.Time { return w.Now.Add(-d) }
	w.History = &screen.History{Began: ago(10 * time.Minute), Recent: map[screen.EventKind][]screen.Event{
		screen.ClaimReleased: {{Time: ago(2 * time.Minute), Kind: screen.ClaimReleased, Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-9"}, Text: "reserved → pending", By: "pod pretrain-9", Node: "gpu-b-04", Seen: true}},
		screen.DriverGone:    {{Time: ago(time.Minute), Kind: screen.DriverGone, Ref: screen.Ref{Kind: screen.Driver, Name: "gpu.example.com"}, Text: "publishes nothing on gpu-b-04 any more: 8 devices less", By: "driver gpu.example.com", Node: "gpu-b-04", Seen: true}},
		screen.PodRefused:    {{Time: ago(12*time.Minute - time.Second), Kind: screen.PodRefused, Ref: screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"}, Text: "as the scheduler says", By: "scheduler", Seen: true}},
	}}
	return w
}

// events are Events of the demo cluster, of which three matter.
func events(w *screen.World) func(context.Context) (inspect.Events, error) {
	at := func(d time.Duration) time.Time { return w.Now.Add(-d) }
	return func(context.Context) (inspect.Events, error) {
		return inspect.Events{Health: inspect.Health{State: inspect.Synced}, List: []inspect.Event{
			{Kind: "Pod", Namespace: "ml", Name: "train-0", Reason: "FailedScheduling", Message: "0/12 nodes are available", Source: "default-scheduler", Count: 7, First: at(11 * time.Minute), Last: at(time.Minute)},
			{Kind: "Pod", Namespace: "ml", Name: "pretrain-0", Reason: "FailedPrepareDynamicResources", Message: "failed to prepare\ndynamic resources", Source: "kubelet", Count: 1, First: at(3 * time.Minute), Last: at(3 * time.Minute)},
			{Kind: "ResourceClaim", Namespace: "ml", Name: "pretrain-1", Reason: "Fenced", Message: "fenced off", Source: "kubectl-dra", Count: 1, First: at(4 * time.Minute), Last: at(4 * time.Minute)},
			{Kind: "Pod", Namespace: "ml", Name: "web", Reason: "FailedScheduling", Message: "too few CPUs", Count: 1, First: at(time.Minute), Last: at(time.Minute)},
			{Kind: "Pod", Namespace: "ml", Name: "pretrain-0", Reason: "Whatever", Count: 1, First: at(time.Minute), Last: at(time.Minute)},
		}}, nil
	}
}

func TestViews(t *testing.T) {
	w := seen(t)
	for _, size := range [][2]int{{60, 10}, {80, 19}, {120, 30}, {200, 45}, {300, 95}} {
		s := shown(w, Config{Events: events(w)})
		screentest.Golden(t, fmt.Sprintf("demo-%dx%d", size[0], size[1]), w, s, size[0], size[1])
	}
	s := shown(w, Config{NoEvents: "the demo cluster has none", Once: true})
	screentest.GoldenPlain(t, "demo-plain", w, s, 0)
}

// rows are what is shown of the last quarter of an hour.
func rows(s *Screen) []string {
	var out []string
	for r := range s.Shown() {
		out = append(out, fmt.Sprintf("%s %s %s, %s", r.age, r.what(), r.object(), r.why().String()))
	}
	return out
}

// TestMerged: what was seen, what objects tell and what Events tell is one list, and the same thing is one
// row of it.
func TestMerged(t *testing.T) {
	w := seen(t)
	s := shown(w, Config{Events: events(w)})
	screentest.Settle(w, s, screen.Filter{Text: "age<15m"})
	want := []string{
		"60s driver gone gpu, publishes nothing on gpu-b-04 any more: 8 devices less by driver gpu.example.com",
		"2m released ml/pretrain-9, reserved → pending by pod pretrain-9",
		"3m trouble ml/pretrain-0, failed to prepare dynamic resources by kubelet (Event)",
		"4m event ml/pretrain-1, Fenced: fenced off by kubectl-dra (Event)",
		"12m refused ml/train-0, as the scheduler says by scheduler (Event ×7)",
	}
	var got []string
	for _, r := range rows(s) {
		if strings.Contains(r, "train") || strings.Contains(r, "driver gone") {
			if !strings.Contains(r, " created ") {
				got = append(got, r)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Namespace = "dev"
	screentest.Settle(w, s, screen.Changed{})
	for r := range s.Shown() {
		if ref := r.event.Ref; ref.Namespace != "" && ref.Namespace != "dev" {
			t.Errorf("%s is shown", ref)
		}
	}
}

// TestWhereFrom: the view says how far back it looks, and what keeps Events from it.
func TestWhereFrom(t *testing.T) {
	w := screentest.Demo(t)
	health := func(h inspect.Health, err error) Config {
		return Config{Once: true, Events: func(context.Context) (inspect.Events, error) { return inspect.Events{Health: h}, err }}
	}
	for want, config := range map[string]Config{
		"what objects tell; Events: the files have none":                     {NoEvents: "the files have none"},
		"what objects tell; Events: cannot list events at the cluster scope": health(inspect.Health{State: inspect.Forbidden, Message: "cannot list events at the cluster scope"}, nil),
		"what objects tell; Events: no connection":                           health(inspect.Health{}, errors.New("no connection")),
		"what objects tell and Events of the cluster":                        health(inspect.Health{State: inspect.Synced}, nil),
	} {
		s := shown(w, config)
		if got := s.Plain(w, 0); !strings.HasSuffix(got, "\n\n"+want) {
			t.Errorf("%q does not end in %q", got[max(0, len(got)-100):], want)
		}
	}
	s := shown(screentest.World(t, inspect.Objects{}), Config{NoEvents: "the files have none"})
	if got := s.List.Plain(screentest.World(t, inspect.Objects{}), 0); got != "nothing has happened that objects tell of; Events: the files have none" {
		t.Errorf("%q", got)
	}
}

// TestReadings: Events are read when the view is opened, and again after a pause while it is visible, and not
// otherwise.
func TestReadings(t *testing.T) {
	w := screentest.Demo(t)
	n := 0
	var later []func(time.Time) tea.Msg
	s := New(Config{
		Events: func(context.Context) (inspect.Events, error) { n++; return inspect.Events{}, nil },
		Tick: func(d time.Duration, msg func(time.Time) tea.Msg) tea.Cmd {
			if d != pause {
				t.Errorf("a pause of %v", d)
			}
			later = append(later, msg)
			return nil
		},
	})
	expect := func(when string, want int) {
		t.Helper()
		if n != want {
			t.Errorf("%s, Events were read %d times, want %d", when, n, want)
		}
	}
	screentest.Settle(w, s, screen.Changed{})
	expect("before it was shown", 0)
	screentest.Settle(w, s, screen.Shown{})
	expect("when it is shown", 1)
	screentest.Settle(w, s, screen.Changed{}, screen.Changed{}, screen.Hidden{}, screen.Shown{})
	expect("right after that", 1)
	screentest.Settle(w, s, later[0](w.Now))
	expect("after a pause", 2)
	screentest.Settle(w, s, screen.Hidden{}, later[1](w.Now), screen.Changed{})
	expect("while it is hidden", 2)
	screentest.Settle(w, s, screen.Shown{})
	expect("when it is shown again", 3)
}

// TestMany: of very many objects the latest changes are told.
func TestMany(t *testing.T) {
	objects := *screentest.Demo(t).Snapshot.Objects()
	base, now := objects.Claims[0], screentest.Demo(t).Now
	for n := range 3 * mostTold {
		c := base.DeepCopy()
		c.Name = fmt.Sprintf("c-%05d", n)
		c.CreationTimestamp.Time = now.Add(-time.Duration(n*7919%(3*mostTold)) * time.Second)
		objects.Claims = append(objects.Claims, c)
	}
	got := fromObjects(screentest.World(t, objects).Snapshot)
	if len(got) != mostTold {
		t.Fatalf("%d changes", len(got))
	}
	screen.SortHistory(got)
	if age := now.Sub(got[mostTold-1].Time); age > mostTold*time.Second {
		t.Errorf("the earliest is %v ago", age)
	}
}

// TestNoAllClearMeanwhile: no frame says that nothing has happened before the rows of what was read are
// there.
func TestNoAllClearMeanwhile(t *testing.T) {
	w := screentest.World(t, inspect.Objects{})
	s := New(Config{Tick: never, Events: events(screentest.Demo(t))})
	frames := 0
	screentest.SettleWatched(w, s, func() {
		frames++
		if text := s.List.Plain(w, 0); strings.Contains(text, "or Events tell of") {
			t.Errorf("frame %d says %q", frames, text)
		}
	}, screen.Shown{})
	if len(s.Rows()) == 0 {
		t.Error("no rows: this test shows nothing")
	}
}
