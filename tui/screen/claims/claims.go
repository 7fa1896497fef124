package claims

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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

	// actual are the reasons of pending claims, supposed those under what is supposed. They are worked out in
	// the background.
	actual, supposed screen.Answer[map[inspect.ClaimRef]*reason]
	asked            bool
	about            []screen.Change // what is supposed
	helped           int             // how many claims a what-if helps

	// answer is about the claim that is pointed at.
	answer screen.Companion[*explain.Explanation]
}

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.actual.InTurns, s.supposed.InTurns = true, true
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
	cmds := []tea.Cmd{s.List.Update(w, msg), s.findReasons(w, msg)}
	cmd, _ := s.answer.Update(w, msg)
	return tea.Batch(append(cmds, cmd, s.answer.Follow(w, s.List.State().Selection, explained))...)
}

// findReasons works out why claims are pending, and shows what is known. Whom a what-if helps can only be
// said when it is known who is stuck without it.
func (s *Screen) findReasons(w *screen.World, msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	if !s.asked {
		s.asked = true
		cmds = append(cmds, s.actual.Ask(w, func(ctx context.Context, w *screen.World) (map[inspect.ClaimRef]*reason, error) {
			if w.Actual != nil {
				w = w.Actual
			}
			return reasonsOf(ctx, w)
		}))
	}
	cmd, news := s.actual.Update(w, msg)
	cmds = append(cmds, cmd)
	reasons := s.actual.Value
	switch supposed := len(w.Supposed) > 0; {
	case !slices.Equal(s.about, w.Supposed) && supposed:
		s.about = w.Supposed
		cmds = append(cmds, s.supposed.Ask(w, reasonsOf))
	case supposed:
		cmd, told := s.supposed.Update(w, msg)
		cmds, news = append(cmds, cmd), news || told
	case s.about != nil:
		s.supposed.Forget()
		s.about, news = nil, true
	}
	if s.supposed.Known {
		reasons = s.supposed.Value
	}
	if !news {
		return tea.Batch(cmds...)
	}
	err := cmp.Or(s.actual.Err, s.supposed.Err)
	if s.Trouble(err); err != nil {
		return tea.Batch(cmds...)
	}
	s.helped = 0
	if s.supposed.Known {
		s.helped = helped(s.actual.Value, reasons)
	}
	return tea.Batch(append(cmds, s.Rebuild(w, builder(reasons, s.actual.Value)))...)
}

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
	if stuck > 0 && s.actual.Known { // as long as not all are worked out, it would be too few
		state.Status += fmt.Sprintf(", %d stuck", stuck)
	}
	return state
}
