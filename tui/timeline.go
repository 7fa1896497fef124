package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Timeline is a Source of a cluster that was recorded, which can be shown at other moments too.
type Timeline interface {
	Source
	// Here is the moment of the first snapshot.
	Here() Moment
	// Travel returns another moment, and the cluster at it, or the same moment when there is none further on. It is not called
	// again before it has returned.
	Travel(ctx context.Context, from Moment, by Stride) (Moment, *inspect.Snapshot, error)
}

// Moment is a place on a time line.
type Moment struct {
	// Number is which moment of how many it is, counted from 0.
	Number, Of int
	Time       time.Time
	// Begin and End are what the time line covers.
	Begin, End time.Time
}

// Stride is how far to go: so many changes, or a share of the whole time from -1 to 1 if there are no changes.
type Stride struct {
	Changes int
	Share   float64
}

// The actions of a time line.
const (
	changeBack   keymap.Action = "change before"
	changeOn     keymap.Action = "change after"
	strideBack   keymap.Action = "back in time"
	strideOn     keymap.Action = "on in time"
	leapBack     keymap.Action = "far back in time"
	leapOn       keymap.Action = "far on in time"
	strideLength               = 0.01
	leapLength                 = 0.1
)

// strides are how far the keys go.
var strides = map[keymap.Action]Stride{
	changeBack: {Changes: -1}, changeOn: {Changes: 1}, strideBack: {Share: -strideLength}, strideOn: {Share: strideLength},
	leapBack: {Share: -leapLength}, leapOn: {Share: leapLength},
}

// timeline is where on its time line a recorded cluster is shown.
type timeline struct {
	source Timeline // nil for other clusters
	here   Moment
	// travelling is under way; ahead are strides that were asked for in the meantime.
	travelling bool
	ahead      []Stride
	job        screen.Job[arrival]
}

// arrival is where a stride has led.
type arrival struct {
	moment   Moment
	snapshot *inspect.Snapshot
}

func newTimeline(source Source) timeline {
	t, ok := source.(Timeline)
	if !ok {
		return timeline{}
	}
	return timeline{source: t, here: t.Here()}
}

// timeKeys are the keys of the time line. There are none for other clusters.
func (m *model) timeKeys() keymap.Map {
	if m.timeline.source == nil {
		return nil
	}
	back, on := "", ""
	if !m.timeline.travelling {
		if m.timeline.here.Number == 0 {
			back = "the log begins here"
		}
		if m.timeline.here.Number >= m.timeline.here.Of-1 {
			on = "the log ends here"
		}
	}
	return keymap.Map{
		{Action: changeBack, Press: []string{"left", "["}, Show: "←", Short: "before", Help: "the change before, of claims, devices, nodes or what waits (also [)", Off: back},
		{Action: changeOn, Press: []string{"right", "]"}, Show: "→", Short: "after", Help: "the change after (also ])", Off: on},
		{Action: strideBack, Press: []string{"shift+left", "{"}, Show: "⇧←", Help: "a hundredth of the log back (also {)", Off: back},
		{Action: strideOn, Press: []string{"shift+right", "}"}, Show: "⇧→", Help: "a hundredth of the log on (also })", Off: on},
		{Action: leapBack, Press: []string{"ctrl+left", "<"}, Show: "^←", Help: "a tenth of the log back (also <)", Off: back},
		{Action: leapOn, Press: []string{"ctrl+right", ">"}, Show: "^→", Help: "a tenth of the log on (also >)", Off: on},
	}
}

// screenKeys are the keys of the screen that is visible. On a time line the arrows are not among them, where there are letters that
// do the same.
func (m *model) screenKeys() keymap.Map {
	keys, of := m.top().Keys(), m.timeKeys()
	if of == nil || m.typing() {
		return keys
	}
	out := make(keymap.Map, 0, len(keys))
	for _, k := range keys {
		taken := func(press string) bool { _, is := of.Find(press); return is }
		if slices.ContainsFunc(k.Press, taken) {
			k.Press = slices.DeleteFunc(slices.Clone(k.Press), taken)
			k.Show = ""
		}
		if len(k.Press) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// pressTime handles a key of the time line.
func (m *model) pressTime(k tea.KeyPressMsg) (tea.Cmd, bool) {
	key, ok := m.timeKeys().Find(k.String())
	if !ok {
		return nil, false
	}
	if key.Off != "" {
		return m.say(styled.Warn, key.Label()+" "+string(key.Action)+": "+key.Off), true
	}
	return m.travel(strides[key.Action]), true
}

// travel goes on along the time line: at once, or when it has come where it is going.
func (m *model) travel(by Stride) tea.Cmd {
	t := &m.timeline
	if t.travelling {
		const most = 20 // of somebody who leans on a key
		t.ahead = append(t.ahead, by)[max(0, len(t.ahead)+1-most):]
		return nil
	}
	t.travelling = true
	source, from := t.source, t.here
	return t.job.Start(m.world, func(ctx context.Context) (arrival, error) {
		moment, snapshot, err := source.Travel(ctx, from, by)
		return arrival{moment, snapshot}, err
	})
}

// arrive shows where a stride has led.
func (m *model) arrive(result screen.Result[arrival]) tea.Cmd {
	t := &m.timeline
	t.travelling = false
	if result.Err != nil {
		t.ahead = nil
		return m.say(styled.Bad, result.Err.Error())
	}
	if to := result.Value.moment; to.Number != t.here.Number {
		if to.Number != t.here.Number+1 { // what happened in between was not seen, or has not happened yet
			m.record, m.header.history = recorder{}, nil
		}
		t.here, m.base = to, result.Value.snapshot
	} else if to.Time != t.here.Time {
		t.here, m.base = to, result.Value.snapshot
	}
	var next tea.Cmd
	if len(t.ahead) > 0 {
		by := t.ahead[0]
		t.ahead = t.ahead[1:]
		next = m.travel(by)
	}
	return tea.Batch(m.rebuildWorld(), next)
}

// timeText says which moment is shown, and where on the time line it is, with as much of a line as there is room for.
func (m *model) timeText(room int) styled.Line {
	t := &m.timeline
	if t.source == nil {
		return nil
	}
	line := styled.Line{
		{Text: "  " + t.here.Time.UTC().Format("2006-01-02 15:04:05Z"), Role: styled.Accent},
		{Text: fmt.Sprintf("  %d/%d", t.here.Number+1, t.here.Of), Role: styled.Dim},
	}
	const shortest, longest = 6, 24
	length := min(longest, m.width/8, room-line.Width()-2)
	if length < shortest {
		return line
	}
	at := 0
	if whole := t.here.End.Sub(t.here.Begin); whole > 0 {
		at = int(float64(length-1) * float64(t.here.Time.Sub(t.here.Begin)) / float64(whole))
	}
	at = min(max(at, 0), length-1)
	return append(line, styled.Span{Text: "  " + strings.Repeat("─", at), Role: styled.Dim}, styled.Span{Text: "●", Role: styled.Accent},
		styled.Span{Text: strings.Repeat("─", length-1-at), Role: styled.Dim})
}

// Recording is a log as its time line needs it; *history.Log is one.
type Recording interface {
	Span() (from, to time.Time)
	Moments() int
	Time(ctx context.Context, moment int) (time.Time, error)
	Find(ctx context.Context, t time.Time) (moment int, ok bool, err error)
	Step(ctx context.Context, moment, changes int) (int, error)
	Snapshot(ctx context.Context, moment int) (*inspect.Snapshot, error)
}

// Log is a Timeline of a log.
type Log struct {
	Source
	log    Recording
	finish func(*inspect.Snapshot) *inspect.Snapshot
	here   Moment
}

// NewLog returns the time line of a log, which begins with a snapshot of a moment of it, at a time. finish adds to snapshots
// what is not in the log. From then on nobody else may use the log.
func NewLog(log Recording, first *inspect.Snapshot, moment int, finish func(*inspect.Snapshot) *inspect.Snapshot) *Log {
	from, to := log.Span()
	return &Log{Static(first), log, finish, Moment{Number: moment, Of: log.Moments(), Time: first.Time(), Begin: from, End: to}}
}

// Here implements Timeline.
func (l *Log) Here() Moment { return l.here }

// Travel implements Timeline.
func (l *Log) Travel(ctx context.Context, from Moment, by Stride) (Moment, *inspect.Snapshot, error) {
	number, at, err := l.reach(ctx, from, by)
	if err != nil {
		return from, nil, err
	}
	s, err := l.log.Snapshot(ctx, number)
	if err != nil {
		return from, nil, err //nolint:wrapcheck // it says which log
	}
	from.Number, from.Time = number, at
	return from, l.finish(s.AsOf(at)), nil
}

// reach is where a stride leads.
func (l *Log) reach(ctx context.Context, from Moment, by Stride) (number int, at time.Time, err error) {
	if by.Changes != 0 {
		if number, err = l.log.Step(ctx, from.Number, by.Changes); err != nil {
			return 0, at, err //nolint:wrapcheck // it says which log
		}
	} else {
		when := from.Time.Add(time.Duration(by.Share * float64(from.End.Sub(from.Begin))))
		found, ok, err := l.log.Find(ctx, when)
		if err != nil {
			return 0, at, err //nolint:wrapcheck // as above
		}
		switch {
		case !ok:
			found = 0
		case found == from.Number && by.Share > 0:
			found = min(found+1, from.Of-1)
		case found >= from.Number && by.Share < 0:
			found = max(from.Number-1, 0)
		}
		number = found
	}
	at, err = l.log.Time(ctx, number)
	return number, at, err //nolint:wrapcheck // as above
}
