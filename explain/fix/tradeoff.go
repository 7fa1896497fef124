package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A fix may give a smaller device than was asked for: with another value or another class, a partition with a
// quarter of the memory fits where half a GPU does not. The tradeoff says so. It compares the device that the
// scheduler would pick with the fix to those that the request accepts without it, free or not, on the nodes
// that come nearest. It names the capacities of which the former has less than each of the latter.

// maxLess is the number of capacities that are named.
const maxLess = 2

// less is a capacity of which a fix gives less.
type less struct {
	name        resourcev1.QualifiedName
	have        resource.Quantity
	least, most resource.Quantity // of the devices that the request accepts without the fix
}

// tradeoff says in parentheses, after where, what the devices that a change gives on a node have less of. It
// is "" if that is nothing, or if it is not known.
func (s *search) tradeoff(ctx context.Context, c *requirement.Change, node inspect.NodeName, where string) string {
	b := s.Q.SandboxOf(node)
	if b == nil || s.Q.Exhausted() || !slices.ContainsFunc(c.Edits, func(e whatif.Edit) bool { return admits(e) || noAmount(e) }) {
		return ""
	}
	d := b.Draft(ctx, c.Edits)
	result, err := d.Cluster.Allocate(ctx, b.Node, d.Claims, nil)
	if s.Q.Fail(ctx.Err()); err != nil || result.Outcome != allocator.Allocated {
		return "" // what it gives is not known
	}
	s.Q.Spent += result.Steps
	if text := share(s.Q, c, result); text != "" {
		return fmt.Sprintf(" (%s%s)", where, text)
	}
	var found []less
	var compared []whatif.RequestRef
	for _, e := range c.Edits {
		if !admits(e) {
			continue
		}
		at := e.(whatif.ClaimEdit).Target()
		if slices.Contains(compared, at) {
			continue
		}
		compared = append(compared, at)
		found = append(found, compare(picked(b, result, at), accepted(ctx, s.Q, at), capacityNamed(s.Q, e))...)
	}
	slices.SortStableFunc(found, func(a, b less) int { return b.least.Cmp(a.least) })
	if len(found) == 0 {
		return ""
	}
	of := ""
	if s.Q.Cut {
		of = ", as the nearest nodes have"
	}
	return fmt.Sprintf(" (%sa device with %s%s)", where, words.Shorten(words.Each(found, less.String), maxLess), of)
}

// admits reports whether an edit lets a request have devices that it did not accept.
func admits(e whatif.Edit) bool {
	_, ok := e.(whatif.AdmitsOthers)
	return ok
}

// noAmount reports whether an edit asks for no particular amount of a capacity any more.
func noAmount(e whatif.Edit) bool {
	c, ok := e.(whatif.CapacityEdit)
	return ok && c.Amount == nil
}

// share says how much of a capacity a claim gets if the change is that it asks for no particular amount. It
// is "" for other changes.
func share(q *whatif.Question, c *requirement.Change, result *allocator.Result) string {
	if len(c.Edits) != 1 || !noAmount(c.Edits[0]) {
		return ""
	}
	e := c.Edits[0].(whatif.CapacityEdit)
	for _, r := range result.Allocations[e.At.Claim].Devices.Results {
		if amount, ok := r.ConsumedCapacity[e.Capacity]; ok && r.Request == q.RequestName(e.At) {
			return fmt.Sprintf("that gives %s", amount.String())
		}
	}
	return ""
}

// String is what there is less of, as "memory 10Gi instead of at least 20Gi".
func (l less) String() string {
	atLeast := ""
	if l.least.Cmp(l.most) != 0 {
		atLeast = "at least "
	}
	return fmt.Sprintf("%s %s instead of %s%s", l.name, l.have.String(), atLeast, l.least.String())
}

// capacityNamed is the capacity that a changed term is about. The fix names it already. It is "" if there is
// none.
func capacityNamed(q *whatif.Question, e whatif.Edit) resourcev1.QualifiedName {
	if t, ok := e.(whatif.TermEdit); ok && t.Expression != "" {
		if c := requirement.ComparisonOf(q, t.Expression); c != nil && c.Field.Kind == "capacity" {
			return resourcev1.QualifiedName(c.Field.Name)
		}
	}
	return ""
}

// picked returns the devices of a result for a request.
func picked(b *whatif.Sandbox, result *allocator.Result, at whatif.RequestRef) []*resourcev1.Device {
	name := b.Q.RequestName(at)
	var out []*resourcev1.Device
	for _, r := range result.Allocations[at.Claim].Devices.Results {
		if r.Request != name {
			continue
		}
		for _, device := range b.Snapshot.Described(inspect.DeviceOf(&r)) {
			out = append(out, device)
		}
	}
	return out
}

// accepted returns the devices, on the nodes that come nearest, that the selectors of a request accept,
// whatever else is in the way.
func accepted(ctx context.Context, q *whatif.Question, at whatif.RequestRef) []*resourcev1.Device {
	var out []*resourcev1.Device
	for _, r := range q.Examined(ctx) {
		if whatif.RefOf(r) != at {
			continue
		}
		for _, d := range requirement.DevicesSelected(r) {
			out = append(out, d.Device)
		}
	}
	return out
}

// compare returns the capacities of which one of some devices has less than each of the others, except one
// capacity. Devices that claims share are not compared, since what is asked for counts there. The result is
// sorted by name.
func compare(have, others []*resourcev1.Device, except resourcev1.QualifiedName) []less {
	shared := func(d *resourcev1.Device) bool {
		return d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
	}
	if len(have) == 0 || len(others) == 0 || slices.ContainsFunc(have, shared) || slices.ContainsFunc(others, shared) {
		return nil
	}
	var out []less
	for name := range others[0].Capacity {
		smallest, _, ok := extremes(have, name)
		least, most, everywhere := extremes(others, name)
		if ok && everywhere && name != except && smallest.Cmp(least) < 0 {
			out = append(out, less{name, smallest, least, most})
		}
	}
	slices.SortFunc(out, func(a, b less) int { return cmp.Compare(a.name, b.name) })
	return out
}

// extremes returns the lowest and the highest amount of a capacity. The result is not ok if some device does
// not have the capacity.
func extremes(devices []*resourcev1.Device, name resourcev1.QualifiedName) (least, most resource.Quantity, ok bool) {
	for i, d := range devices {
		c, has := d.Capacity[name]
		if !has {
			return least, most, false
		}
		if i == 0 || c.Value.Cmp(least) < 0 {
			least = c.Value
		}
		if i == 0 || c.Value.Cmp(most) > 0 {
			most = c.Value
		}
	}
	return least, most, true
}
