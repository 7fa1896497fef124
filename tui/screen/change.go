package screen

import "github.com/kubectl-dra/kubectl-dra/inspect"

// ChangeKind is a kind of change that can be supposed.
type ChangeKind string

// The kinds of changes.
const (
	ReleaseClaim  ChangeKind = "release"  // a claim gives its devices back
	IgnoreTaint   ChangeKind = "tolerate" // the taints of a device do not count
	DuplicateNode ChangeKind = "add"      // there is one more node like this one, with nothing taken

	DrainNode       = ChangeKind(Drain)  // a node is drained
	LoseObject      = ChangeKind(Lose)   // a node, a device, or a pool with its devices is lost
	TaintDevice     = ChangeKind(Taint)  // a device gets a taint by which pods are evicted
	DeleteNamespace = ChangeKind(Delete) // all that is in a namespace ends
	EvictPod        = ChangeKind(Evict)  // a pod is evicted
)

// Change is something that a user supposes. It names what it is about, so that it can be applied to newer
// snapshots.
type Change struct {
	Kind ChangeKind
	Ref  Ref
}

// String says what is supposed, as "ml/train-0 released". It is not sanitised.
func (c Change) String() string {
	switch c.Kind {
	case ReleaseClaim:
		return c.Ref.String() + " released"
	case IgnoreTaint:
		return "taints of " + c.Ref.String() + " tolerated"
	case DuplicateNode:
		return "one more node like " + c.Ref.String()
	case DrainNode:
		return c.Ref.String() + " drained"
	case LoseObject:
		return c.Ref.String() + " lost"
	case TaintDevice:
		return c.Ref.String() + " tainted"
	case DeleteNamespace:
		return "namespace " + c.Ref.String() + " deleted"
	case EvictPod:
		return c.Ref.String() + " evicted"
	}
	return string(c.Kind) + " " + c.Ref.String()
}

// SupposedName is what something like an object is called that a change adds, the serial-th of all that are
// supposed.
func SupposedName(name string, serial int) string {
	return name + "-what-if-" + string(rune('a'+serial%26))
}

// Supposes reports whether a node is only supposed to be there.
func (w *World) Supposes(node inspect.NodeName) bool {
	_, ok := w.SuppositionOf(node)
	return ok
}

// SuppositionOf returns the change to which a node is due that is only supposed to be there.
func (w *World) SuppositionOf(node inspect.NodeName) (Change, bool) {
	for i, c := range w.Supposed {
		if c.Kind == DuplicateNode && SupposedName(c.Ref.Name, i) == string(node) {
			return c, true
		}
	}
	return Change{}, false
}
