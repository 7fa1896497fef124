package usage

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
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
		Noun: "users of devices", Build: builder(s.by), Columns: columnsFor(s.by), Empty: whyEmpty,
		Adapt: func(rows []row) []listing.Column[row] {
			if len(rows) == 0 {
				return columnsFor(usage.Namespace)
			}
			return columnsFor(rows[0].report.By)
		},
		Key:   func(r *row) string { return fmt.Sprint(r.report.By, r.Key) },
		Ref:   func(r *row) screen.Ref { return r.ref },
		Extra: func(r *row) string { return r.extra() },
	})
	return s
}

// regroup is the action of the key that groups the rows of other tables. Here it has other rows counted.
const regroup keymap.Action = "group"

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map {
	keys := slices.Clone(s.List.Keys())
	for i := range keys {
		if keys[i].Action == regroup {
			keys[i].Off, keys[i].Short, keys[i].Help = "", "by "+string(s.next()), "count by namespace, class, workload, driver"
		}
	}
	return keys
}

// next is what is counted by after this.
func (s *Screen) next() usage.By {
	all := usage.Groupings()
	return all[(slices.Index(all, s.by)+1)%len(all)]
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok && s.Keys().Action(key.String()) == regroup {
		s.by = s.next()
		top := s.List.Update(w, tea.KeyPressMsg{Code: tea.KeyHome}) // the largest of the others
		return tea.Batch(top, s.Rebuild(w, builder(s.by)))
	}
	return s.List.Update(w, msg)
}

// Unsettled implements screen.Pending.
func (s *Screen) Unsettled() bool {
	rows := s.Rows()
	return s.List.Unsettled() || len(rows) > 0 && rows[0].report.By != s.by
}

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	body := func(height int) string { return s.List.View(w, width, height) }
	r := s.Row()
	if r == nil {
		return body(height)
	}
	return widget.Split(w.Theme, body, append(r.title(), styled.Span{Text: "  " + r.rank(), Role: styled.Dim}), r.panel(w, width), width, height)
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	text := s.List.Plain(w, width)
	if rows := s.Rows(); len(rows) > 0 {
		text += "\n\n" + total(rows[0].report)
	}
	return text
}

// Status implements screen.Screen. What it tells is about all rows, whether a filter hides some or not.
func (s *Screen) Status() string {
	rows := s.Rows()
	if len(rows) == 0 {
		return s.List.Status()
	}
	r := rows[0].report
	least := ""
	if r.Unseen {
		least = "≥"
	}
	return fmt.Sprintf("%d of %d held, %s%d idle, %s%s refused", r.Total.Devices, r.Cluster.Total, least, r.Total.Idle, least, words.Count(r.Total.Refused, "claim"))
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

// whyEmpty says why nothing is counted.
func whyEmpty(w *screen.World) string {
	switch unread := screen.Unread(w, inspect.Claims); {
	case unread != "":
		return unread
	case w.Namespace != "" && len(w.Snapshot.Objects().Claims) > 0:
		return "no claims in namespace " + inspect.Sanitize(w.Namespace) + "; n shows other namespaces"
	}
	return "there are no claims, so nobody uses devices"
}
