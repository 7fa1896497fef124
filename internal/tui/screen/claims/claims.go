package claims

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
)

// Screen is the view: the table, and beneath or beside it what is to be said of the claim that is pointed
// at.
type Screen struct {
	*listing.List[row]

	plain plainRows
	// reasons of pending claims, as far as they are known; the survey goes on in the background.
	reasons  map[inspect.ClaimRef]*reason
	survey   screen.Job[survey]
	surveyed int // version that the survey is about
	recess   recess
	shown    bool
	told     time.Time // when rows were last made of what a survey has found out
	slow     sync.Map  // see survey
	// supposed is what the reasons suppose.
	supposed []screen.Change
	// actual are the reasons when nothing is supposed, known that they were worked out for all claims once, and
	// helped is how many claims a what-if helps.
	actual map[inspect.ClaimRef]*reason
	known  bool
	helped int

	// answer is about the claim that is pointed at.
	answer screen.Answer[*explain.Explanation]
	asked  screen.Ref
	side   widget.Page
}

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.List = listing.New(listing.Config[row]{
		Noun: "claims", Build: builder(&s.plain, nil, nil), Columns: columns, Groupings: groupings, Empty: whyEmpty,
		Key:   func(r *row) string { return r.ref.String() },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.reason.text },
	})
	return s
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	cmds := []tea.Cmd{s.List.Update(w, msg)}
	switch msg.(type) {
	case screen.Shown, screen.Changed:
		s.shown = true
		cmds = append(cmds, s.startSurvey(w))
	case screen.Hidden:
		s.shown = false
		s.stopSurvey()
	case rested:
		if s.recess.on, s.recess.waiting = false, false; s.shown {
			cmds = append(cmds, s.startSurvey(w))
		}
	}
	if result, ok := s.survey.Take(msg); ok {
		cmds = append(cmds, s.takeSurvey(w, result))
	}
	cmd, _ := s.answer.Update(w, msg)
	return tea.Batch(append(cmds, cmd, s.follow(w))...)
}

// never is the version of no world.
const never = -1

// stopSurvey gives up the survey that is under way; it is begun again when the view is shown.
func (s *Screen) stopSurvey() {
	if s.survey.Running() {
		s.survey.Stop()
		s.surveyed = never
	}
}

// startSurvey begins to work out reasons for the world as it is, unless a survey is under way. Whom a what-if helps
// can only be said when it is known who is stuck without it, so that is worked out first.
func (s *Screen) startSurvey(w *screen.World) tea.Cmd {
	if w.Snapshot == nil || s.survey.Running() || s.surveyed == w.Version {
		return nil
	}
	if s.recess.on && slices.Equal(w.Supposed, s.supposed) {
		return s.recess.wait()
	}
	about, before := w, s.actual
	switch {
	case len(w.Supposed) > 0 && !s.known:
		about = w.Actual
	case len(w.Supposed) > 0 && slices.Equal(w.Supposed, s.supposed):
		before = s.reasons
	}
	if about == w {
		s.surveyed = w.Version
	}
	s.recess.begun, s.recess.on = time.Now(), false
	return s.survey.StartLater(w, func(ctx context.Context) (survey, error) { return newSurvey(about, before, &s.slow).proceed(ctx) })
}

// takeSurvey shows the reasons of a batch and goes on with the next one.
func (s *Screen) takeSurvey(w *screen.World, result screen.Result[survey]) tea.Cmd {
	if result.Err != nil {
		return nil
	}
	rest, done := result.Value, len(result.Value.pending) == 0
	supposed := rest.about.Supposed
	if len(supposed) == 0 {
		s.actual, s.known = rest.reasons, s.known || done
	}
	s.reasons, s.supposed, s.helped = rest.reasons, supposed, 0
	if len(supposed) > 0 {
		s.helped = helped(s.actual, s.reasons)
	}
	// What is supposed has changed, or the claims have for long: begin again, with what is known.
	stale := rest.about.Version != w.Version && (!slices.Equal(supposed, w.Supposed) || time.Since(s.recess.begun) > longSurvey)
	if len(supposed) == 0 && len(w.Supposed) > 0 {
		stale = s.known
	}
	var show tea.Cmd
	if done || stale || time.Since(s.told) > tellAgain {
		s.told = time.Now()
		show = s.Rebuild(w, builder(&s.plain, s.reasons, s.actual))
	}
	if done || stale {
		s.recess.begin(time.Since(s.recess.begun))
		return tea.Batch(show, s.startSurvey(w))
	}
	return tea.Batch(show, s.survey.StartLater(w, rest.proceed))
}

const (
	// longSurvey is how old the claims of a survey may become that has not come to an end.
	longSurvey = 2 * time.Second
	// tellAgain is how often rows are made of what a survey has found out so far.
	tellAgain = 250 * time.Millisecond
	// surveyBreath is how long a survey that took more than one batch rests after it, as a multiple of what it took.
	surveyBreath = 4
)

// recess is the time after a survey in which there is no other, or the reasons of thousands of claims would be worked out
// again with each of thousands of changes.
type recess struct {
	begun   time.Time // the survey before it
	on      bool
	until   time.Time
	waiting bool
}

// rested comes at the end of a recess.
type rested struct{}

// begin begins the recess of a survey that has ended and took so long.
func (r *recess) begin(took time.Duration) {
	if took > batch {
		r.on, r.until = true, time.Now().Add(surveyBreath*took)
	}
}

// wait waits until the recess is over, if nothing does so already.
func (r *recess) wait() tea.Cmd {
	if r.waiting {
		return nil
	}
	r.waiting = true
	return tea.Tick(time.Until(r.until), func(time.Time) tea.Msg { return rested{} })
}

// linger is how long the cursor must stay on a claim before it is asked about: who runs down the list does
// not want to wait for each.
const linger = 60 * time.Millisecond

// follow asks about the claim that is pointed at, if that is another one than before.
func (s *Screen) follow(w *screen.World) tea.Cmd {
	ref := s.Selection()
	if ref == s.asked {
		return nil
	}
	s.asked = ref
	s.answer.Forget()
	s.side.ScrollTo(0)
	if ref.Kind == screen.None {
		return nil
	}
	return s.answer.Ask(w, func(ctx context.Context, w *screen.World) (*explain.Explanation, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(linger):
		}
		return question.Claim(ctx, w.Cluster(), inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}, w.Question())
	})
}

// Status implements screen.Screen.
func (s *Screen) Status() string {
	if s.helped > 0 {
		return fmt.Sprintf("%d helped, %s", s.helped, s.List.Status())
	}
	return s.List.Status()
}
