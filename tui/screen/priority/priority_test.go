package priority

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// server is a Reader whose level workload-low fills up: of its 244 seats 60 more are taken with each
// reading, and from the fifth on requests queue and are rejected.
type server struct {
	readings int
	fail     inspect.Health
}

func (s *server) Read(context.Context) flowcontrol.Reading {
	s.readings++
	if s.fail.State != inspect.NotRead {
		return flowcontrol.Reading{Health: s.fail}
	}
	n := s.readings
	low := &flowcontrol.Load{
		Nominal: ptr.To(245), Lower: ptr.To(24), Upper: ptr.To(845), Current: ptr.To(240),
		Demand: flowcontrol.Demand{HighWatermark: ptr.To(float64(60 * n)), Average: ptr.To(42.5)},
		Total: flowcontrol.Counts{
			ExecutingRequests: min(60*n, 240), ExecutingSeats: min(60*n, 240), QueuedRequests: max(0, 60*n-240), Dispatched: 1000 * n,
			Rejected: map[string]int{}, Waits: flowcontrol.Waits{Requests: 10 * n, Seconds: 0.1 * float64(n), Buckets: []flowcontrol.Bucket{{Seconds: 0.05, Requests: 10 * n}}},
		},
	}
	if n > 4 {
		low.Total.Rejected = map[string]int{"queue-full": 50 * (n - 4), "time-out": n - 4}
	}
	system := &flowcontrol.Load{Nominal: ptr.To(74), Lower: ptr.To(50), Upper: ptr.To(674), Current: ptr.To(90), Total: flowcontrol.Counts{ExecutingRequests: 3, ExecutingSeats: 4, Dispatched: 77 * n}}
	exempt := &flowcontrol.Load{Nominal: ptr.To(0), Lower: ptr.To(0), Upper: ptr.To(600), Current: ptr.To(2), Total: flowcontrol.Counts{ExecutingRequests: 1, ExecutingSeats: 1}}
	return flowcontrol.Reading{
		Metrics: &flowcontrol.Metrics{Levels: map[string]*flowcontrol.Load{"workload-low": low, "system": system, "exempt": exempt}},
		Health:  inspect.Health{State: inspect.Synced},
	}
}

// TestWhyCurrent: where all levels have their demand, the panel says why the limit is what it is.
// workload-low wants 400 of 605 seats; the others keep what they have at least.
func TestWhyCurrent(t *testing.T) {
	w := screentest.Demo(t)
	limits := flowcontrol.Compute(w.Snapshot.PriorityLevels(), 600)
	reading := flowcontrol.Reading{Metrics: &flowcontrol.Metrics{Levels: map[string]*flowcontrol.Load{}}, Health: inspect.Health{State: inspect.Synced}}
	for _, level := range limits.Levels {
		smoothed := 1.0
		if level.Name == "workload-low" {
			smoothed = 400
		}
		reading.Metrics.Levels[level.Name] = &flowcontrol.Load{Demand: flowcontrol.Demand{HighWatermark: ptr.To(smoothed), Smoothed: &smoothed}}
	}
	var lines []string
	for _, r := range build(w.Snapshot, 600, history{{demo.Now(), reading}}) {
		for _, line := range r.panel() {
			lines = append(lines, r.name+line.String())
		}
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"workload-low  CurrentCL  ", " for each of the 400.0 seats that it wants, as for all", "exempt  CurrentCL  1: the most that it took",
		"system  of DRA     the kubelets", "workload-high  of DRA     the claim controller, kube-scheduler",
		"every pod of the cluster can crowd this level",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the panels do not say %q:\n%s", want, text)
		}
	}
}

// watched is a view that has read the server so many times, five seconds apart.
func watched(w *screen.World, s *server, times int) *Screen {
	at := demo.Now()
	v := New(Config{
		Reader: s, Clock: func() time.Time { at = at.Add(pause); return at },
		Tick: func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil },
	})
	screentest.Settle(w, v, screen.Shown{})
	for s.readings < times {
		screentest.Settle(w, v, due{v})
	}
	return v
}

func TestViews(t *testing.T) {
	w := screentest.Demo(t)
	for _, size := range [][2]int{{80, 20}, {200, 46}, {60, 11}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		screentest.Golden(t, "filling-"+name, w, watched(w, &server{}, 6), size[0], size[1])
	}
	v := New(Config{})
	screentest.Settle(w, v, screen.Shown{})
	screentest.Golden(t, "computed-80x20", w, v, 80, 20)
	screentest.GoldenPlain(t, "computed-plain", w, v, 0)
}

func TestLimitsAloneWhereMetricsAreForbidden(t *testing.T) {
	w := screentest.Demo(t)
	v := watched(w, &server{fail: inspect.Health{State: inspect.Forbidden, Message: "cannot get /metrics"}}, 2)
	screentest.Golden(t, "forbidden-80x20", w, v, 80, 20)
	if status := v.State().Status; !strings.Contains(status, "600 seats by default") {
		t.Errorf("the status %q does not say that 600 seats are assumed", status)
	}
}

func TestSeatsComeFromTheServer(t *testing.T) {
	w := screentest.Demo(t)
	if status := watched(w, &server{}, 1).State().Status; !strings.Contains(status, "600 seats of this server") {
		t.Errorf("the status is %q", status)
	}
	v := New(Config{Seats: 100})
	screentest.Settle(w, v, screen.Shown{})
	if status := v.State().Status; !strings.Contains(status, "100 seats as given") {
		t.Errorf("the status is %q", status)
	}
}

func TestRates(t *testing.T) {
	w, s := screentest.Demo(t), &server{}
	v := watched(w, s, 6)
	past := *v.past.Load()
	if got := past.rates("workload-low"); !got.known || got.dispatched != 200 || got.rejected != 102.0/25 || got.over != 25*time.Second {
		t.Errorf("rates are %+v", got)
	}
	s.readings = 0 // the server starts anew and counts from nothing
	screentest.Settle(w, v, due{v})
	past = *v.past.Load()
	if got := past.rates("workload-low"); got.rejected != 0 {
		t.Errorf("after a restart %g rejections a second are claimed", got.rejected)
	}
	if got := past.rates("no-such-level"); got.known {
		t.Errorf("rates of a level that does not exist: %+v", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h history
	for i := range 3 * kept {
		h = h.add(sample{at: demo.Now().Add(time.Duration(i) * pause)})
	}
	last, _ := h.last()
	if len(h) != kept || !last.at.Equal(demo.Now().Add(time.Duration(3*kept-1)*pause)) {
		t.Errorf("%d samples are kept, the last of %s", len(h), last.at)
	}
}

func TestPollingStartsWithTheFirstLook(t *testing.T) {
	w, s := screentest.Demo(t), &server{}
	v := watched(w, s, 0)
	screentest.Settle(w, v, screen.Hidden{})
	screentest.Settle(w, v, screen.Shown{})
	if s.readings != 1 {
		t.Errorf("the server was read %d times, want once: showing the view again starts no second poll", s.readings)
	}
}

// TestDanglingSchemas: a FlowSchema that leads to no level is told of, though no row is about it.
func TestDanglingSchemas(t *testing.T) {
	w := screentest.Demo(t)
	s := w.Snapshot.With(func(o *inspect.Objects) {
		astray := o.FlowSchemas[0].DeepCopy()
		astray.Name, astray.Spec.PriorityLevelConfiguration.Name = "astray", "btach"
		o.FlowSchemas = append(o.FlowSchemas, astray)
	})
	told := screen.NewWorld(t.Context(), 1, s)
	told.Theme = w.Theme
	v := New(Config{})
	screentest.Settle(told, v, screen.Shown{})
	if view := v.View(told, 100, 30); !strings.Contains(view, "astray (to btach)") || !strings.HasSuffix(v.State().Status, ", 1 schema to no level") {
		t.Errorf("nothing of the schema:\n%s\n%s", view, v.State().Status)
	}
}
