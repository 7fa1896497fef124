package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestHistoryIsBounded: of each object and of each kind the last events are kept, so that what happens seldom stays.
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

// TestRejectingIsNoted: a level that begins to reject requests, while the view of priority levels is read, is a change.
func TestRejectingIsNoted(t *testing.T) {
	d, life := alive(t, Options{Profile: colorprofile.NoTTY, Levels: demoLoad(t)}, 100, 40)
	d.press("4")
	for range 40 {
		d.pass()
	}
	d.press("9", "/", "rejecting", "enter")
	d.send(arrived{life.Step()})
	d.shows("rejecting level workload-low", "rejected")
}
