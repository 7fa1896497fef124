package usage

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Screen is the view.
type Screen struct {
	*listing.List[row]
	by usage.By
}

// New makes the view.
func New() *Screen {
	s := &Screen{by: usage.Groupings()[0]}
	s.List = listing.New(listing.Config[row]{
		Noun: "users of devices", Build: builder(s.by), Columns: columnsFor(s.by),
		Resources: []inspect.Resource{inspect.Claims}, Namespaced: "claims", None: "there are no claims, so nobody uses devices",
		Adapt: func(rows []row) []listing.Column[row] {
			if len(rows) == 0 {
				return columnsFor(usage.Namespace)
			}
			return columnsFor(rows[0].report.By)
		},
		Key:   func(r *row) string { return fmt.Sprint(r.report.By, r.Key) },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.extra() },
		Panel: func(r *row, w *screen.World, width, _ int) (styled.Line, []styled.Line) {
			return append(r.title(), styled.Span{Text: "  " + r.rank(), Role: styled.Dim}), r.panel(w, width)
		},
	})
	return s
}

// State implements screen.Screen. The key that groups the rows of other tables has other rows counted here.
// What the status tells is about all rows, whether a filter hides some or not.
func (s *Screen) State() screen.State {
	state := s.List.State()
	for i := range state.Keys {
		if k := &state.Keys[i]; k.Name == "group" {
			k.Off, k.Short, k.Help, k.Do = "", "by "+string(s.next()), "count by namespace, class, workload, driver, and queue and cohort of Kueue", s.regroup
		}
	}
	rows := s.Rows()
	if len(rows) == 0 {
		return state
	}
	r, least := rows[0].report, ""
	if r.Unseen {
		least = "≥"
	}
	state.Status = fmt.Sprintf("%d of %d held, %s%d idle, %s%s refused", r.Total.Devices, r.Cluster.Total, least, r.Total.Idle, least, words.Count(r.Total.Refused, "claim"))
	state.Unsettled = state.Unsettled || r.By != s.by
	return state
}

// regroup counts by something else, and goes to the largest.
func (s *Screen) regroup(w *screen.World) tea.Cmd {
	s.by = s.next()
	top, _ := s.List.State().Keys.Do(w, "home")
	return tea.Batch(top, s.Rebuild(w, builder(s.by)))
}

// next is what is counted by after this.
func (s *Screen) next() usage.By {
	all := usage.Groupings()
	if rows := s.Rows(); len(rows) > 0 && rows[0].queued {
		all = append(all, usage.Queue, usage.Cohort)
	}
	return all[(slices.Index(all, s.by)+1)%len(all)]
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	text := s.List.Plain(w, width)
	if rows := s.Rows(); len(rows) > 0 {
		text += "\n\n" + total(rows[0].report)
	}
	return text
}

// total is what all rows come to.
func total(r *usage.Report) string {
	text := fmt.Sprintf("%s held of %d (%s), %d of them idle%s; %s refused, waiting for %s", words.Count(r.Total.Devices, "device"), r.Cluster.Total,
		words.FreeOf(r.Cluster), r.Total.Idle, words.GoneToo(r.Total.Gone), words.Count(r.Total.Refused, "claim"), words.Count(r.Total.Wanted, "device"))
	if r.Unseen {
		text += "; more may be idle or refused, for not all pods were read"
	}
	return text
}
