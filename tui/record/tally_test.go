package record

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestUsage holds the numbers of the header against the devices of the demo cluster, and counts what overlaps
// by what is left of its counters.
func TestUsage(t *testing.T) {
	all := screentest.Demo(t).Inventory()
	used, total := map[string]int{}, map[string]int{}
	devices := all.Devices()
	for i := range devices {
		d := &devices[i]
		total[d.ID.Driver]++
		if d.Held() {
			used[d.ID.Driver]++
		}
	}
	texts := map[string]string{}
	for _, u := range usageOf(all.Drivers) {
		if u.Devices.Used != used[u.Driver] || u.Devices.Total != total[u.Driver] {
			t.Errorf("%s: %d of %d used, want %d of %d", u.Driver, u.Devices.Used, u.Devices.Total, used[u.Driver], total[u.Driver])
		}
		texts[u.Driver] = screen.FreeOfDriver(&u.DriverStatus)
	}
	// Of the memory of the four GPUs 80Gi, 60Gi, 80Gi and 60Gi are taken, of 28 compute slices 24.
	for driver, want := range map[string]string{"gpu.example.com": "18/64", "fpga.example.com": "0/5", "nic.example.com": "13/18", "mig.example.com": "12%"} {
		if texts[driver] != want {
			t.Errorf("%s: %s, want %s", driver, texts[driver], want)
		}
	}
	mixed := DriverUse{inspect.DriverStatus{
		Devices: inspect.DeviceCount{Total: 16, Used: 7, Free: 9, AtOnce: 9}, Whole: inspect.DeviceCount{Total: 8, Used: 6, Free: 2, AtOnce: 2},
		Counters: []inspect.CounterStatus{{Counter: "memory", Total: resource.MustParse("80Gi"), Left: resource.MustParse("60Gi")}},
	}}
	if text := screen.FreeOfDriver(&mixed.DriverStatus); text != "2/8+75%" || mixed.share() != 0.75 {
		t.Errorf("%s, %v; want 2/8+75%%, 0.75", text, mixed.share())
	}
}

// TestHistoryIsBounded: of each object and of each kind the last events are kept, so that what happens seldom
// stays.
func TestHistoryIsBounded(t *testing.T) {
	at := demo.Now()
	h := &screen.History{Began: at}
	rare := screen.Event{Time: at, Kind: screen.DriverGone, Ref: screen.Ref{Kind: screen.Driver, Name: "d"}}
	h = added(h, []screen.Event{rare})
	before := h
	for i := range 40 {
		var news []screen.Event
		for n := range 300 {
			ref := screen.Ref{Kind: screen.Claim, Name: fmt.Sprint(n)}
			news = append(news, screen.Event{Time: at.Add(time.Duration(i) * time.Second), Kind: screen.ClaimAllocated, Ref: ref}, screen.Event{Time: at, Kind: screen.DeviceChanged, Ref: ref, Minor: true})
		}
		h = added(h, news)
	}
	if n := len(h.Recent[screen.ClaimAllocated]); n != kindKept || len(h.Recent[screen.DriverGone]) != 1 || len(h.Recent[screen.DeviceChanged]) != 0 {
		t.Errorf("%d claims, %d drivers and %d devices are kept", n, len(h.Recent[screen.DriverGone]), len(h.Recent[screen.DeviceChanged]))
	}
	if n := len(h.Of(screen.Ref{Kind: screen.Claim, Name: "7"})); n != eventsKept || !h.Began.Equal(at) {
		t.Errorf("%d events of one claim are kept, since %v", n, h.Began)
	}
	if len(before.Recent) != 1 || len(before.Events) != 1 {
		t.Error("a history was written after it was handed out")
	}
}

// TestHistoryGrows: a history that is continued stays as it is.
func TestHistoryGrows(t *testing.T) {
	const objects = 100
	var step int
	next := func(h *screen.History) *screen.History {
		step++
		var news []screen.Event
		for n := range objects {
			news = append(news, screen.Event{Time: demo.Now(), Kind: screen.ClaimAllocated, Ref: screen.Ref{Kind: screen.Claim, Name: fmt.Sprint(n)}, Count: step})
		}
		return added(h, news)
	}
	counts := func(h *screen.History) []int {
		var all []int
		for n := range objects {
			for _, e := range h.Of(screen.Ref{Kind: screen.Claim, Name: fmt.Sprint(n)}) {
				all = append(all, e.Count)
			}
		}
		for _, e := range h.Recent[screen.ClaimAllocated] {
			all = append(all, e.Count)
		}
		return all
	}
	h := &screen.History{}
	for range 3 * eventsKept {
		before := h
		was := slices.Clone(counts(before))
		h = next(before)
		if !slices.Equal(was, counts(before)) {
			t.Fatalf("step %d: the history before was written", step)
		}
		want := min(step, eventsKept)
		if got := h.Of(screen.Ref{Kind: screen.Claim, Name: "7"}); len(got) != want || got[0].Count != step-want+1 || got[want-1].Count != step {
			t.Fatalf("step %d: %d events are kept, the first of step %d", step, len(got), got[0].Count)
		}
	}
}

// TestRests: in a cluster in which it has much to do, a tally looks at the newest of the worlds that come
// while it rests, and in a small one at each.
func TestRests(t *testing.T) {
	var tally Tally
	w := screentest.Demo(t)
	next := func() {
		w = w.Next(w.Version+1, w.Snapshot.Next(*w.Snapshot.Objects(), inspect.Config{Revision: w.Snapshot.Revision() + 1, Features: w.Snapshot.Features()}))
		tally.Look(w)
	}
	quick := func() { // as if nothing took time, and the machine were never busy
		tally.job.Stop()
		tally.Now.took = 0
	}
	for range 3 {
		if next(); tally.before != w {
			t.Errorf("version %d is looked at, want %d", tally.before.Version, w.Version)
		}
		quick()
	}
	tally.Now.took, tally.begun = time.Hour, time.Now().Add(time.Hour) // so that this test is never too slow
	before := tally.before
	for range 3 {
		next()
	}
	if tally.before != before || !tally.resting {
		t.Errorf("version %d is looked at during the rest", tally.before.Version)
	}
	tally.Now.took, tally.begun = 0, time.Time{}
	if tally.Take(rested{}); tally.before != w || tally.resting {
		t.Errorf("then version %d is looked at, want %d", tally.before.Version, w.Version)
	}
	for took, want := range map[time.Duration]time.Duration{0: 0, quickTally: 0, 20 * time.Millisecond: 160 * time.Millisecond, time.Minute: tallyLate} {
		if got := restAfter(took); got != want {
			t.Errorf("after %v of work the next comes after %v, want %v", took, got, want)
		}
	}
}
