package cel

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// answer is what a text does on the devices of a lab. It is not changed once it is made.
type answer struct {
	lab   *lab
	text  string
	trial *bench.Trial
	// order are the devices: those that match, from matched on those that fail, and from rest on the others,
	// those first of which most terms are true.
	order         []int
	matched, rest int
	natural       []int
	// some says that only the first devices were tried so far.
	some bool
}

// empty is what is tried while there is no text.
const empty = "true"

func newAnswer(l *lab, text string, trial *bench.Trial) *answer {
	a := &answer{lab: l, text: text, trial: trial, some: trial.Total() < len(l.devices)}
	if trial.Check.Scheduler != nil {
		return a
	}
	var failed, others []int
	for i := range trial.Of {
		switch trial.OutcomeOf(i).Result {
		case bench.Match:
			a.order = append(a.order, i)
		case bench.Failed:
			failed = append(failed, i)
		case bench.NoMatch:
			others = append(others, i)
		}
	}
	nearest(trial, others)
	a.matched, a.rest = len(a.order), len(a.order)+len(failed)
	a.order = append(append(a.order, failed...), others...)
	a.natural = widget.Measure(columns, &deviceRows{a, a.order})
	return a
}

// nearest sorts devices by how many terms are true.
func nearest(trial *bench.Trial, devices []int) {
	counts := make([]int, len(trial.Outcomes))
	for i := range trial.Outcomes {
		for _, v := range trial.Outcomes[i].Terms {
			if v.Err == nil && v.Match {
				counts[i]++
			}
		}
	}
	slices.SortStableFunc(devices, func(x, y int) int { return counts[trial.Of[y]] - counts[trial.Of[x]] })
}

// try begins to try the text. What was begun before is given up.
func (s *Screen) try(w *screen.World) tea.Cmd {
	l, text := s.lab, s.ed.Text()
	if l == nil {
		return nil
	}
	expression := text
	if strings.TrimSpace(text) == "" {
		expression = empty
	}
	s.advice.Stop()
	if s.advised != s.inQuestion() { // else they stand until there are newer ones: the devices are others, not the text
		s.findings = nil
	}
	look := s.preview.Start(w, func(ctx context.Context) (*answer, error) {
		trial, err := l.bench.Look(ctx, expression)
		if err != nil {
			return nil, err
		}
		return newAnswer(l, text, trial), nil
	})
	s.fullRun.Stop()
	return look
}

// finish tries the text on all devices, after it was tried on some.
func (s *Screen) finish(w *screen.World, a *answer) tea.Cmd {
	return s.fullRun.Start(w, func(ctx context.Context) (*answer, error) {
		trial, err := a.lab.bench.Try(ctx, a.trial.Expression)
		if err != nil {
			return nil, err
		}
		return newAnswer(a.lab, a.text, trial), nil
	})
}

// pause is how long nothing is typed before advice is looked for, which tries many selectors.
const pause = 120 * time.Millisecond

func (s *Screen) advise(w *screen.World, a *answer) tea.Cmd {
	if strings.TrimSpace(a.text) == "" {
		return nil
	}
	wait := s.pause
	return s.advice.Start(w, func(ctx context.Context) (advice, error) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return advice{}, context.Cause(ctx)
		}
		findings, err := a.lab.bench.Diagnose(ctx, a.trial)
		return advice{a.text, findings}, err
	})
}

// advice is what is to be said of a text.
type advice struct {
	text     string
	findings []bench.Finding
}

// take takes in results of work in the background; handled says that the message was one.
func (s *Screen) take(w *screen.World, msg tea.Msg) (cmd tea.Cmd, handled bool) {
	if r, ok := s.benches.Take(msg); ok {
		if r.Err == nil {
			s.lab = r.Value
			cmd = s.try(w)
		}
		return tea.Batch(cmd, s.read(w)), true
	}
	if r, ok := s.preview.Take(msg); ok {
		if r.Err != nil {
			return nil, true
		}
		narrow := s.show(w, r.Value)
		if r.Value.some && r.Value.trial.Check.Scheduler == nil {
			return tea.Batch(narrow, s.finish(w, r.Value)), true
		}
		return tea.Batch(narrow, s.advise(w, r.Value)), true
	}
	if r, ok := s.fullRun.Take(msg); ok {
		if r.Err != nil {
			return nil, true
		}
		return tea.Batch(s.show(w, r.Value), s.advise(w, r.Value)), true
	}
	if r, ok := s.narrowing.Take(msg); ok {
		if r.Err == nil {
			s.takeNarrowed(r.Value)
		}
		return nil, true
	}
	if r, ok := s.advice.Take(msg); ok {
		if r.Err == nil && r.Value.text == s.ed.Text() {
			s.findings, s.advised = r.Value.findings, s.inQuestion()
		}
		return nil, true
	}
	return s.takeOther(w, msg)
}

// read reads the devices of the world, or of the class, unless they are known. While others are being read
// it does nothing: it is called again when they are.
func (s *Screen) read(w *screen.World) tea.Cmd {
	if w.Snapshot == nil || s.benches.Running() || s.lab != nil && s.lab.version == w.Version && s.lab.class == s.class {
		return nil
	}
	old, class := s.lab, s.class
	return s.benches.Start(w, func(ctx context.Context) (*lab, error) { return newLab(ctx, w, old, class) })
}

// show shows an answer. The device under the cursor stays, if it is among those that are shown.
func (s *Screen) show(w *screen.World, a *answer) tea.Cmd {
	s.answer = a
	if a.trial.Check.Scheduler != nil {
		return nil
	}
	id, had := s.selected()
	if before := s.lastValid; before == nil || strings.TrimSpace(before.text) == "" || a.rest == 0 && before.rest > 0 {
		had = false // nobody has chosen it, or what is nearest is of interest now
	}
	s.lastValid = a
	cmd := s.fill(w)
	if had && s.words == "" {
		s.moveTo(id)
	}
	return cmd
}

// moveTo points at a device, if it is listed.
func (s *Screen) moveTo(id inspect.DeviceID) {
	for row, subject := range s.rows.order {
		if s.rows.a.lab.devices[subject].ID == id {
			s.table.MoveTo(row)
			return
		}
	}
}

// fill puts devices of the last good answer into the table; where words narrow them, as soon as that is done.
func (s *Screen) fill(w *screen.World) tea.Cmd {
	order := s.listFilter.order(s.lastValid)
	if strings.TrimSpace(s.words) == "" {
		s.narrowing.Stop()
		s.rows = &deviceRows{s.lastValid, order}
		s.table.SetRows(s.rows, s.lastValid.natural, 0)
		return nil
	}
	return s.pick(w, order)
}

// subject is the number of the device under the cursor.
func (s *Screen) subject() (int, bool) {
	if row := s.table.Cursor(); s.rows != nil && row >= 0 && row < len(s.rows.order) {
		return s.rows.order[row], true
	}
	return 0, false
}

// selected is the device under the cursor.
func (s *Screen) selected() (inspect.DeviceID, bool) {
	subject, ok := s.subject()
	if !ok {
		return inspect.DeviceID{}, false
	}
	return s.rows.a.lab.devices[subject].ID, true
}
