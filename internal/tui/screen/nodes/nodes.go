package nodes

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/internal/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// Screen is the view.
type Screen struct {
	*listing.List[row]
	// chosen says that the user has decided whether nodes that look alike are taken together. Until then they are if
	// there are many.
	chosen, together bool
}

// many is how many nodes are not shown one by one unless the user wants it.
const many = 200

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.List = listing.New(listing.Config[row]{
		Noun: "rows", Build: s.builder(), Columns: base, Adapt: adapt, Groupings: groupings,
		Empty: func(*screen.World) string {
			return "no nodes: neither Node objects are known nor ResourceSlices that name one"
		},
		Key: func(r *row) string { return r.name },
		Ref: func(r *row) screen.Ref { return screen.Ref{Kind: screen.Node, Name: r.name} },
	})
	return s
}

// builder returns how rows are built under what the user has chosen so far.
func (s *Screen) builder() func(context.Context, *screen.World) ([]row, error) {
	chosen, together := s.chosen, s.together
	return func(ctx context.Context, w *screen.World) ([]row, error) {
		rows, err := build(ctx, w)
		if err != nil {
			return nil, err
		}
		if chosen && together || !chosen && len(rows) > many {
			rows = merge(rows)
		}
		return rows, nil
	}
}

const zoom keymap.Action = "zoom"

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map {
	k := keymap.Key{Action: zoom, Press: []string{"z", "+", "-"}, Show: "z", Short: "zoom out", Help: "take nodes together that look alike"}
	if s.merged() {
		k.Short, k.Help = "zoom in", "show every node by itself"
	}
	return append(keymap.Map{k}, s.List.Keys()...)
}

// merged reports whether rows stand for several nodes now.
func (s *Screen) merged() bool {
	if s.chosen {
		return s.together
	}
	for i, r := range s.Rows() {
		if r.count > 1 {
			return true
		}
		if i == many {
			break
		}
	}
	return false
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && s.Keys().Action(k.String()) == zoom {
		s.chosen, s.together = true, !s.merged()
		return s.Rebuild(w, s.builder())
	}
	return s.List.Update(w, msg)
}

// legend explains the cells.
func legend() styled.Line {
	line := styled.Line{{Text: "  "}}
	for _, c := range cells {
		line = append(line, styled.Span{Text: c.mark, Role: c.role}, styled.Span{Text: " " + c.name + "   ", Role: styled.Dim})
	}
	return line
}

// View implements screen.Screen.
func (s *Screen) View(w *screen.World, width, height int) string {
	if height < 6 {
		return s.List.View(w, width, height)
	}
	lines := []string{widget.Fit(s.List.View(w, width, height-3), width, height-3), widget.Rule(w.Theme, nil, width)}
	remark := styled.Line{}
	if row := s.Row(); row != nil {
		remark = row.sentence()
	}
	return strings.Join(append(lines, widget.Render(w.Theme, remark, width), widget.Render(w.Theme, legend(), width)), "\n")
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	return s.List.Plain(w, width) + "\n\n" + strings.TrimSpace(legend().String())
}

// Status implements screen.Screen.
func (s *Screen) Status() string {
	nodes, shown := 0, 0
	for _, r := range s.Rows() {
		nodes += r.count
	}
	for r := range s.Shown() {
		shown += r.count
	}
	switch {
	case shown < nodes:
		return fmt.Sprintf("%d of %d nodes", shown, nodes)
	case nodes == 1:
		return "1 node"
	case nodes == len(s.Rows()):
		return fmt.Sprintf("%d nodes", nodes)
	}
	return fmt.Sprintf("%d nodes of %d kinds", nodes, len(s.Rows()))
}
