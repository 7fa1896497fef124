package nodes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Screen is the view.
type Screen struct {
	*listing.List[row]
	// chosen says that the user has decided whether nodes that look alike are taken together. Until then they are if
	// there are many.
	chosen, together bool
	by               meaning
	label            string // the key by which the user wants to group, or ""
	cursor           cursor
	// spot is where the cursor is drawn; cells are how wide the columns draw them.
	spot  atomic.Pointer[spot]
	cells widths
	// listWidth is what the list had at the last drawing: right of it is the panel.
	listWidth int
	said      said

	menu *widget.Menu[labelKey] // nil unless a label is being chosen
	keys screen.Job[[]labelKey]
}

// many is how many nodes are not shown one by one unless the user wants it.
const many = 200

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.List = listing.New(listing.Config[row]{
		Noun: "rows", Build: s.builder(), Columns: base, Adapt: adapter(&s.spot, nil), Groupings: groupings,
		Empty: func(*screen.World) string {
			return "no nodes: neither Node objects are known nor ResourceSlices that name one"
		},
		Key:   func(r *row) string { return r.name },
		Ref:   func(r *row) screen.Ref { return screen.Ref{Kind: screen.Node, Name: r.name} },
		Extra: (*row).labels,
	})
	return s
}

// builder returns how rows are built under what the user has chosen so far.
func (s *Screen) builder() func(context.Context, *screen.World) ([]row, error) {
	chosen, together, by, label := s.chosen, s.together, s.by, s.label
	return func(ctx context.Context, w *screen.World) ([]row, error) {
		rows, err := build(ctx, w, by)
		if err != nil {
			return nil, err
		}
		if chosen && together || !chosen && len(rows) > many {
			rows = merge(rows, label)
		}
		return rows, nil
	}
}

const (
	zoom      keymap.Action = "zoom"
	recolour  keymap.Action = "colour by"
	right     keymap.Action = "next device"
	left      keymap.Action = "device before"
	whole     keymap.Action = "the node"
	pickLabel keymap.Action = "group by label"
)

// Keys implements screen.Screen.
func (s *Screen) Keys() keymap.Map {
	if s.menu != nil {
		return s.menu.Keys()
	}
	next := (s.by + 1) % meanings
	z := keymap.Key{Action: zoom, Press: []string{"z", "+", "-"}, Show: "z", Short: "zoom out", Help: "take nodes together that look alike"}
	if s.merged() {
		z.Short, z.Help = "zoom in", "show every node by itself"
	}
	keys := keymap.Map{
		{Action: right, Press: []string{"right", "l"}, Show: "←→", Short: "device", Help: "the device to the right (also l)"},
		{Action: left, Press: []string{"left", "h"}, Show: "←", Help: "the device to the left (also h); before the first is the node"},
		{Action: recolour, Press: []string{"o"}, Short: "by " + next.String(), Help: "let colours and marks of used devices tell the " + next.String()},
		z,
		{Action: pickLabel, Press: []string{"L"}, Help: "group by a label of nodes"},
	}
	if s.device() != nil {
		keys = append(keys, keymap.Key{Action: whole, Press: []string{"esc"}, Show: "Esc", Help: "back to the node as a whole"})
	}
	return append(keys, s.List.Keys()...)
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

// Typing implements screen.TextInput: a menu is narrowed by typing.
func (s *Screen) Typing() bool { return s.menu != nil }

// device is the device that is pointed at, or nil.
func (s *Screen) device() *inspect.DeviceStatus { return s.cursor.on(s.Row()) }

// Selection implements screen.Screen: the device that is pointed at, or else the node.
func (s *Screen) Selection() screen.Ref {
	if d := s.device(); d != nil {
		return screen.DeviceRef(d.ID)
	}
	return s.List.Selection()
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := s.keys.Take(msg); ok {
		if s.menu != nil {
			s.menu.Fill(result.Value)
		}
		return nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if s.menu != nil {
			return s.pressMenu(w, msg)
		}
		if cmd, done := s.press(w, msg); done {
			return cmd
		}
	case tea.PasteMsg:
		if s.menu != nil {
			s.menu.Insert(msg.Content)
		}
		return nil
	case tea.MouseClickMsg:
		if s.menu != nil || s.listWidth > 0 && msg.X >= s.listWidth {
			return nil
		}
		cmd := s.List.Update(w, msg)
		s.click(msg)
		return cmd
	case screen.Selected:
		return s.List.Update(w, s.selected(w, msg))
	}
	return s.List.Update(w, msg)
}

// selected is what the list is told to point at: the node of a device, in whose cells the cursor then is.
func (s *Screen) selected(w *screen.World, msg screen.Selected) screen.Selected {
	s.cursor = cursor{}
	if msg.Ref.Kind != screen.Device || w.Snapshot == nil {
		return msg
	}
	id := screen.DeviceID(msg.Ref)
	s.cursor = cursor{driver: id.Driver, device: id}
	return screen.Selected{Ref: screen.Ref{Kind: screen.Node, Name: nodeOf(w.Snapshot, msg.Ref)}}
}

// press handles the keys that other tables do not have.
func (s *Screen) press(w *screen.World, k tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	switch s.Keys().Action(k.String()) {
	case zoom:
		s.chosen, s.together = true, !s.merged()
		return s.Rebuild(w, s.builder()), true
	case recolour:
		s.by = (s.by + 1) % meanings
		return s.Rebuild(w, s.builder()), true
	case right:
		return s.step(1), true
	case left:
		if s.device() == nil {
			return screen.Send(screen.Say{Text: "this is the node; → goes to its first device", Role: styled.Dim}), true
		}
		return s.step(-1), true
	case whole:
		s.cursor = cursor{}
		return nil, true
	case pickLabel:
		s.menu = widget.NewMenu[labelKey]("group nodes by a label")
		return s.keys.Start(w, func(context.Context) ([]labelKey, error) {
			if w.Snapshot == nil {
				return nil, nil
			}
			return labelKeys(w.Snapshot), nil
		}), true
	}
	return nil, false
}

// step moves the cursor over the devices of the row, of which there may be none.
func (s *Screen) step(by int) tea.Cmd {
	r := s.Row()
	switch {
	case r == nil:
		return nil
	case len(r.drivers) == 0:
		return screen.Send(screen.Say{Text: "no device is tied to " + r.name})
	}
	s.cursor.step(r, by)
	return nil
}

// click points at the device that was hit, and at the node as a whole if none was.
func (s *Screen) click(msg tea.MouseClickMsg) {
	r := s.Row()
	column, offset := s.ColumnAt(msg.X)
	if r == nil || column < 0 || msg.Y == 0 {
		return
	}
	driver := r.chart.driverAt(column)
	at := -1
	if p := r.panelOf(driver); p != nil {
		at = p.cellAt(offset, s.cells.of(driver), s.spot.Load().chosen(r, driver))
	}
	s.cursor = cursor{}
	if at >= 0 {
		s.cursor.point(r, driver, at)
	}
}

// pressMenu handles a key while a label is chosen.
func (s *Screen) pressMenu(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	switch s.menu.Press(k) {
	case widget.MenuClosed:
		s.menu = nil
	case widget.MenuTaken:
		key, _ := s.menu.Chosen()
		s.menu = nil
		all := append(slices.Clone(groupings), byLabel(key.key))
		s.label = key.key
		return tea.Batch(s.GroupBy(w, all, len(all)-1), s.Rebuild(w, s.builder()))
	}
	return nil
}

// restyle makes cells as wide as there is room for.
func (s *Screen) restyle(want widths) {
	if maps.Equal(s.cells, want) {
		return
	}
	s.cells = want
	s.Restyle(adapter(&s.spot, want))
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	s.restyle(nil)
	text := s.List.Plain(w, width)
	if rows := s.Rows(); len(rows) > 0 {
		text += "\n\n" + strings.TrimSpace(rows[0].chart.legend(nil, 0).String())
	}
	return text
}

// Status implements screen.Screen.
func (s *Screen) Status() string {
	nodes, shown := 0, 0
	if rows := s.Rows(); len(rows) > 0 {
		nodes = rows[0].chart.nodes
	}
	if shown = nodes; s.FilterText() != "" {
		shown = 0
		for r := range s.Shown() {
			shown += r.count
		}
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
