package question

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// allocationFrom is what the scheduler would pick on the first node of an answer that is yes.
func allocationFrom(q *whatif.Question, a *whatif.Answer) *explain.Allocation {
	out := &explain.Allocation{}
	for i := range a.Result.Allocations {
		r := &a.Result.Allocations[i]
		addDevices(out, q.Claims[i], r)
		if whatif.PinnedNode(r.NodeSelector) != "" || out.NodeSelector == nil {
			out.NodeSelector = r.NodeSelector
		}
	}
	if len(out.Devices) == 0 || out.NodeSelector != nil {
		out.Node = inspect.NodeName(q.Nodes[a.Nodes[0]].Name)
	}
	return out
}

// addDevices adds what a claim has, or would have.
func addDevices(out *explain.Allocation, claim *resourcev1.ResourceClaim, r *resourcev1.AllocationResult) {
	for i := range r.Devices.Results {
		d := &r.Devices.Results[i]
		out.Devices = append(out.Devices, explain.Device{
			Claim:   inspect.RefOf(claim),
			Request: d.Request, ID: inspect.DeviceOf(d),
			Admin: d.AdminAccess != nil && *d.AdminAccess, Consumed: d.ConsumedCapacity,
		})
	}
}

// explainAllocated makes the explanation of a claim that has its devices.
func explainAllocated(e *explain.Explanation, s *inspect.Snapshot, claim *resourcev1.ResourceClaim, nodes []*corev1.Node, opts Options) {
	e.Verdict = explain.Allocated
	e.Nodes.Total = len(nodes)
	r := claim.Status.Allocation
	e.Allocation = &explain.Allocation{NodeSelector: r.NodeSelector, Node: whatif.PinnedNode(r.NodeSelector)}
	addDevices(e.Allocation, claim, r)
	where := ""
	if e.Allocation.Node != "" {
		where = " on node " + string(e.Allocation.Node)
	}
	e.Nodes.Allocatable = usableNodes(nodes, r.NodeSelector)
	if len(nodes) == 1 && e.Nodes.Allocatable == 0 {
		where += fmt.Sprintf(", which cannot be used on node %s", nodes[0].Name)
	}
	say(e, "has %s%s", words.Count(len(r.Devices.Results), "device"), where)
	e.Partial = limitsOf(s).remarks
	sinceAllocation(e, s, claim, opts)
	e.Waits = append(e.Waits, allocatedNotes(s, claim, e.Lifecycle)...)
	e.Scheduler = schedulerSays(s, s.PodsOf(inspect.RefOf(claim)), opts)
}

// allocatedNotes says what is worth knowing about a claim that has its devices, besides what has become of it since.
func allocatedNotes(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, since *explain.Lifecycle) []explain.Note {
	note := func(format string, args ...any) explain.Note {
		return explain.Note{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name, Message: fmt.Sprintf(format, args...)}
	}
	var notes []explain.Note
	var consumers []string
	for _, c := range claim.Status.ReservedFor {
		consumers = append(consumers, c.Resource+"/"+c.Name)
	}
	slices.Sort(consumers)
	if len(consumers) == 0 {
		notes = append(notes, note("reserved by nobody: the devices are held without being used"))
	} else {
		notes = append(notes, note("reserved for %s", words.Shorten(consumers, 5)))
	}
	if claim.DeletionTimestamp != nil {
		notes = append(notes, note("being deleted; its devices become free when nothing reserves it any more"))
	}
	published := publishedDevices(s, claim)
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		id := inspect.DeviceOf(r)
		device, ok := published[id]
		if !ok {
			if s.Health(inspect.Slices).State == inspect.Synced || len(s.Slices()) > 0 {
				notes = append(notes, note("device %s is not published by its driver any more", id))
			}
			continue
		}
		if taint := allocator.Untolerated(device.Taints, r.Tolerations); taint != nil && !evicts(since, id) {
			by := ""
			if taint.Key != inspect.FenceKey { // of which more is said
				by = explain.SetBy(explain.TaintRules(s, taint, id))
			}
			notes = append(notes, note("device %s has the taint %s%s, which the claim does not tolerate%s", id, words.FormatTaint(taint), by, fence(s, id, taint)))
		}
	}
	return notes
}

// evicts reports whether it is said already that a pod is evicted because of a device.
func evicts(l *explain.Lifecycle, id inspect.DeviceID) bool {
	return slices.ContainsFunc(l.Problems, func(p explain.Problem) bool {
		return p.Code == explain.Evicting && slices.Contains(p.Devices, id)
	})
}

// publishedDevices returns those devices of an allocated claim that are in the newest generation of their pools.
func publishedDevices(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) map[inspect.DeviceID]*resourcev1.Device {
	wanted := map[inspect.DeviceID]bool{}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		wanted[inspect.DeviceOf(r)] = true
	}
	out := map[inspect.DeviceID]*resourcev1.Device{}
	for _, slice := range inspect.NewestSlices(s.Slices()) {
		for i := range slice.Spec.Devices {
			if id := inspect.DeviceIDOf(slice, i); wanted[id] {
				out[id] = &slice.Spec.Devices[i]
			}
		}
	}
	return out
}
