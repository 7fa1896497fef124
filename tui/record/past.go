package record

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Recorded is a cluster that was recorded, from a moment to another, as it was at each in between. It is
// asked in the background, of one moment at a time.
type Recorded interface {
	Span() (from, to time.Time)
	At(ctx context.Context, t time.Time) (*inspect.Snapshot, error)
}

// A recorded cluster is looked at pastLevels times, at even distances, or less often if that would take
// longer than pastWork.
const (
	pastLevels = 120
	pastWork   = 10 * time.Second
)

// past is what a log tells of how much was taken.
type past struct {
	log  Recorded
	none *screen.World // of which work is a part
	job  screen.Job[reached]
	read []screen.Level
	next time.Time
	done bool
}

// reached is the level of a moment, and how long it took to find out.
type reached struct {
	level screen.Level
	took  time.Duration
}

// Recall has graphs begin where the log does.
func (t *Tally) Recall(log Recorded) { t.past = past{log: log} }

// begin reads the first moment, unless that was done.
func (p *past) begin(w *screen.World) tea.Cmd {
	if p.log == nil || p.none != nil {
		return nil
	}
	p.none = screen.NewWorld(w.Context(), 0, nil)
	p.next, _ = p.log.Span()
	return p.look()
}

// look reads the next moment.
func (p *past) look() tea.Cmd {
	log, at := p.log, p.next
	return p.job.StartLater(p.none, func(ctx context.Context) (reached, error) {
		begun := time.Now()
		s, err := log.At(ctx, at)
		if err != nil {
			return reached{}, err //nolint:wrapcheck // nobody is told: who goes there is
		}
		now := tallied(s, s.Inventory)
		return reached{now.level(at), time.Since(begun)}, nil
	})
}

// take takes in a moment, and goes on to the next. What cannot be read ends it.
func (p *past) take(msg tea.Msg) (tea.Cmd, bool) {
	result, ok := p.job.Take(msg)
	if !ok {
		return nil, false
	}
	if result.Err != nil {
		return nil, true
	}
	p.read = append(p.read[:len(p.read):len(p.read)], result.Value.level)
	from, to := p.log.Span()
	if p.done = !p.next.Before(to); p.done {
		return nil, true
	}
	whole := to.Sub(from)
	slow := time.Duration(float64(whole) * float64(result.Value.took) / float64(pastWork))
	step := max(whole/pastLevels, slow, 1)
	if p.next = p.next.Add(step); p.next.After(to) {
		p.next = to
	}
	return p.look(), true
}

// levels are those that were read so far. Of what comes after them nothing is known.
func (p *past) levels() []screen.Level {
	if p.done || len(p.read) == 0 {
		return p.read
	}
	last := p.read[len(p.read)-1].Time
	return append(p.read[:len(p.read):len(p.read)], screen.Level{Time: last.Add(1), Waiting: -1})
}
