package priority

import (
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// TestCurves: all levels together and the one that is pointed at have a graph of seats, of the queue and of
// what is rejected. Where nothing ever waited there is a title alone.
func TestCurves(t *testing.T) {
	begin := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	load := func(seats, queued, rejected int) *flowcontrol.Load {
		l := &flowcontrol.Load{}
		l.Total.ExecutingSeats, l.Total.QueuedRequests, l.Total.Rejected = seats, queued, map[string]int{"queue-full": rejected}
		return l
	}
	var h history
	for i, levels := range []map[string]*flowcontrol.Load{
		{"low": load(10, 0, 5), "high": load(20, 0, 0)}, nil, {"low": load(40, 6, 5), "high": load(20, 0, 0)},
		{"low": load(30, 3, 9), "high": load(20, 0, 0)},
	} {
		s := sample{at: begin.Add(time.Duration(i) * 30 * time.Second)}
		if levels != nil {
			s.reading.Metrics = &flowcontrol.Metrics{Levels: levels}
		}
		h = h.add(s)
	}
	r := &row{name: "high", level: flowcontrol.Level{Name: "high"}, seats: 100}
	b := h.board(r)
	if b.From != begin || b.To != begin.Add(90*time.Second) || len(b.Columns) != 2 {
		t.Fatalf("%+v", b)
	}
	for column, want := range [][]string{
		{"all levels 50 seats in use of 100, 60 at most", "all levels 3 requests queued, 6 at most", "all levels 4 requests rejected in 30s, 4 at most"},
		{"high 20 seats in use of 0, 20 at most", "high 0 requests queued", "high 0 requests rejected in 30s"},
	} {
		for i, title := range want {
			c := b.Columns[column][i]
			if got := c.Title.String(); got != title {
				t.Errorf("%q, want %q", got, title)
			}
			if drawn := len(c.Times) > 0; drawn != (column == 0 || i == 0) {
				t.Errorf("%q: drawn %v", title, drawn)
			}
		}
	}
	if got := b.Columns[0][0].Values; len(got) != 3 || got[0] >= 0 || got[1] != 0.6 || got[2] != 0.5 || b.Columns[0][0].Role != styled.Used {
		t.Errorf("values %v", got)
	}
	if first := h[:1].board(r); first.Columns != nil {
		t.Error("a graph of one reading")
	}
}
