package diagnose

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Absent is what to do about drivers that publish nothing although classes of the claims want their devices,
// so that requests can get nothing on any node. What such a driver would publish is not known, and not
// guessed from what claims still hold.
func Absent(ctx context.Context, q *whatif.Question) []explain.Advice {
	classes := absentFor(ctx, q, q.Claims)
	if q.PerNode != nil { // what is asked for differs between nodes, and may be had of a device plugin on some
		asked := map[*whatif.Question]bool{}
		for i := range q.Answers {
			a := &q.Answers[i]
			if len(a.Unsuitable) > 0 || asked[a.Q] {
				continue
			}
			asked[a.Q] = true
			if classes = absentFor(ctx, q, a.Q.Claims); len(classes) == 0 {
				return nil
			}
		}
	}
	var out []explain.Advice
	for _, driver := range slices.Sorted(maps.Keys(classes)) {
		slices.Sort(classes[driver])
		out = append(out, AdviceFor(q.Cluster.Snapshot(), driver, classes[driver]))
	}
	return out
}

// absentFor are the classes of claims whose drivers publish nothing, by these drivers.
func absentFor(ctx context.Context, q *whatif.Question, claims []*resourcev1.ResourceClaim) map[string][]string {
	out := map[string][]string{}
	for _, claim := range claims {
		for i := range claim.Spec.Devices.Requests {
			for driver, class := range absentIn(ctx, q, &claim.Spec.Devices.Requests[i]) {
				if !slices.Contains(out[driver], class) {
					out[driver] = append(out[driver], class)
				}
			}
		}
	}
	return out
}

// absentIn are the classes of a request, by their drivers, if all of these drivers publish nothing.
func absentIn(ctx context.Context, q *whatif.Question, r *resourcev1.DeviceRequest) map[string]string {
	var names []string
	if r.Exactly != nil {
		names = append(names, r.Exactly.DeviceClassName)
	}
	for i := range r.FirstAvailable {
		names = append(names, r.FirstAvailable[i].DeviceClassName)
	}
	s := q.Cluster.Snapshot()
	out := map[string]string{}
	for _, name := range names {
		class, ok := s.Class(name)
		if !ok {
			return nil
		}
		driver := q.DriverOf(ctx, class)
		if driver == "" || Publishes(s, driver) {
			return nil
		}
		out[driver] = name
	}
	return out
}

// Publishes reports whether a driver publishes any slice.
func Publishes(s *inspect.Snapshot, driver string) bool {
	return slices.ContainsFunc(s.Slices(), func(slice *resourcev1.ResourceSlice) bool { return slice.Spec.Driver == driver })
}

// AdviceFor is what to do about a driver that publishes nothing, for want of which requests of classes, if
// any are given, can get nothing.
func AdviceFor(s *inspect.Snapshot, driver string, classes []string) explain.Advice {
	held := heldOf(s, func(r *resourcev1.DeviceRequestAllocationResult) bool { return r.Driver == driver })
	return explain.Advice{
		Kind: explain.WaitFor, Actor: explain.DriverAdmin, Driver: driver, Classes: classes, Commands: podsOf(driver, ""),
		Message: fmt.Sprintf("see whether the driver %s runs: it publishes no devices%s", driver, held.text(", though %s still %s %d that it once published", s)),
	}
}

// Gone is what to do about pools that drivers of the claims no longer publish, and whose devices claims still
// hold.
func Gone(ctx context.Context, q *whatif.Question) []explain.Advice {
	s := q.Cluster.Snapshot()
	drivers := map[string]bool{}
	for _, claim := range q.Claims {
		for i := range claim.Spec.Devices.Requests {
			r := &claim.Spec.Devices.Requests[i]
			if r.Exactly == nil {
				continue
			}
			if class, ok := s.Class(r.Exactly.DeviceClassName); ok {
				drivers[q.DriverOf(ctx, class)] = true
			}
		}
	}
	delete(drivers, "")
	return gone(s, drivers)
}

// held are devices that claims hold.
type held struct {
	devices, claims int
	// last is when the last of them was allocated, which may not be known.
	last time.Time
	// pools are those that they were published in.
	pools []inspect.PoolID
	// node is the one on which they all are. It is "" if they are on several, or tied to none.
	node inspect.NodeName
}

// heldOf counts the devices that claims hold, each once, other than by admin access.
func heldOf(s *inspect.Snapshot, counts func(*resourcev1.DeviceRequestAllocationResult) bool) *held {
	h, seen := &held{}, map[inspect.DeviceID]bool{}
	for _, claim := range s.Objects().Claims {
		allocation := claim.Status.Allocation
		if allocation == nil {
			continue
		}
		used := false
		for i := range allocation.Devices.Results {
			r := &allocation.Devices.Results[i]
			if !counts(r) || r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := inspect.DeviceOf(r)
			used = true
			if !seen[id] {
				seen[id] = true
				h.devices++
			}
			if pool := id.PoolID(); !slices.Contains(h.pools, pool) {
				h.pools = append(h.pools, pool)
			}
		}
		if !used {
			continue
		}
		node := suppose.PinnedNode(allocation.NodeSelector)
		if h.claims == 0 {
			h.node = node
		} else if node != h.node {
			h.node = ""
		}
		h.claims++
		if at := allocation.AllocationTimestamp; at != nil && at.After(h.last) {
			h.last = at.Time
		}
	}
	return h
}

// text tells of the devices, if there are any: how many claims hold how many, and when the last of them was
// allocated.
func (h *held) text(format string, s *inspect.Snapshot) string {
	if h.devices == 0 {
		return ""
	}
	text := fmt.Sprintf(format, words.Count(h.claims, "claim"), words.Plural(h.claims, "holds", "hold"), h.devices)
	if age := words.Age(h.last, s.Time()); age != "" {
		text += fmt.Sprintf(", the last of them allocated %s ago", age)
	}
	return text
}

// maxPools is the number of pools that advice names.
const maxPools = 3

// gone is what to do about pools of drivers that are no longer published, and whose devices claims still
// hold, if the drivers publish anything else.
func gone(s *inspect.Snapshot, drivers map[string]bool) []explain.Advice {
	published := map[inspect.PoolID]bool{}
	publishing := map[string]bool{}
	for _, slice := range s.Slices() {
		publishing[slice.Spec.Driver] = true
		published[inspect.PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}] = true
	}
	var out []explain.Advice
	for _, driver := range slices.Sorted(maps.Keys(drivers)) {
		h := heldOf(s, func(r *resourcev1.DeviceRequestAllocationResult) bool {
			return r.Driver == driver && !published[inspect.DeviceOf(r).PoolID()]
		})
		if !publishing[driver] || h.devices == 0 {
			continue
		}
		names := make([]string, len(h.pools))
		for i, pool := range h.pools {
			names[i] = pool.Pool
		}
		slices.Sort(names)
		where, node := "", ""
		if h.node != "" {
			where, node = " on "+string(h.node), string(h.node)
		}
		out = append(out, explain.Advice{
			Kind: explain.WaitFor, Actor: explain.DriverAdmin, Driver: driver, Commands: podsOf(driver, node),
			Message: fmt.Sprintf("see whether the driver %s runs%s: it no longer publishes its %s %s%s", driver, where,
				words.Plural(len(names), "pool", "pools"), words.Shorten(names, maxPools), h.text(", of which %s still %s %d devices", s)),
		})
	}
	return out
}

// label matches what may stand in a command as it is.
var label = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// podsOf is the command that looks for the pods of a driver, on a node if one is given. Nothing in the API
// says which these are; their names most often have a part of the name of the driver.
func podsOf(driver, node string) []string {
	labels := strings.Split(driver, ".")
	parts := labels
	if len(labels) > 1 {
		parts = slices.DeleteFunc(slices.Clone(labels[:len(labels)-1]), func(l string) bool { return l == "example" || l == "k8s" || l == "sigs" || l == "x-k8s" })
	}
	if len(parts) == 0 {
		parts = labels
	}
	if slices.ContainsFunc(parts, func(l string) bool { return !label.MatchString(l) }) {
		return nil
	}
	pattern := strings.Join(parts, "|")
	if len(parts) > 1 {
		pattern = "-E '" + pattern + "'"
	}
	kinds := "daemonsets,pods -A -o wide"
	if node != "" && label.MatchString(strings.ReplaceAll(node, ".", "-")) {
		kinds = "pods -A -o wide --field-selector spec.nodeName=" + node
	}
	return []string{"kubectl get " + kinds + " | grep -i " + pattern}
}
