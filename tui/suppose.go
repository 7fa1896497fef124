package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
)

// supposition is a snapshot under changes, with what it was made of.
type supposition struct {
	base     *inspect.Snapshot
	changes  []screen.Change
	snapshot *inspect.Snapshot
}

// changeOf is what can be supposed of an object.
func changeOf(ref screen.Ref) screen.Change {
	kind := map[screen.Kind]screen.ChangeKind{
		screen.Claim: screen.ReleaseClaim, screen.Device: screen.IgnoreTaint, screen.Node: screen.DuplicateNode,
	}[ref.Kind]
	return screen.Change{Kind: kind, Ref: ref}
}

// supposable is what the key for it supposes, or takes back, of the object that is pointed at. Pressed again it takes
// back what it supposed, wherever the row has gone or whichever is pointed at instead.
func (m *model) supposable(ref screen.Ref) screen.Change {
	if slices.Contains(m.hypotheses, m.again) {
		return m.again
	}
	if ref.Kind == screen.Node {
		if c, ok := m.world.SuppositionOf(inspect.NodeName(ref.Name)); ok {
			return c
		}
	}
	return changeOf(ref)
}

// supposeOrNot does what supposable says, and keeps the cursor at the object.
func (m *model) supposeOrNot(ref screen.Ref) tea.Cmd {
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

// supposeSubjects supposes something of all objects that are marked, or takes it back if all of it is supposed. Without marks
// it is about the object at the cursor.
func (m *model) supposeSubjects() tea.Cmd {
	if m.plans() {
		return m.supposePage()
	}
	refs := m.marked()
	if len(refs) == 0 || m.base == nil {
		return m.supposeOrNot(m.top().Selection())
	}
	var missing, there []screen.Change
	for _, ref := range refs {
		switch c := m.supposable(ref); {
		case slices.Contains(m.hypotheses, c):
			there = append(there, c)
		case m.supposeOneOff(ref) == "" && pointless(m.world.Snapshot, c) == "":
			missing = append(missing, c)
		}
	}
	if len(missing)+len(there) == 0 {
		return m.say(styled.Warn, fmt.Sprintf("nothing can be supposed of any of the %d that are marked: %s", len(refs), m.whyNothing(refs[0])))
	}
	changes := slices.Concat(m.hypotheses, missing)
	m.remark = screen.Say{Text: fmt.Sprintf("what if: %d more changes (w again takes them back)", len(missing)), Role: styled.Supposed}
	if len(missing) == 0 {
		changes = slices.DeleteFunc(slices.Clone(m.hypotheses), func(c screen.Change) bool { return slices.Contains(there, c) })
		m.remark.Text = fmt.Sprintf("%d changes are no longer supposed", len(there))
	}
	m.hypotheses = changes
	return m.rebuildWorld()
}

// supposePage supposes what the page that is shown is about, and leaves the page for the cluster in which that has happened; or takes
// it back if it is supposed already.
func (m *model) supposePage() tea.Cmd {
	changes := m.suppositions()
	if m.base == nil || len(changes) == 0 {
		return nil
	}
	text := changes[0].String()
	if len(changes) > 1 {
		text += fmt.Sprintf(" and %d more", len(changes)-1)
	}
	rest := slices.DeleteFunc(slices.Clone(m.hypotheses), func(c screen.Change) bool { return slices.Contains(changes, c) })
	if m.supposesAll(changes) {
		m.hypotheses, m.remark = rest, screen.Say{Text: "no longer supposed: " + text, Role: styled.Supposed}
		return m.rebuildWorld()
	}
	m.hypotheses, m.remark = slices.Concat(rest, changes), screen.Say{Text: "what if: " + text + ", before the scheduler places anything (W forgets it)", Role: styled.Supposed}
	if len(changes) == 1 {
		m.again = changes[0]
	}
	return tea.Batch(m.show(func() { m.pages = m.pages[:len(m.pages)-1] }), m.rebuildWorld())
}

// suppositions are what the page that is shown is about. There are none if that is what is.
func (m *model) suppositions() []screen.Change {
	if s, ok := m.top().(screen.Supposer); ok {
		return s.Suppositions()
	}
	return nil
}

// supposesAll reports whether all of some changes are supposed.
func (m *model) supposesAll(changes []screen.Change) bool {
	return !slices.ContainsFunc(changes, func(c screen.Change) bool { return !slices.Contains(m.hypotheses, c) })
}

// whyNothing says why nothing can be supposed of an object.
func (m *model) whyNothing(ref screen.Ref) string {
	if why := m.supposeOneOff(ref); why != "" {
		return why
	}
	return pointless(m.world.Snapshot, m.supposable(ref))
}

// toggle supposes a change, or stops supposing it.
func (m *model) toggle(c screen.Change) tea.Cmd {
	if m.base == nil {
		return nil
	}
	changes := slices.Clone(m.hypotheses)
	if at := slices.Index(changes, c); at >= 0 {
		changes = slices.Delete(changes, at, at+1)
		m.remark = screen.Say{Text: "no longer supposed: " + c.String(), Role: styled.Supposed}
	} else {
		if why := pointless(m.world.Snapshot, c); why != "" {
			return m.say(styled.Warn, why)
		}
		changes = append(changes, c)
		m.remark = screen.Say{Text: "what if: " + c.String() + m.copiedTaints(c) + " (w again takes it back)", Role: styled.Supposed}
	}
	m.hypotheses = changes
	return m.rebuildWorld()
}

// copiedTaints says what a node that is added has of the other that may be a sickness of that one alone.
func (m *model) copiedTaints(c screen.Change) string {
	if c.Kind != screen.DuplicateNode {
		return ""
	}
	taints, devices := whatif.TaintsLikeOf(m.base, c.Ref.Name)
	var parts []string
	for _, taint := range taints {
		parts = append(parts, taint.ToString())
	}
	if devices > 0 {
		parts = append(parts, words.Count(devices, "tainted device"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", tainted as that is: " + words.And(parts)
}

// holdsNothing says that the release of a claim would change nothing, or "".
func holdsNothing(s *inspect.Snapshot, ref screen.Ref) string {
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
	if ok && claim.Status.Allocation == nil {
		return ref.String() + " holds no devices"
	}
	return ""
}

// pointless says why a change would change nothing, or "".
func pointless(s *inspect.Snapshot, c screen.Change) string {
	if c.Kind == screen.IgnoreTaint && !tainted(s, screen.DeviceID(c.Ref)) {
		return c.Ref.String() + " has no taints"
	}
	return ""
}

// tainted reports whether a device has taints, of its own or by a rule.
func tainted(s *inspect.Snapshot, id inspect.DeviceID) bool {
	for _, slice := range s.SlicesIn(id.PoolID()) {
		for i := range slice.Spec.Devices {
			if d := &slice.Spec.Devices[i]; d.Name == id.Device && len(d.Taints) > 0 {
				return true
			}
		}
	}
	return false
}

// applyAll returns the snapshot under the changes. What a change is about may be gone by now: then it
// changes nothing. Nodes are added first, before the taints of rules, which may not select their devices, become those of devices.
// What is drained, lost, tainted or deleted comes last, in its order.
func applyAll(s *inspect.Snapshot, changes []screen.Change) *inspect.Snapshot {
	s = s.With(func(o *inspect.Objects) {
		for i, c := range changes {
			if c.Kind == screen.DuplicateNode {
				whatif.AddNode(o, c.Ref.Name, s.NodesAssumed(), func(name string) string { return screen.SupposedName(name, i) })
			}
		}
		var untainted []inspect.DeviceID
		for _, c := range changes {
			if c.Kind == screen.IgnoreTaint {
				untainted = append(untainted, screen.DeviceID(c.Ref))
			}
		}
		whatif.SettleTaints(o, s, untainted...)
		for _, c := range changes {
			switch c.Kind {
			case screen.ReleaseClaim:
				whatif.ReleaseFromUse(o, s, inspect.ClaimRef{Namespace: c.Ref.Namespace, Name: c.Ref.Name})
			case screen.IgnoreTaint:
				whatif.Untaint(o, screen.DeviceID(c.Ref))
			default: // is there, or comes afterwards
			}
		}
	})
	for _, c := range changes {
		s = disruption.After(s, c)
	}
	return s
}
