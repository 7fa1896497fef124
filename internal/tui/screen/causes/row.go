package causes

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// row is a pod or a claim that is stuck. Its texts are safe to show.
type row struct {
	ref    screen.Ref
	triage *explain.Triage
	// cause is the index of its cause, or -1 if that was not looked for.
	cause        int
	message, why string // of the cause, and of the subject
	helps        string
	actor        string
	age          time.Duration
}

func (r *row) number() string {
	if r.cause < 0 {
		return "not looked for"
	}
	return strconv.Itoa(r.cause + 1)
}

// builder makes the rows of a triage, which is nil as long as there is none.
func builder(t *explain.Triage) func(context.Context, *screen.World) ([]row, error) {
	return func(_ context.Context, w *screen.World) ([]row, error) {
		if t == nil {
			return nil, nil
		}
		var rows []row
		for i := range t.Causes {
			c := &t.Causes[i]
			for _, s := range c.Subjects {
				if w.InNamespace(s.Namespace) {
					rows = append(rows, rowOf(w, t, i, s))
				}
			}
		}
		for _, s := range t.NotLookedInto {
			if w.InNamespace(s.Namespace) {
				rows = append(rows, row{ref: refOf(s), triage: t, cause: -1, message: "what keeps these was not looked for", age: -1})
			}
		}
		return rows, nil
	}
}

func rowOf(w *screen.World, t *explain.Triage, cause int, s explain.StuckSubject) row {
	c := &t.Causes[cause]
	r := row{
		ref: refOf(s.Subject), triage: t, cause: cause, message: inspect.Sanitize(c.Message), why: inspect.Sanitize(s.Message),
		actor: text.ActorName(c.Actor), age: screen.Age(w.Snapshot, s.Since),
	}
	if len(c.Fixes) > 0 {
		f := &c.Fixes[0]
		r.helps = inspect.Sanitize(fmt.Sprintf("unblocks %d: %s", len(f.Frees), f.Message))
	}
	return r
}

func refOf(s explain.Subject) screen.Ref {
	kind := screen.Pod
	if s.Kind != "Pod" {
		kind = screen.Claim
	}
	return screen.Ref{Kind: kind, Namespace: s.Namespace, Name: s.Name}
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "NAMESPACE", Min: 4, Max: 24}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, inspect.Sanitize(r.ref.Namespace)) }},
	{Column: widget.Column{Title: "NAME", Min: 20, Max: 48}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(r.ref.Name)) }},
	{
		Column: widget.Column{Title: "WAITS", Right: true}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, screen.FormatAge(r.age)) },
		Compare: func(a, b *row) int { return cmp.Compare(a.age, b.age) },
		Amount:  func(r *row) (float64, bool) { return r.age.Seconds(), r.age >= 0 }, Number: screen.ParseAge,
	},
	{Column: widget.Column{Title: "WHO ACTS", Rank: 1}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.actor) }},
	{Column: widget.Column{Title: "WHAT HELPS", Min: 16, Max: 120}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.helps) }},
}

var groupings = []listing.Grouping[row]{
	{Name: "cause", Of: func(r *row) string { return r.number() }, Heading: heading},
	{Name: "namespace", Of: func(r *row) string { return inspect.Sanitize(r.ref.Namespace) }},
	{Name: "who acts", Of: func(r *row) string { return r.actor }},
}

// heading tells a cause and how many it keeps from running.
func heading(_ string, rows []*row) styled.Line {
	role := styled.Bad
	if rows[0].cause < 0 || rows[0].triage.Causes[rows[0].cause].OnPurpose {
		role = styled.Dim
	}
	return styled.Line{
		{Text: fmt.Sprintf("%d stuck  ", len(rows)), Role: role},
		{Text: rows[0].message, Role: styled.Strong},
	}
}
