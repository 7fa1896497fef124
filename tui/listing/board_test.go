package listing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// watched is a world that was watched for a while.
func watched(t *testing.T) *screen.World {
	t.Helper()
	w := screentest.World(t, inspect.Objects{})
	w.Theme, w.Now = screentest.Demo(t).Theme, time.Date(2026, 11, 20, 9, 8, 0, 0, time.UTC)
	h := &screen.History{}
	for i, n := range []int{0, 2, 8, 4} {
		h.Levels = append(h.Levels, screen.Level{
			Time: w.Now.Add(time.Duration(2*i-8) * time.Minute), Waiting: n,
			Used: []screen.Share{{Driver: "gpu.example.com\x1b", Of: float64(i) / 3}, {Driver: "nic.example.com", Of: 0.5}},
			Held: []screen.Holding{{Class: "gpu-80gb.example.com\x1b", Devices: 4 * i}, {Class: "nic.example.com", Driver: "nic.example.com", Devices: 2}},
		})
		ref := screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: fmt.Sprintf("train-%d\x1b", i)}
		h.Longest = append(h.Longest, screen.Wait{Ref: ref, Since: w.Now.Add(-time.Duration(4-i) * time.Hour)})
		h.Latest = append(h.Latest, screen.Event{Kind: screen.ClaimAllocated, Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "a\x1b"}, Time: w.Now})
	}
	w.History = h
	return w
}

// listOf is a list of so many rows.
func listOf(t *testing.T, w *screen.World, n int) *listing.List[int] {
	t.Helper()
	column := listing.Column[int]{Column: widget.Column{Title: "N"}, Cell: func(row *int) styled.Line { return styled.Text(styled.Plain, fmt.Sprint("row ", *row)) }}
	l := listing.New(listing.Config[int]{
		Columns: []listing.Column[int]{column},
		Build: func(context.Context, *screen.World) ([]int, error) {
			rows := make([]int, n)
			for i := range rows {
				rows[i] = i
			}
			return rows, nil
		},
	})
	screentest.Settle(w, l, screen.Shown{})
	return l
}

// TestBoardOfALog: what comes after the moment that is shown is there too, in another colour, and the numbers
// are those of the moment.
func TestBoardOfALog(t *testing.T) {
	w := watched(t)
	w.Now = w.History.Levels[1].Time.Add(time.Second)
	frame := listOf(t, w, 5).View(w, 100, 30)
	for _, want := range []string{"the log, 09:00:00Z to 09:06:00Z", "2 pods waiting for a node, 8 at most", "33% used"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is missing:\n%s", want, frame)
		}
	}
	if !strings.Contains(frame, "⣀│⣿") || strings.Count(frame, "│") < 2*4 {
		t.Errorf("it is drawn as\n%s", frame)
	}
}

// TestBoard: where rows leave room, it is used; where they do not, or nothing was watched yet, there is the
// table alone.
func TestBoard(t *testing.T) {
	w := watched(t)
	l := listOf(t, w, 5)
	screentest.Golden(t, "board", w, l, 100, 30)
	screentest.Golden(t, "board-low", w, l, 80, 16)
	screentest.Golden(t, "board-wide", w, l, 200, 30) // classes have graphs where they say more than drivers
	for i := range 2 {
		w.History.Levels[i].Used, w.History.Levels[i].Waiting = nil, -1
	}
	w.Namespace = "ml"
	screentest.Golden(t, "board-gap", w, l, 80, 16) // nothing is drawn of the time of which nothing is known
	for name, tc := range map[string]struct {
		rows, width, height int
		change              func(*screen.World)
	}{
		"no room below":   {rows: 5, width: 100, height: 13},
		"many rows":       {rows: 40, width: 100, height: 30},
		"narrow":          {rows: 5, width: 60, height: 30},
		"nothing watched": {rows: 5, width: 100, height: 30, change: func(w *screen.World) { w.History = &screen.History{} }},
		"no history":      {rows: 5, width: 100, height: 30, change: func(w *screen.World) { w.History = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			w := watched(t)
			if tc.change != nil {
				tc.change(w)
			}
			if frame := listOf(t, w, tc.rows).View(w, tc.width, tc.height); strings.Contains(frame, "the last") {
				t.Errorf("a board:\n%s", frame)
			}
		})
	}
}
