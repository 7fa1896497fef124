package priority

import (
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// leastSpan is the time over which graphs are drawn at least.
const leastSpan = time.Minute

// board are the graphs of all levels together, and those of the level that is pointed at.
func (h history) board(r *row) listing.Board {
	if len(h) < 2 || r == nil {
		return listing.Board{}
	}
	last := h[len(h)-1].at
	title := "the last " + screen.FormatAge(last.Sub(h[0].at))
	b := listing.Board{From: h[0].at, To: last, Now: last, Title: title}
	if last.Sub(b.From) < leastSpan {
		b.From = last.Add(-leastSpan)
	}
	turnedAway := "rejected in " + screen.FormatAge(last.Sub(h[len(h)-2].at))
	all := func(of func(level string, at int) int) func(int) int {
		return func(at int) int {
			m := h[at].reading.Metrics
			if m == nil {
				return -1
			}
			sum := 0
			for level := range m.Levels {
				sum += max(0, of(level, at))
			}
			return sum
		}
	}
	one := func(of func(level string, at int) int) func(int) int {
		return func(at int) int { return of(r.level.Name, at) }
	}
	for _, part := range []struct {
		name  string
		seats int
		of    func(func(string, int) int) func(int) int
	}{{"all levels", r.seats, all}, {r.name, max(0, r.now()), one}} {
		b.Columns = append(b.Columns, []listing.Curve{
			h.curve(part.name, "seat", ofSeats(part.seats), styled.Used, part.seats, part.of(h.seats)),
			h.curve(part.name, "request", "queued", styled.Warn, 0, part.of(h.queued)),
			h.curve(part.name, "request", turnedAway, styled.Bad, 0, part.of(h.turnedAway)),
		})
	}
	return b
}

func ofSeats(seats int) string { return fmt.Sprintf("in use of %d", seats) }

// curve is what is counted at each reading, as if it had been so since the one before, drawn to the scale of
// a whole, or of the most if that is more.
func (h history) curve(
	name, noun, what string, role styled.Role, whole int, of func(at int) int,
) listing.Curve {
	counts, most := make([]int, len(h)), 0
	for i := range h {
		counts[i] = of(i)
		most = max(most, counts[i])
	}
	c := listing.Curve{Role: role, Title: styled.Line{
		{Text: name + " ", Role: styled.Name},
		{Text: words.Count(max(0, counts[len(h)-1]), noun), Role: styled.Strong},
		{Text: fmt.Sprintf(" %s, %d at most", what, most), Role: styled.Dim},
	}}
	if most == 0 {
		c.Title = c.Title[:2]
		c.Title = append(c.Title, styled.Span{Text: " " + what, Role: styled.Dim})
		return c
	}
	for i, n := range counts[1:] {
		c.Times = append(c.Times, h[i].at)
		c.Values = append(c.Values, float64(n)/float64(max(1, whole, most)))
	}
	return c
}

// seats, queued and turnedAway are what a level does at a reading, or -1 where that is not known.
func (h history) seats(level string, at int) int {
	if load := h[at].reading.Level(level); load != nil {
		return load.Total.ExecutingSeats
	}
	return -1
}

func (h history) queued(level string, at int) int {
	if load := h[at].reading.Level(level); load != nil {
		return load.Total.QueuedRequests
	}
	return -1
}

func (h history) turnedAway(level string, at int) int {
	if at == 0 {
		return -1
	}
	before, now := h[at-1].reading.Level(level), h[at].reading.Level(level)
	if before == nil || now == nil {
		return -1
	}
	return max(0, now.Total.RejectedRequests()-before.Total.RejectedRequests())
}
