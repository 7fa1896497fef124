package record

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Compare lists what has happened between two worlds, in no particular order.
func Compare(before, after *screen.World) []screen.Event {
	c := &comparison{before: before, after: after, at: after.Now, pools: map[inspect.PoolID]bool{}}
	old, now := before.Snapshot.Objects(), after.Snapshot.Objects()
	if c.known(inspect.Claims) {
		merge(old.Claims, now.Claims, c.claim)
	}
	if c.known(inspect.Pods) {
		merge(old.Pods, now.Pods, c.pod)
	}
	if c.known(inspect.Nodes) && !before.Snapshot.NodesAssumed() && !after.Snapshot.NodesAssumed() {
		merge(old.Nodes, now.Nodes, c.node)
	}
	if c.known(inspect.Slices) {
		if c.known(inspect.TaintRules) {
			merge(old.TaintRules, now.TaintRules, c.rule)
		}
		merge(old.Slices, now.Slices, c.slice)
		c.changedPools()
	}
	return c.news
}

// comparison is under way.
type comparison struct {
	before, after *screen.World
	at            time.Time
	news          []screen.Event
	// pools are those in which something may have changed for devices.
	pools map[inspect.PoolID]bool
}

// known reports whether both worlds have what there is of a resource. While it is being read for the first
// time, all of it seems to come.
func (c *comparison) known(r inspect.Resource) bool {
	return c.before.Snapshot.Health(r).State != inspect.Syncing && c.after.Snapshot.Health(r).State != inspect.Syncing
}

func (c *comparison) add(e screen.Event) {
	e.Time, e.Seen = cmp.Or(e.Time, c.at), true
	c.news = append(c.news, e)
}

// object is a pointer to an API object.
type object interface {
	comparable
	metav1.Object
}

// merge walks two lists that are sorted by namespace and name side by side, and visits what differs; what is
// in one only comes with a nil.
func merge[T object](a, b []T, visit func(a, b T)) {
	walk(a, b, func(a, b T) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	}, func(a, b T) {
		if a != b {
			visit(a, b)
		}
	})
}

// walk walks two sorted lists side by side; what is in one only comes with a zero.
func walk[T any](a, b []T, compare func(a, b T) int, visit func(a, b T)) {
	var none T
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compare(a[0], b[0])
		}
		switch {
		case order < 0:
			visit(a[0], none)
			a = a[1:]
		case order > 0:
			visit(none, b[0])
			b = b[1:]
		default:
			visit(a[0], b[0])
			a, b = a[1:], b[1:]
		}
	}
}
