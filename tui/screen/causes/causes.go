package causes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Screen is the view. What is stuck is looked at in the background; rows are made of what is known.
type Screen struct {
	*listing.List[row]
	answer screen.Answer[*explain.Triage]
	asked  bool
	// drawn is the panel that was drawn last. Of the rows that begin with first, single is how many are of
	// one subject, and stuck what there is of those.
	drawn  panel
	first  *row
	single int
	stuck  count
}

// panel tells of a cause in so many columns.
type panel struct {
	triage       *explain.Triage
	cause, width int
	soFar        bool
	lines        []styled.Line
}

// patience is how old the answer may become while nobody presses keys. To look at all that is stuck is by far
// the most that the program does for a small cluster which changes now and then.
const patience = 10 * time.Second

// pause is the time between two looks at what is known so far.
const pause = 250 * time.Millisecond

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.answer.Patience = patience
	s.List = listing.New(listing.Config[row]{
		Noun: "pods and claims", Build: builder(nil, false), Light: true, Columns: columns,
		Level: func(r *row) int { return r.level }, Top: "cause",
		Key:   (*row).key,
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.why + " " + r.message },
		Empty: s.whyEmpty,
		Aside: func(r *row, width int) []styled.Line {
			return append([]styled.Line{styled.Text(styled.Dim, "cause "+r.number())}, s.panel(r, width)...)
		},
		Panel: func(r *row, _ *screen.World, width, _ int) (styled.Line, []styled.Line) {
			var lines []styled.Line
			for _, line := range s.panel(r, width-len(margin)) {
				lines = append(lines, append(styled.Text(styled.Plain, margin), line...))
			}
			return styled.Text(styled.Strong, "cause "+r.number()), lines
		},
	})
	return s
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	cmds := []tea.Cmd{s.List.Update(w, msg)}
	if !s.asked {
		s.asked = true
		cmds = append(cmds, s.answer.AskTelling(w, look))
	}
	cmd, news := s.answer.Update(w, msg)
	if news {
		s.Trouble(s.answer.Err)
	}
	if news && s.answer.Err == nil {
		cmds = append(cmds, s.Rebuild(w, builder(s.answer.Value, s.answer.SoFar)))
	}
	return tea.Batch(append(cmds, cmd)...)
}

// look asks what is stuck in the cluster, and tells what is known so far, if anybody wants to know, after
// each pause.
func look(ctx context.Context, w *screen.World, tell func(*explain.Triage)) (*explain.Triage, error) {
	var budget timebudget.Budget
	opts := triage.Options{Question: w.Question(), Bound: func(ctx context.Context, ask func(context.Context) error) error {
		err := budget.Ask(ctx, ask)
		if errors.Is(err, timebudget.ErrTooLong) {
			return triage.ErrTooLong
		}
		return err
	}}
	if tell != nil {
		var mutex sync.Mutex
		var told time.Time
		opts.Looked = func(left int, soFar func() *explain.Triage) {
			if left == 0 {
				mutex.Lock() // what is known last is told last
			} else if !mutex.TryLock() {
				return
			}
			defer mutex.Unlock()
			if left > 0 && time.Since(told) < pause {
				return
			}
			t := soFar()
			arrange(t)
			tell(t)
			told = time.Now()
		}
	}
	if !opts.Question.Hypothetical { // of what is only supposed no command would be true
		opts.Explained = func(e *explain.Explanation) { remedy.Add(w.Snapshot, e, w.AskedAbout(refOf(e.Subject))) }
	}
	t, err := triage.Of(ctx, w.Cluster(), opts)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was asked
	}
	for i := range t.Causes {
		for j := range t.Causes[i].Fixes {
			f := &t.Causes[i].Fixes[j]
			remedy.AddToAll(w.Snapshot, f, w.AskedAbout(refOf(f.Of))) // which has none to write anew of what is supposed
		}
	}
	arrange(t)
	return t, nil
}

// arrange puts the pods of a workload into the order of their numbers.
func arrange(t *explain.Triage) {
	for i := range t.Causes {
		slices.SortStableFunc(t.Causes[i].Subjects, func(a, b explain.StuckSubject) int {
			return cmp.Or(a.Since.Compare(b.Since), words.CompareNames(a.FullName(), b.FullName()))
		})
	}
}

// State implements screen.Screen. The status counts what is stuck.
func (s *Screen) State() screen.State {
	state := s.List.State()
	state.Unsettled = state.Unsettled || !s.answer.Known && !s.answer.SoFar
	state.Keys = append(screen.Keys{s.fixesKey()}, state.Keys...)
	if len(s.Rows()) == 0 {
		if !s.answer.Known || s.answer.Err != nil || !s.Current() {
			state.Status = "" // to count what is there as none would be untrue
		}
		return state
	}
	s.count()
	state.Status = s.stuck.stuck()
	if r := &s.Rows()[0]; r.soFar {
		state.Status += soFar(r.triage)
	}
	if state.Filter != "" {
		if n := len(slices.Collect(s.Shown())); n < s.single {
			state.Status = fmt.Sprintf("%d shown of %s", n, state.Status)
		}
	}
	if n := len(state.Marked); n > 0 {
		state.Status = fmt.Sprintf("%d marked, %s", n, state.Status)
	}
	return state
}

// count counts the rows, if they are other ones than those that were counted.
func (s *Screen) count() {
	rows := s.Rows()
	if s.first == &rows[0] {
		return
	}
	var all []*row
	for i := range rows {
		if r := &rows[i]; r.many == (count{}) {
			all = append(all, r)
		}
	}
	s.first, s.single, s.stuck = &rows[0], len(all), counted(all)
}

// soFar says how far it is known what is stuck.
func soFar(t *explain.Triage) string {
	if n := len(t.NotLookedInto); n > 0 {
		return fmt.Sprintf(" so far, %d not looked into yet", n)
	}
	return ", trying what helps"
}

// whyEmpty says what it means that there are no rows.
func (s *Screen) whyEmpty(w *screen.World) string {
	switch {
	case !s.answer.Known, s.answer.Err == nil && !s.Current():
		return "looking at everything that waits"
	case s.answer.Err != nil:
		return "what is stuck is not known: " + inspect.Sanitize(s.answer.Err.Error())
	case screen.Unread(w, inspect.Pods, inspect.Claims) != "":
		return "nothing is known to be stuck: " + screen.Unread(w, inspect.Pods, inspect.Claims)
	case w.Namespace != "" && !seen(w.Snapshot, w.Namespace):
		return "nothing of a namespace " + inspect.Sanitize(w.Namespace) + " is known; n shows other namespaces"
	case w.Namespace != "" && s.answer.Value.Stuck()+s.answer.Value.Undecided() > 0:
		return "nothing is stuck in namespace " + inspect.Sanitize(w.Namespace) + "; n shows other namespaces"
	case s.answer.Value.Unsure:
		return "nothing is known to be stuck; which nodes kube-scheduler chooses decides"
	}
	return "nothing is stuck"
}

// seen reports whether there is a namespace, or anything in it that could be stuck.
func seen(s *inspect.Snapshot, namespace string) bool {
	o := s.Objects()
	return slices.ContainsFunc(o.Namespaces, func(n *corev1.Namespace) bool { return n.Name == namespace }) ||
		slices.ContainsFunc(o.Pods, func(p *corev1.Pod) bool { return p.Namespace == namespace }) ||
		slices.ContainsFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Namespace == namespace })
}

// margin is what is left of a panel below the table, as in other views.
const margin = "  "

// panel tells of the cause of a row what the table has no room for. The lines must not be written.
func (s *Screen) panel(r *row, width int) []styled.Line {
	if r.cause < 0 {
		return []styled.Line{styled.Text(styled.Plain, r.message)}
	}
	if d := &s.drawn; d.triage == r.triage && d.cause == r.cause && d.width == width && d.soFar == r.soFar {
		return d.lines
	}
	lines := text.CauseLines(r.triage, r.cause, text.Options{Width: width, Screen: true})
	if r.soFar {
		lines = append(lines, styled.Text(styled.Dim, "   what helps is not tried yet"))
	}
	s.drawn = panel{r.triage, r.cause, width, r.soFar, styled.Narrow(lines, width)}
	return s.drawn.lines
}
