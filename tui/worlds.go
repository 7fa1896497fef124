package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
)

// worlds are the cluster as it is and as it is shown, which differ by what is supposed.
type worlds struct {
	*navigation
	tally record.Tally
	// base is the newest snapshot as it came.
	base       *inspect.Snapshot
	version    int
	actual     *screen.World // the newest with nothing supposed
	hypotheses []screen.Change
	noted      []screen.Change // of those, what the history has
	again      screen.Change   // what the key before supposed, if that was the key that does so
	suppose    screen.Job[supposition]
	idle       bool // nobody has pressed a key for a while
}

// supposition is a snapshot under changes, with what it was made of.
type supposition struct {
	base     *inspect.Snapshot
	changes  []screen.Change
	snapshot *inspect.Snapshot
}

// now is the time of a live cluster, and that of the snapshot otherwise.
func (m *worlds) now() time.Time {
	if m.options.Origin != "" && m.base != nil {
		return m.base.Time()
	}
	return m.options.Clock()
}

// rebuildWorld makes a world of the newest snapshot and of what is supposed. With suppositions the snapshot
// is changed in the background first.
func (m *worlds) rebuildWorld() tea.Cmd {
	m.noteSupposed()
	if len(m.hypotheses) == 0 {
		m.suppose.Stop()
		return m.change(m.base, nil)
	}
	if m.suppose.Running() {
		return nil // its result is looked at when it comes
	}
	base, changes := m.base, m.hypotheses
	return m.suppose.Start(m.world, func(context.Context) (supposition, error) {
		return supposition{base, changes, disruption.Apply(base, changes)}, nil
	})
}

// change replaces the world.
func (m *worlds) change(s *inspect.Snapshot, supposed []screen.Change) tea.Cmd {
	m.version++
	w := m.world.Next(m.version, s)
	w.SetNow(m.now())
	w.Supposed, w.Idle = supposed, m.idle
	w.History = m.tally.Begin(w)
	if len(supposed) == 0 {
		m.actual = w
	} else {
		if m.actual == nil || m.actual.Snapshot != m.base {
			m.actual = m.world.Next(m.version, m.base)
		}
		w.Actual = m.actual
	}
	m.world = w
	return tea.Batch(m.update(m.top(), screen.Changed{}), m.tally.Look(w))
}

// take shows a supposed cluster, and begins with the next one if the cluster or the suppositions have
// changed in the meantime.
func (m *worlds) take(result screen.Result[supposition]) tea.Cmd {
	if result.Err != nil {
		return nil
	}
	show := m.change(result.Value.snapshot, result.Value.changes)
	if result.Value.base != m.base || !slices.Equal(result.Value.changes, m.hypotheses) {
		return tea.Batch(show, m.rebuildWorld())
	}
	return show
}

// setNamespace narrows what is shown to a namespace. If it is empty, all namespaces are shown.
func (m *worlds) setNamespace(namespace string) {
	m.version++
	m.set(func(w *screen.World) { w.Namespace, w.Version = namespace, m.version })
}

// enter shows another namespace if an object of it would be hidden.
func (m *worlds) enter(namespace string) {
	if namespace != "" && !m.world.InNamespace(namespace) {
		m.setNamespace(namespace)
		m.remark = screen.Say{Text: "now in namespace " + namespace + "; n shows others", Role: styled.Accent}
	}
}

// supposeOff says why nothing can be supposed of objects, or "".
func (m *worlds) supposeOff(refs []screen.Ref) string {
	if m.planning() {
		if len(m.state().Suppositions) == 0 {
			return "no pod has to move, or that is not known yet"
		}
		return ""
	}
	why := ""
	for _, ref := range refs {
		if why = m.supposeOneOff(ref); why == "" {
			return ""
		}
	}
	return why
}

func (m *worlds) supposeOneOff(ref screen.Ref) string {
	if slices.Contains(m.hypotheses, m.supposable(ref)) {
		return "" // to be taken back
	}
	switch ref.Kind {
	case screen.Claim:
		if m.base == nil {
			return ""
		}
		return disruption.HoldsNothing(m.base, ref)
	case screen.Device, screen.Node:
		return ""
	case screen.None:
		return "nothing is selected"
	}
	if m.removalOff(only(ref)) == "" {
		return "p asks what would be without it"
	}
	return fmt.Sprintf("nothing can be supposed of a %s", ref.Kind)
}

// supposeWord is what the key that supposes something is for.
func (m *worlds) supposeWord() string {
	if !m.planning() {
		return "what-if"
	}
	if changes := m.state().Suppositions; len(changes) > 0 && m.supposesAll(changes) {
		return "take back"
	}
	return "suppose it"
}

// supposable is what the key for it supposes, or takes back, of the object that is pointed at. Pressed again
// it takes back what it supposed, wherever the row has gone or whichever is pointed at instead.
func (m *worlds) supposable(ref screen.Ref) screen.Change {
	if slices.Contains(m.hypotheses, m.again) {
		return m.again
	}
	if ref.Kind == screen.Node {
		if c, ok := m.world.SuppositionOf(inspect.NodeName(ref.Name)); ok {
			return c
		}
	}
	kind := map[screen.Kind]screen.ChangeKind{
		screen.Claim: screen.ReleaseClaim, screen.Device: screen.IgnoreTaint, screen.Node: screen.DuplicateNode,
	}[ref.Kind]
	return screen.Change{Kind: kind, Ref: ref}
}

// supposeOrNot does what supposable says, and keeps the cursor at the object.
func (m *worlds) supposeOrNot(ref screen.Ref) tea.Cmd {
	c := m.supposable(ref)
	goes := ref.Kind == screen.Node && m.world.Supposes(inspect.NodeName(ref.Name)) && slices.Contains(m.hypotheses, c)
	cmd := m.toggle(c)
	m.again = c
	switch {
	case len(m.pages) > 0:
		return cmd
	case goes: // the node that it was made after stays, so that the key can suppose it again
		ref = c.Ref
	case c.Ref != ref:
		return cmd
	}
	return tea.Batch(m.update(m.top(), screen.Selected{Ref: ref}), cmd)
}

// supposeSubjects supposes something of all objects that are marked, or takes it back if all of it is
// supposed. Without marks it is about the object at the cursor.
func (m *worlds) supposeSubjects(*screen.World) tea.Cmd {
	if m.planning() {
		return m.supposePage()
	}
	s := m.state()
	if len(s.Marked) == 0 || m.base == nil {
		return m.supposeOrNot(s.Selection)
	}
	var missing, there []screen.Change
	why := ""
	for _, ref := range s.Marked {
		c := m.supposable(ref)
		if slices.Contains(m.hypotheses, c) {
			there = append(there, c)
			continue
		}
		off := m.supposeOneOff(ref)
		if off == "" {
			off = disruption.Pointless(m.world.Snapshot, c)
		}
		if off == "" {
			missing = append(missing, c)
		} else if why == "" {
			why = off
		}
	}
	if len(missing)+len(there) == 0 {
		return m.say(styled.Warn, fmt.Sprintf("nothing can be supposed of any of the %d that are marked: %s", len(s.Marked), why))
	}
	if len(missing) == 0 {
		m.hypotheses = without(m.hypotheses, there)
		m.say(styled.Supposed, fmt.Sprintf("%d changes are no longer supposed", len(there)))
	} else {
		m.hypotheses = slices.Concat(m.hypotheses, missing)
		m.say(styled.Supposed, fmt.Sprintf("what if: %d more changes (w again takes them back)", len(missing)))
	}
	return m.rebuildWorld()
}

// supposePage supposes what the page that is shown is about, and leaves the page for the cluster in which
// that has happened; or takes it back if it is supposed already.
func (m *worlds) supposePage() tea.Cmd {
	changes := m.state().Suppositions
	if m.base == nil || len(changes) == 0 {
		return nil
	}
	text := changes[0].String()
	if len(changes) > 1 {
		text += fmt.Sprintf(" and %d more", len(changes)-1)
	}
	rest := without(m.hypotheses, changes)
	if m.supposesAll(changes) {
		m.hypotheses = rest
		m.say(styled.Supposed, "no longer supposed: "+text)
		return m.rebuildWorld()
	}
	m.hypotheses = slices.Concat(rest, changes)
	m.say(styled.Supposed, "what if: "+text+", before the scheduler places anything (W forgets it)")
	if len(changes) == 1 {
		m.again = changes[0]
	}
	return tea.Batch(m.show(func() { m.pages = m.pages[:len(m.pages)-1] }), m.rebuildWorld())
}

// without is a new list of those changes that are not among others.
func without(changes, others []screen.Change) []screen.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c screen.Change) bool { return slices.Contains(others, c) })
}

// supposesAll reports whether all of some changes are supposed.
func (m *worlds) supposesAll(changes []screen.Change) bool {
	return len(without(changes, m.hypotheses)) == 0
}

// toggle supposes a change, or stops supposing it.
func (m *worlds) toggle(c screen.Change) tea.Cmd {
	if m.base == nil {
		return nil
	}
	if slices.Contains(m.hypotheses, c) {
		m.hypotheses = without(m.hypotheses, []screen.Change{c})
		m.say(styled.Supposed, "no longer supposed: "+c.String())
	} else {
		if why := disruption.Pointless(m.world.Snapshot, c); why != "" {
			return m.say(styled.Warn, why)
		}
		m.hypotheses = append(slices.Clone(m.hypotheses), c)
		m.say(styled.Supposed, "what if: "+c.String()+disruption.CopiedTaints(m.base, c)+" (w again takes it back)")
	}
	return m.rebuildWorld()
}

// removals are the pages about what would be, in the order in which they are offered.
var removals = []removal{
	{screen.Drain, "as kubectl drain does: cordon it, and evict its pods"},
	{screen.Lose, "it breaks down, from one moment to the next"},
	{screen.Taint, "NoExecute, which evicts the pods that use it"},
	{screen.Delete, "all that is in it ends, and is not started again"},
	{screen.MakeRoom, "the fewest pods that have to move so that it fits"},
	{screen.Evict, "its controller makes another one, which goes where there is room"},
}

// removal is a page about what would be, and what it means.
type removal struct {
	page screen.Page
	note string
}

// disruptive reports whether a page is one of them.
func disruptive(p screen.Page) bool {
	return slices.ContainsFunc(removals, func(r removal) bool { return r.page == p })
}

// removalsOf are those that there are of objects, but for the one that is shown.
func (m *worlds) removalsOf(refs []screen.Ref) (out []screen.Offer) {
	for _, r := range removals {
		if m.pageOff(r.page, refs) == "" {
			out = append(out, screen.Offer{Text: string(r.page), Note: r.note, Take: func(*screen.World) tea.Cmd { return m.open(r.page, refs) }})
		}
	}
	return out
}

// removalOff says why it cannot be asked what would be without objects, or "".
func (m *worlds) removalOff(refs []screen.Ref) string {
	if refs[0].Kind == screen.None {
		return "nothing is selected"
	}
	why := fmt.Sprintf("there is nothing to plan with a %s; there is with nodes, devices, pools, namespaces, pods and claims", refs[0].Kind)
	for _, r := range removals {
		switch off := m.pageOff(r.page, refs); {
		case off == "":
			return ""
		case slices.Contains(pageTable[r.page].kinds, refs[0].Kind):
			why = off
		}
	}
	return why
}
