package cel

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
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
}

// empty is what is tried while there is no text.
const empty = "true"

func newAnswer(l *lab, text string, trial *bench.Trial) *answer {
	a := &answer{lab: l, text: text, trial: trial}
	if trial.Check.Scheduler != nil {
		return a
	}
	ranks := make([]int, len(trial.Outcomes))
	for i := range trial.Outcomes {
		o := &trial.Outcomes[i]
		switch o.Result {
		case bench.Match:
		case bench.Failed:
			ranks[i] = 1
		case bench.NoMatch:
			ranks[i] = 2 + len(o.Terms)
			for _, v := range o.Terms {
				if v.Err == nil && v.Match {
					ranks[i]--
				}
			}
		}
	}
	byRank := make([][]int, 3+len(trial.Terms))
	for i, of := range trial.Of {
		byRank[ranks[of]] = append(byRank[ranks[of]], i)
	}
	a.order, a.matched, a.rest = slices.Concat(byRank...), trial.Matched, trial.Matched+trial.Failed
	a.natural = widget.Measure(columns, &deviceRows{a, a.order})
	return a
}

// trying is what the lab knows of the text that was typed, and what it works out in the background.
type trying struct {
	lab *lab
	// answer is the newest, of a text that may not compile.
	answer   *answer
	findings []bench.Finding
	advised  string        // what the findings are about, see inQuestion
	pause    time.Duration // before advice

	labs   screen.Job[*lab]
	run    screen.Job[*answer]
	advice screen.Job[advice]
}

// advice is what is to be said of a text.
type advice struct {
	text     string
	findings []bench.Finding
}

// inQuestion tells texts, each tried on the devices of a class, apart.
func inQuestion(text, class string) string { return class + "\x00" + text }

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
func (t *trying) try(w *screen.World, text, class string) tea.Cmd {
	l := t.lab
	if l == nil {
		return nil
	}
	expression := text
	if strings.TrimSpace(text) == "" {
		expression = empty
	}
	t.advice.Stop()
	if t.advised != inQuestion(text, class) { // else they stand until there are newer ones: the devices are others, not the text
		t.findings = nil
	}
	return t.run.Start(w, func(ctx context.Context) (*answer, error) {
		trial, err := l.bench.Try(ctx, expression)
		if err != nil {
			return nil, err
		}
		return newAnswer(l, text, trial), nil
	})
}

// pause is how long nothing is typed before advice is looked for, which tries many selectors.
const pause = 120 * time.Millisecond

// takeAnswer takes in an answer, and looks for advice.
func (t *trying) takeAnswer(w *screen.World, a *answer) tea.Cmd {
	t.answer = a
	if strings.TrimSpace(a.text) == "" {
		return nil
	}
	wait := t.pause
	return t.advice.Start(w, func(ctx context.Context) (advice, error) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return advice{}, context.Cause(ctx)
		}
		findings, err := a.lab.bench.Diagnose(ctx, a.trial)
		return advice{a.text, findings}, err
	})
}

// settled reports whether all is known of a text that is tried on the devices of a class.
func (t *trying) settled(text, class string) bool {
	if t.labs.Running() && (t.lab == nil || t.lab.class != class) {
		return false
	}
	return t.advised == inQuestion(text, class) || !t.run.Running() && !t.advice.Running()
}

// suggestion is the corrected form that is proposed first, or "".
func (t *trying) suggestion() string {
	for _, f := range t.findings {
		if len(f.Suggestions) > 0 {
			return f.Suggestions[0].Expression
		}
	}
	return ""
}

// foremost is the finding that is shown first, or nil.
func (t *trying) foremost() *bench.Finding {
	if len(t.findings) == 0 {
		return nil
	}
	return &t.findings[0]
}
