package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
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
	changes := slices.Clone(m.supposed)
	if at := slices.Index(changes, c); at >= 0 {
		changes = slices.Delete(changes, at, at+1)
		m.said = screen.Say{Text: "no longer supposed: " + c.String(), Role: theme.Supposed}
	} else {
		if why := pointless(m.base, c); why != "" {
			return m.say(theme.Warn, why)
		}
		changes = append(changes, c)
		m.said = screen.Say{Text: "what if: " + c.String() + " (w again takes it back)", Role: theme.Supposed}
	}
	m.supposed = changes
	return m.remake()
}

// pointless says why a change would change nothing, or "".
func pointless(s *inspect.Snapshot, c screen.Change) string {
	if c.Kind != screen.ReleaseClaim {
		return ""
	}
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: c.Ref.Namespace, Name: c.Ref.Name})
	if ok && claim.Status.Allocation == nil {
		return c.Ref.String() + " holds no devices"
	}
	return ""
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
				duplicate(o, c.Ref.Name, i)
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

// duplicate adds a node like another, with the devices of its own pools and nothing taken of them.
func duplicate(o *inspect.Objects, name string, serial int) {
	at := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	if at < 0 {
		return
	}
	added := o.Nodes[at].DeepCopy()
	added.Name = screen.SupposedName(name, serial)
	if _, ok := added.Labels[corev1.LabelHostname]; ok {
		added.Labels[corev1.LabelHostname] = added.Name
	}
	o.Nodes = append(o.Nodes, added)
	for _, slice := range slices.Clone(o.Slices) {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != name {
			continue
		}
		slice = slice.DeepCopy()
		slice.Name = screen.SupposedName(slice.Name, serial)
		slice.Spec.NodeName = &added.Name
		slice.Spec.Pool.Name = screen.SupposedName(slice.Spec.Pool.Name, serial)
		o.Slices = append(o.Slices, slice)
	}
}
