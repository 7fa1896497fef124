package disruption

import (
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// CopiedTaints says what a node that is added has of the other that may be a sickness of that one alone.
func CopiedTaints(base *inspect.Snapshot, c screen.Change) string {
	if c.Kind != screen.DuplicateNode {
		return ""
	}
	taints, devices := suppose.TaintsLikeOf(base, c.Ref.Name)
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

// HoldsNothing says that the release of a claim would change nothing, or "".
func HoldsNothing(s *inspect.Snapshot, ref screen.Ref) string {
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
	if ok && claim.Status.Allocation == nil {
		return ref.String() + " holds no devices"
	}
	return ""
}

// Pointless says why a change would change nothing, or "".
func Pointless(s *inspect.Snapshot, c screen.Change) string {
	if c.Kind == screen.IgnoreTaint && !tainted(s, screen.DeviceID(c.Ref)) {
		return c.Ref.String() + " has no taints"
	}
	return ""
}

// tainted reports whether a device has taints, of its own or by a rule.
func tainted(s *inspect.Snapshot, id inspect.DeviceID) bool {
	for _, d := range s.Described(id) {
		if len(d.Taints) > 0 {
			return true
		}
	}
	return false
}

// Apply returns the snapshot under the changes. What a change is about may be gone by now: then it changes
// nothing. Nodes are added first, before the taints of rules, which may not select their devices, become
// those of devices. What is drained, lost, tainted or deleted comes last, in its order.
func Apply(s *inspect.Snapshot, changes []screen.Change) *inspect.Snapshot {
	s = s.With(func(o *inspect.Objects) {
		for i, c := range changes {
			if c.Kind == screen.DuplicateNode {
				suppose.AddNode(o, c.Ref.Name, s.NodesAssumed(), func(name string) string { return screen.SupposedName(name, i) })
			}
		}
		var untainted []inspect.DeviceID
		for _, c := range changes {
			if c.Kind == screen.IgnoreTaint {
				untainted = append(untainted, screen.DeviceID(c.Ref))
			}
		}
		suppose.SettleTaints(o, s, untainted...)
		for _, c := range changes {
			switch c.Kind {
			case screen.ReleaseClaim:
				suppose.ReleaseFromUse(o, s, inspect.ClaimRef{Namespace: c.Ref.Namespace, Name: c.Ref.Name})
			case screen.IgnoreTaint:
				suppose.Untaint(o, screen.DeviceID(c.Ref))
			default: // is there, or comes afterwards
			}
		}
	})
	for _, c := range changes {
		s = after(s, c)
	}
	return s
}
