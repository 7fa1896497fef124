package causes

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
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
				rows = append(rows, row{ref: refOf(s), triage: t, cause: -1, message: notLookedFor, why: notLookedFor, age: -1})
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
		r.helps = inspect.Sanitize(strings.TrimPrefix(f.Message, "in claim "+s.Name+": ")) // the row names it
		if n := len(f.Frees); n > 1 {
			least := ""
			if f.AtLeast {
				least = "at least "
			}
			r.helps = fmt.Sprintf("unblocks %s%d: %s", least, n, r.helps)
		}
	}
	return r
}

const notLookedFor = "what keeps it was not looked for"

// undecided reports whether it is not known whether the subject is stuck.
func (r *row) undecided() bool {
	return r.cause < 0 || r.triage.Causes[r.cause].Verdict == explain.Unknown
}

// stuckText says how much is stuck, as [explain.Triage.Stuck] counts it, and of how much that is not known.
func stuckText(rows []*row) string {
	var pods, claims, undecided int
	for _, r := range rows {
		switch {
		case r.undecided():
			undecided++
		case r.ref.Kind == screen.Pod:
			pods++
		default:
			claims++
		}
	}
	var parts []string
	if pods > 0 || claims == 0 && undecided == 0 {
		parts = append(parts, words.Count(pods, "pod"))
	}
	if claims > 0 {
		parts = append(parts, words.Count(claims, "claim"))
	}
	text := strings.Join(parts, " and ")
	switch {
	case undecided == 0:
		return text + " stuck"
	case text == "":
		return fmt.Sprintf("%d not known", undecided)
	}
	return fmt.Sprintf("%s stuck, %d not known", text, undecided)
}

func refOf(s explain.Subject) screen.Ref {
	kind := screen.Pod
	if s.Kind != "Pod" {
		kind = screen.Claim
	}
	return screen.Ref{Kind: kind, Namespace: s.Namespace, Name: s.Name}
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "NAMESPACE", Short: "NS", Min: 6, Max: 24}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, inspect.Sanitize(r.ref.Namespace)) }},
	{Column: widget.Column{Title: "NAME", Min: 20, Max: 48}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(r.ref.Name)) }},
	{
		Column: widget.Column{Title: "WAITS", Right: true}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, screen.FormatAge(r.age)) },
		Compare: func(a, b *row) int { return cmp.Compare(a.age, b.age) },
		Amount:  func(r *row) (float64, bool) { return r.age.Seconds(), r.age >= 0 }, Number: screen.ParseAge,
	},
	{Column: widget.Column{Title: "WHY", Min: 48, Max: 160}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.why) }},
	{Column: widget.Column{Title: "WHO ACTS", Rank: 1}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.actor) }},
	{Column: widget.Column{Title: "WHAT HELPS", Min: 40, Max: 120, Rank: 2}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.helps) }},
}

var groupings = []listing.Grouping[row]{
	{Name: "cause", Of: func(r *row) string { return r.number() }, Heading: heading, Lone: true},
	{Name: "namespace", Of: func(r *row) string { return inspect.Sanitize(r.ref.Namespace) }},
	{Name: "who acts", Of: func(r *row) string { return r.actor }},
}

// heading tells a cause and how many it keeps from running.
func heading(_ string, rows []*row) styled.Line {
	role := styled.Bad
	if rows[0].undecided() || rows[0].triage.Causes[rows[0].cause].OnPurpose {
		role = styled.Dim
	}
	return styled.Line{
		{Text: stuckText(rows) + "  ", Role: role},
		{Text: rows[0].message, Role: styled.Strong},
	}
}
