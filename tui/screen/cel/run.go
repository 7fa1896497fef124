package cel

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// answer is what a text does on the devices of a lab. It is not changed once it is made.
type answer struct {
	lab      *lab
	text     string
	trial    *bench.Trial
	findings []bench.Finding
	// order are the devices: those that match, those on which the selector fails, and then the others, the
	// nearest first.
	order   []int
	natural []int
}

// empty is what is tried while there is no text.
const empty = "true"

func newAnswer(ctx context.Context, l *lab, text string) (*answer, error) {
	blank := strings.TrimSpace(text) == ""
	expression := text
	if blank {
		expression = empty
	}
	trial, err := l.bench.Try(ctx, expression)
	if err != nil {
		return nil, err
	}
	a := &answer{lab: l, text: text, trial: trial}
	if !blank {
		a.findings = l.bench.Findings(trial)
	}
	byRank := make([][]int, 3+len(trial.Terms))
	for i := range trial.Of {
		rank := 0
		switch o := trial.OutcomeOf(i); o.Result {
		case bench.Match:
		case bench.Failed:
			rank = 1
		case bench.NoMatch:
			rank = 2 + o.Missed()
		}
		byRank[rank] = append(byRank[rank], i)
	}
	a.order = slices.Concat(byRank...)
	a.natural = widget.Measure(columns, &deviceRows{a, a.order})
	return a, nil
}

// compiles reports whether the answer is to a selector that compiles.
func (a *answer) compiles() bool { return a.trial.Check.Scheduler == nil }

// idle reports whether the selector neither matches nor fails on any device.
func (a *answer) idle() bool { return a.trial.Matched+a.trial.Failed == 0 }

// trying is what the lab knows of the text that was typed, and what it works out in the background.
type trying struct {
	lab    *lab
	answer *answer // the newest, of a text that may not compile

	labs screen.Job[*lab]
	run  screen.Job[*answer]
}

// read reads the devices of the world, or of the class, unless they are known. While others are being read
// it does nothing: it is called again when they are.
func (t *trying) read(w *screen.World, class string) tea.Cmd {
	if w.Snapshot == nil || t.labs.Running() || t.lab != nil && t.lab.version == w.Version && t.lab.class == class {
		return nil
	}
	old := t.lab
	return t.labs.Start(w, func(ctx context.Context) (*lab, error) { return newLab(ctx, w, old, class) })
}

// try begins to try a text. What was begun before is given up.
func (t *trying) try(w *screen.World, text string) tea.Cmd {
	l := t.lab
	if l == nil {
		return nil
	}
	return t.run.Start(w, func(ctx context.Context) (*answer, error) { return newAnswer(ctx, l, text) })
}

// of is the answer to a text on the devices of a class, or nil. It may be of an older world.
func (t *trying) of(text, class string) *answer {
	if a := t.answer; a != nil && a.text == text && a.lab.class == class {
		return a
	}
	return nil
}
