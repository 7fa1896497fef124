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
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
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
	// counted is how many rows are stuck, and which is the first of them all.
	counted struct {
		of    *row
		stuck int
	}

	// answer is about the claim that is pointed at.
	answer screen.Companion[*explain.Explanation]
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
	return tea.Batch(append(cmds, cmd, s.answer.Follow(w, s.Selection(), explained))...)
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
	if s.Trouble(result.Err); result.Err != nil {
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

// explained explains a claim.
func explained(ctx context.Context, w *screen.World, ref screen.Ref) (*explain.Explanation, error) {
	return question.Claim(ctx, w.Cluster(), inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}, w.Question())
}

// Status implements screen.Screen. Of all rows, whether a filter hides some or not, it says how many are stuck.
func (s *Screen) Status() string {
	text := s.List.Status()
	if s.helped > 0 {
		text = fmt.Sprintf("%d helped, %s", s.helped, text)
	}
	if n := s.stuck(); n > 0 && s.known { // as long as not all are worked out, it would be too few
		text += fmt.Sprintf(", %d stuck", n)
	}
	return text
}

// stuck counts the rows that are.
func (s *Screen) stuck() int {
	rows := s.Rows()
	if len(rows) == 0 {
		return 0
	}
	if s.counted.of != &rows[0] {
		s.counted.of, s.counted.stuck = &rows[0], 0
		for i := range rows {
			if rows[i].stuck() {
				s.counted.stuck++
			}
		}
	}
	return s.counted.stuck
}
