package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
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
		if why := pointless(m.base, c); why != "" {
			return m.say(styled.Warn, why)
		}
		changes = append(changes, c)
		m.remark = screen.Say{Text: "what if: " + c.String() + " (w again takes it back)", Role: styled.Supposed}
	}
	m.hypotheses = changes
	return m.rebuildWorld()
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
// changes nothing.
func applyAll(s *inspect.Snapshot, changes []screen.Change) *inspect.Snapshot {
	return s.With(func(o *inspect.Objects) {
		if slices.ContainsFunc(changes, func(c screen.Change) bool { return c.Kind == screen.IgnoreTaint }) {
			settleTaints(o, s)
		}
		for i, c := range changes {
			switch c.Kind {
			case screen.ReleaseClaim:
				release(o, c.Ref)
			case screen.IgnoreTaint:
				untaint(o, c.Ref.Name)
			case screen.DuplicateNode:
				duplicate(o, c.Ref.Name, i, s.NodesAssumed())
			}
		}
	})
}

// release takes the allocation away from a claim.
func release(o *inspect.Objects, ref screen.Ref) {
	for i, claim := range o.Claims {
		if claim.Namespace == ref.Namespace && claim.Name == ref.Name {
			claim = claim.DeepCopy()
			claim.Status = resourcev1.ResourceClaimStatus{}
			o.Claims[i] = claim
		}
	}
}

// settleTaints writes the effective taints of all devices into their slices, so that no rule is needed any
// more and the taints of single devices can be taken away.
func settleTaints(o *inspect.Objects, s *inspect.Snapshot) {
	o.Slices = slices.Clone(s.Slices())
	o.TaintRules = nil
}

// untaint takes the taints off a device.
func untaint(o *inspect.Objects, name string) {
	for i, slice := range o.Slices {
		for d := range slice.Spec.Devices {
			if inspect.DeviceIDOf(slice, d).String() == name {
				slice = slice.DeepCopy()
				slice.Spec.Devices[d].Taints = nil
				o.Slices[i] = slice
			}
		}
	}
}

// duplicate adds a node like another, with the devices of its own pools and nothing taken of them. Where nodes are
// assumed because slices name them, the added slices name the added one.
func duplicate(o *inspect.Objects, name string, serial int, assumed bool) {
	added := screen.SupposedName(name, serial)
	at := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	if at < 0 && !assumed {
		return
	}
	if at >= 0 {
		node := o.Nodes[at].DeepCopy()
		node.Name = added
		if _, ok := node.Labels[corev1.LabelHostname]; ok {
			node.Labels[corev1.LabelHostname] = added
		}
		o.Nodes = append(o.Nodes, node)
	}
	for _, slice := range slices.Clone(o.Slices) {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != name {
			continue
		}
		slice = slice.DeepCopy()
		slice.Name = screen.SupposedName(slice.Name, serial)
		slice.Spec.NodeName = &added
		slice.Spec.Pool.Name = screen.SupposedName(slice.Spec.Pool.Name, serial)
		o.Slices = append(o.Slices, slice)
	}
}
