package claims

import (
	"context"
	"fmt"
	"slices"
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

	// reasons of pending claims, as far as they are known; the survey goes on in the background.
	reasons  map[inspect.ClaimRef]*reason
	survey   screen.Job[survey]
	surveyed int       // version that the survey is about
	begun    time.Time // the survey
	rest     time.Time // until then there is no other, for the one before took long
	ticking  bool      // for the end of the rest
	shown    bool
	told     time.Time // when rows were last made of what a survey has found out
	// supposed is what the reasons suppose.
	supposed []screen.Change
	// actual are the reasons when nothing is supposed, known that they were worked out for all claims once,
	// and helped is how many claims a what-if helps.
	actual map[inspect.ClaimRef]*reason
	known  bool
	helped int

	// answer is about the claim that is pointed at.
	answer screen.Companion[*explain.Explanation]
}

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.List = listing.New(listing.Config[row]{
		Noun: "claims", Build: builder(nil, nil), Columns: columns, Groupings: groupings,
		Resources: []inspect.Resource{inspect.Claims}, Namespaced: "claims", None: "no claims: nothing in the cluster asks for devices",
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
		if s.shown = false; s.survey.Running() { // it is begun again when the view is shown
			s.survey.Stop()
			s.surveyed = never
		}
	case rested:
		if s.ticking = false; s.shown {
			cmds = append(cmds, s.startSurvey(w))
		}
	}
	if result, ok := s.survey.Take(msg); ok {
		cmds = append(cmds, s.takeSurvey(w, result))
	}
	cmd, _ := s.answer.Update(w, msg)
	return tea.Batch(append(cmds, cmd, s.answer.Follow(w, s.List.State().Selection, explained))...)
}

// never is the version of no world.
const never = -1

// startSurvey begins to work out reasons for the world as it is, unless a survey is under way. Whom a what-if
// helps can only be said when it is known who is stuck without it, so that is worked out first.
func (s *Screen) startSurvey(w *screen.World) tea.Cmd {
	same := slices.Equal(w.Supposed, s.supposed)
	if w.Snapshot == nil || s.survey.Running() || s.surveyed == w.Version {
		return nil
	}
	if rest := time.Until(s.rest); rest > 0 && same {
		if s.ticking {
			return nil
		}
		s.ticking = true
		return tea.Tick(rest, func(time.Time) tea.Msg { return rested{} })
	}
	about, before := w, s.actual
	switch {
	case len(w.Supposed) > 0 && !s.known:
		about = w.Actual
	case len(w.Supposed) > 0 && same:
		before = s.reasons
	}
	if about == w {
		s.surveyed = w.Version
	}
	s.begun = time.Now()
	return s.survey.StartLater(w, func(ctx context.Context) (survey, error) { return newSurvey(about, before).proceed(ctx) })
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
	// What is supposed has changed: begin again, with what is known.
	stale := rest.about.Version != w.Version && !slices.Equal(supposed, w.Supposed)
	if len(supposed) == 0 && len(w.Supposed) > 0 {
		stale = s.known
	}
	if !done && !stale && time.Since(s.told) < tellAgain {
		return s.survey.StartLater(w, rest.proceed)
	}
	s.told = time.Now()
	show := s.Rebuild(w, builder(s.reasons, s.actual))
	if !done && !stale {
		return tea.Batch(show, s.survey.StartLater(w, rest.proceed))
	}
	if took := time.Since(s.begun); took > batch {
		s.rest = time.Now().Add(surveyBreath * took)
	}
	return tea.Batch(show, s.startSurvey(w))
}

const (
	// tellAgain is how often rows are made of what a survey has found out so far.
	tellAgain = 250 * time.Millisecond
	// surveyBreath is how long a survey that took more than one batch rests after it, as a multiple of what
	// it took: otherwise the reasons of thousands of claims would be worked out again with each of thousands
	// of changes.
	surveyBreath = 4
)

// rested comes at the end of the rest.
type rested struct{}

// explained explains a claim.
func explained(ctx context.Context, w *screen.World, ref screen.Ref) (*explain.Explanation, error) {
	return question.Claim(ctx, w.Cluster(), inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}, w.Question())
}

// State implements screen.Screen. Of all rows, whether a filter hides some or not, the status says how many
// are stuck.
func (s *Screen) State() screen.State {
	state := s.List.State()
	if s.helped > 0 {
		state.Status = fmt.Sprintf("%d helped, %s", s.helped, state.Status)
	}
	stuck, rows := 0, s.Rows()
	for i := 0; i < len(rows) && rows[i].rank() <= 1; i++ { // those that are stuck come first
		if rows[i].stuck() {
			stuck++
		}
	}
	if stuck > 0 && s.known { // as long as not all are worked out, it would be too few
		state.Status += fmt.Sprintf(", %d stuck", stuck)
	}
	return state
}
