package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Recording is a log as its time line needs it; *history.Log is one.
type Recording interface {
	Span() (from, to time.Time)
	Moments() int
	Time(ctx context.Context, moment int) (time.Time, error)
	Find(ctx context.Context, t time.Time) (moment int, ok bool, err error)
	Step(ctx context.Context, moment, changes int) (int, error)
	Snapshot(ctx context.Context, moment int) (*inspect.Snapshot, error)
}

// Log is a Source of a cluster that was recorded, which can be shown at other moments too.
type Log struct {
	Source
	recording Recording
	finish    func(*inspect.Snapshot) *inspect.Snapshot
	first     moment
	asked     sync.Mutex // held by who asks the log
}

// NewLog returns the time line of a log, which begins with a snapshot of a moment of it, at a time. finish
// adds to snapshots what is not in the log. From then on nobody else may use the log.
func NewLog(log Recording, first *inspect.Snapshot, number int, finish func(*inspect.Snapshot) *inspect.Snapshot) *Log {
	return &Log{Source: Static(first), recording: log, finish: finish, first: moment{number, first.Time()}}
}

// moment is a place on a time line: which of its moments it is, counted from 0, and when.
type moment struct {
	number int
	at     time.Time
}

// stride is how far to go: so many changes, or a share of the whole time from -1 to 1 if there are no
// changes.
type stride struct {
	changes int
	share   float64
}

// travel returns another moment, and the cluster at it, or the same moment when there is none further on. It
// is not called again before it has returned.
func (l *Log) travel(ctx context.Context, from moment, by stride) (to moment, s *inspect.Snapshot, err error) {
	l.asked.Lock()
	defer l.asked.Unlock()
	if by.changes != 0 {
		to.number, err = l.recording.Step(ctx, from.number, by.changes)
	} else {
		begin, end := l.recording.Span()
		var found bool
		to.number, found, err = l.recording.Find(ctx, from.at.Add(time.Duration(by.share*float64(end.Sub(begin)))))
		switch {
		case !found:
			to.number = 0
		case to.number == from.number && by.share > 0:
			to.number = min(to.number+1, l.recording.Moments()-1)
		case to.number >= from.number && by.share < 0:
			to.number = max(from.number-1, 0)
		}
	}
	if err == nil {
		to.at, err = l.recording.Time(ctx, to.number)
	}
	if err == nil {
		s, err = l.recording.Snapshot(ctx, to.number)
	}
	if err != nil {
		return from, nil, err //nolint:wrapcheck // it says which log
	}
	return to, l.finish(s.AsOf(to.at)), nil
}

// Span is the time that the log is about.
func (l *Log) Span() (from, to time.Time) { return l.recording.Span() }

// At returns the cluster as it was at a time.
func (l *Log) At(ctx context.Context, t time.Time) (s *inspect.Snapshot, err error) {
	l.asked.Lock()
	defer l.asked.Unlock()
	number, _, err := l.recording.Find(ctx, t)
	if err == nil {
		s, err = l.recording.Snapshot(ctx, number)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // it says which log
	}
	return l.finish(s.AsOf(t)), nil
}

// timeline is where on its time line a recorded cluster is shown.
type timeline struct {
	*worlds
	log  *Log // nil for other clusters
	here moment
	// travelling is under way; ahead are strides that were asked for in the meantime.
	travelling bool
	ahead      []stride
	job        screen.Job[arrival]
}

// arrival is where a stride has led.
type arrival struct {
	moment   moment
	snapshot *inspect.Snapshot
}

func newTimeline(w *worlds) timeline {
	log, ok := w.options.Source.(*Log)
	if !ok {
		return timeline{}
	}
	w.tally.Recall(log)
	return timeline{worlds: w, log: log, here: log.first}
}

// keys are the keys of the time line. There are none for other clusters.
func (t *timeline) keys() screen.Keys {
	if t.log == nil {
		return nil
	}
	back, on := "", ""
	if !t.travelling {
		if t.here.number == 0 {
			back = "the log begins here"
		}
		if t.here.number >= t.log.recording.Moments()-1 {
			on = "the log ends here"
		}
	}
	return t.list(back, on)
}

// list is the keys, with why there is no way back or on.
func (t *timeline) list(back, on string) screen.Keys {
	by := func(changes int, share float64) func(*screen.World) tea.Cmd {
		return func(*screen.World) tea.Cmd { return t.travel(stride{changes, share}) }
	}
	return screen.Keys{
		{Name: "change before", Press: []string{"left", "["}, Show: "←", Short: "before", Help: "the change before, of claims, devices, nodes or what waits (also [)", Off: back, Do: by(-1, 0)},
		{Name: "change after", Press: []string{"right", "]"}, Show: "→", Short: "after", Help: "the change after (also ])", Off: on, Do: by(1, 0)},
		{Name: "back in time", Press: []string{"shift+left", "{"}, Show: "⇧←", Help: "a hundredth of the log back (also {)", Off: back, Do: by(0, -0.01)},
		{Name: "on in time", Press: []string{"shift+right", "}"}, Show: "⇧→", Help: "a hundredth of the log on (also })", Off: on, Do: by(0, 0.01)},
		{Name: "far back in time", Press: []string{"ctrl+left", "<"}, Show: "^←", Help: "a tenth of the log back (also <)", Off: back, Do: by(0, -0.1)},
		{Name: "far on in time", Press: []string{"ctrl+right", ">"}, Show: "^→", Help: "a tenth of the log on (also >)", Off: on, Do: by(0, 0.1)},
	}
}

// travel goes on along the time line: at once, or when it has come where it is going.
func (t *timeline) travel(by stride) tea.Cmd {
	if t.travelling {
		const most = 20 // of somebody who leans on a key
		t.ahead = append(t.ahead, by)[max(0, len(t.ahead)+1-most):]
		return nil
	}
	t.travelling = true
	log, from := t.log, t.here
	return t.job.Start(t.world, func(ctx context.Context) (arrival, error) {
		to, snapshot, err := log.travel(ctx, from, by)
		return arrival{to, snapshot}, err
	})
}

// arrive shows where a stride has led.
func (t *timeline) arrive(result screen.Result[arrival]) tea.Cmd {
	t.travelling = false
	if result.Err != nil {
		t.ahead = nil
		return t.say(styled.Bad, result.Err.Error())
	}
	if to := result.Value.moment; to != t.here {
		if to.number != t.here.number && to.number != t.here.number+1 { // what happened in between was not seen, or has not happened yet
			t.tally.Forget()
		}
		t.here, t.base = to, result.Value.snapshot
	}
	var next tea.Cmd
	if len(t.ahead) > 0 {
		by := t.ahead[0]
		t.ahead = t.ahead[1:]
		next = t.travel(by)
	}
	return tea.Batch(t.rebuildWorld(), next)
}

// text says which moment is shown, and where on the time line it is, with as much of a line as there is room
// for.
func (t *timeline) text(room int) styled.Line {
	if t.log == nil {
		return nil
	}
	line := styled.Line{
		{Text: "  " + t.here.at.UTC().Format("2006-01-02 15:04:05Z"), Role: styled.Accent},
		{Text: fmt.Sprintf("  %d/%d", t.here.number+1, t.log.recording.Moments()), Role: styled.Dim},
	}
	const shortest, longest = 6, 24
	length := min(longest, t.width/8, room-line.Width()-2)
	if length < shortest {
		return line
	}
	at := 0
	begin, end := t.log.Span()
	if whole := end.Sub(begin); whole > 0 {
		at = int(float64(length-1) * float64(t.here.at.Sub(begin)) / float64(whole))
	}
	at = min(max(at, 0), length-1)
	return append(line, styled.Span{Text: "  " + strings.Repeat("─", at), Role: styled.Dim}, styled.Span{Text: "●", Role: styled.Accent},
		styled.Span{Text: strings.Repeat("─", length-1-at), Role: styled.Dim})
}
