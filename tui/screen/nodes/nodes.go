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
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Screen is the view.
type Screen struct {
	*listing.List[row]
	// chosen says that the user has decided whether nodes that look alike are taken together. Until then they
	// are if there are many.
	chosen, together bool
	// by is what colours and marks tell if the user has picked that. Until then it is the state, and on a
	// wide screen the owner.
	by     meaning
	picked bool
	label  string     // the key by which the user wants to group, or ""
	about  screen.Ref // the claim or the pod that the map is about, if any
	// pointing says that the cursor goes to the first row as soon as the map is about that.
	pointing bool
	cursor   cursor
	// spot is where the cursor is drawn.
	spot atomic.Pointer[spot]
	// listWidth is what the list had at the last drawing: right of it is the panel.
	listWidth int
}

// many is how many nodes are not shown one by one unless the user wants it.
const many = 200

// New makes the view.
func New() *Screen {
	s := &Screen{}
	s.List = listing.New(listing.Config[row]{
		Noun: "rows", Build: s.builder(), Columns: base, Adapt: adapter(&s.spot), Groupings: groupings,
		None:  "no nodes: neither Node objects are known nor ResourceSlices that name one",
		Key:   func(r *row) string { return r.name },
		Ref:   func(r *row) screen.Ref { return screen.Ref{Kind: screen.Node, Name: r.name} },
		Extra: (*row).labels,
	})
	return s
}

// builder returns how rows are built under what the user has chosen so far.
func (s *Screen) builder() func(context.Context, *screen.World) ([]row, error) {
	chosen, together, by, label := s.chosen, s.together, s.by, s.label
	picked, about := s.picked, s.about
	if !picked {
		by = byOwner
	}
	return func(ctx context.Context, w *screen.World) ([]row, error) {
		rows, err := build(ctx, w, by, picked, about)
		if err != nil {
			return nil, err
		}
		if chosen && together || !chosen && len(rows) > many {
			rows = merge(rows, label)
		}
		return rows, nil
	}
}

// State implements screen.Screen. The selection is the device that is pointed at, or else the node.
func (s *Screen) State() screen.State {
	state := s.List.State()
	next := (s.means() + 1) % meanings
	zoom := screen.Key{Name: "zoom", Press: []string{"z", "+", "-"}, Show: "z", Short: "zoom out", Help: "take nodes together that look alike", Do: s.zoom}
	if s.merged() {
		zoom.Short, zoom.Help = "zoom in", "show every node by itself"
	}
	keys := screen.Keys{
		{Name: "next device", Press: []string{"right", "l"}, Show: "←→", Short: "device", Help: "the device to the right (also l)", Do: s.step(1)},
		{Name: "device before", Press: []string{"left", "h"}, Show: "←", Help: "the device to the left (also h); before the first is the node", Do: s.step(-1)},
		{Name: "colour by", Press: []string{"o"}, Short: "by " + next.String(), Help: "let colours and marks of used devices tell the " + next.String(), Do: s.recolour},
		zoom,
		{Name: "group by label", Press: []string{"L"}, Help: "group by a label of nodes", Do: s.pickLabel},
	}
	if d := s.cursor.on(s.Row()); d != nil {
		state.Selection = screen.DeviceRef(d.ID)
		keys = append(keys, screen.Key{Name: "the node", Press: []string{"esc"}, Show: "Esc", Help: "back to the node as a whole", Do: screen.Then(func() { s.cursor = cursor{} })})
	}
	if s.about.Kind != screen.None {
		keys = append(keys, screen.Key{Name: "about nothing", Press: []string{"m"}, Help: "no longer what it could use", Do: s.forget})
	}
	state.Keys, state.Status = append(keys, state.Keys...), s.status()
	return state
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
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		if s.listWidth > 0 && msg.X >= s.listWidth {
			return nil
		}
		cmd := s.List.Update(w, msg)
		s.click(msg)
		return cmd
	case screen.Selected:
		if k := msg.Ref.Kind; k == screen.Claim || k == screen.Pod {
			return s.aim(w, msg.Ref)
		}
		return s.List.Update(w, s.selected(w, msg))
	}
	cmd := s.List.Update(w, msg)
	if rows := s.Rows(); s.pointing && len(rows) > 0 && rows[0].chart.about == s.about {
		s.pointing = false
		if rows[0].chart.aim == nil {
			text := fmt.Sprintf("%s %s waits for no devices", s.about.Kind.Word(), s.about)
			s.about = screen.Ref{}
			return tea.Batch(cmd, screen.Send(screen.Say{Text: text, Role: styled.Warn}))
		}
		first := screen.Ref{Kind: screen.Node, Name: rows[0].name}
		return tea.Batch(cmd, s.List.Update(w, screen.Selected{Ref: first}))
	}
	return cmd
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

// aim has the map say what a claim or a pod could use, and points at the first node. One that has its devices
// is pointed at where they are.
func (s *Screen) aim(w *screen.World, ref screen.Ref) tea.Cmd {
	s.cursor, s.about = cursor{}, ref
	node := ""
	if w.Snapshot != nil {
		if claim, ok := w.Snapshot.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}); ok && ref.Kind == screen.Claim {
			node = string(inspect.AllocationNode(claim.Status.Allocation))
		}
		if pod, ok := w.Snapshot.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name}); ok && ref.Kind == screen.Pod {
			node = pod.Spec.NodeName
		}
	}
	if node != "" {
		s.about = screen.Ref{}
		return tea.Batch(s.List.Update(w, screen.Selected{Ref: screen.Ref{Kind: screen.Node, Name: node}}), s.Rebuild(w, s.builder()))
	}
	s.pointing = true
	return s.Rebuild(w, s.builder())
}

// forget has the map be about nothing but the nodes.
func (s *Screen) forget(w *screen.World) tea.Cmd {
	s.about = screen.Ref{}
	return s.Rebuild(w, s.builder())
}

// zoom takes nodes together that look alike, or shows every node by itself.
func (s *Screen) zoom(w *screen.World) tea.Cmd {
	s.chosen, s.together = true, !s.merged()
	return s.Rebuild(w, s.builder())
}

// means is what colours and marks tell now.
func (s *Screen) means() meaning {
	if at := s.spot.Load(); !s.picked && at != nil && len(at.scale) > 0 {
		return byOwner
	}
	return s.by
}

// recolour has colours and marks tell the next thing.
func (s *Screen) recolour(w *screen.World) tea.Cmd {
	s.by, s.picked = (s.means()+1)%meanings, true
	return s.Rebuild(w, s.builder())
}

// step moves the cursor over the devices of the row, of which there may be none.
func (s *Screen) step(by int) func(*screen.World) tea.Cmd {
	return func(*screen.World) tea.Cmd {
		r := s.Row()
		switch {
		case r == nil:
			return nil
		case by < 0 && s.cursor.on(r) == nil:
			return screen.Send(screen.Say{Text: "this is the node; → goes to its first device", Role: styled.Dim})
		case len(r.drivers) == 0:
			return screen.Send(screen.Say{Text: "no device is tied to " + r.name})
		}
		s.cursor.step(r, by)
		return nil
	}
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
		at = p.cellAt(offset, s.spot.Load().drawing(r, column-1))
	}
	s.cursor = cursor{}
	if at >= 0 {
		s.cursor.point(r, driver, at)
	}
}

// pickLabel lets the user choose a label of nodes to group by.
func (s *Screen) pickLabel(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	labels := map[string]bool{}
	for _, n := range w.Snapshot.Nodes() {
		for key := range n.Labels {
			labels[key] = true
		}
	}
	var offers []screen.Offer
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		offers = append(offers, screen.Offer{Text: key, Take: func(w *screen.World) tea.Cmd {
			all := append(slices.Clone(groupings), byLabel(key))
			s.label = key
			return tea.Batch(s.GroupBy(w, all, len(all)-1), s.Rebuild(w, s.builder()))
		}})
	}
	return screen.Send(screen.Choose{Label: "group by label: ", Offers: offers})
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	text := s.List.Plain(w, width)
	if rows := s.Rows(); len(rows) > 0 {
		text += "\n\n" + strings.TrimSpace(rows[0].chart.legend(nil, 0, nil).String())
	}
	return text
}

// status counts the nodes.
func (s *Screen) status() string {
	rows := s.Rows()
	if len(rows) == 0 {
		return "0 nodes"
	}
	nodes, shown := rows[0].chart.nodes, 0
	for r := range s.Shown() {
		shown += r.count
	}
	switch {
	case shown < nodes:
		return fmt.Sprintf("%d of %s", shown, words.Count(nodes, "node"))
	case nodes == 1 || nodes == len(rows):
		return words.Count(nodes, "node")
	}
	return fmt.Sprintf("%d nodes of %d kinds", nodes, len(rows))
}
