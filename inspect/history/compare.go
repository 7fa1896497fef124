package history

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// Change is an object that differs between two snapshots.
type Change struct {
	Kind inspect.Kind
	// Before and After are the object in each. One of them is nil if it was made or deleted in between.
	Before, After metav1.Object
}

// Object is the object as it is known last.
func (c *Change) Object() metav1.Object {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// Changes compares two snapshots, which need not be of the same source: by kind, namespace and name. What a
// log would not have is no difference: numbers of versions, heartbeats of nodes, and what package archive
// leaves out.
func Changes(before, after *inspect.Snapshot) ([]Change, error) {
	var out []Change
	for _, k := range inspect.Kinds() {
		err := pairs(recorded(before, k), recorded(after, k), func(old, updated metav1.Object) error {
			same, err := alike(k, old, updated)
			if err == nil && !same {
				out = append(out, Change{k, old, updated})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// alike reports whether a log would have the same of both. Either may be nil.
func alike(k inspect.Kind, old, updated metav1.Object) (bool, error) {
	if old == nil || updated == nil {
		return false, nil
	}
	a, err := archive.Encode(old)
	if err != nil {
		return false, err //nolint:wrapcheck // it names the object
	}
	b, err := archive.Encode(updated)
	if bytes.Equal(a, b) || err != nil {
		return err == nil, err //nolint:wrapcheck // as above
	}
	return sameButForBeats(archive.Reduced(k, old), archive.Reduced(k, updated))
}

// pairs goes through two lists that are sorted by name, and calls f for what is not the same pointer in both,
// by name. What is only in one is nil in the other.
func pairs(before, after []metav1.Object, f func(old, updated metav1.Object) error) error {
	for len(before) > 0 || len(after) > 0 {
		var old, updated metav1.Object
		switch {
		case len(after) == 0 || len(before) > 0 && byName(before[0], after[0]) < 0:
			old, before = before[0], before[1:]
		case len(before) == 0 || byName(before[0], after[0]) > 0:
			updated, after = after[0], after[1:]
		default:
			old, before, updated, after = before[0], before[1:], after[0], after[1:]
		}
		if old == updated {
			continue
		}
		if err := f(old, updated); err != nil {
			return err
		}
	}
	return nil
}
