package question

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

// allocationOn is what claims get by allocations that the scheduler would make on a node.
func allocationOn(node string, claims []*resourcev1.ResourceClaim, allocations []resourcev1.AllocationResult) *explain.Allocation {
	out := &explain.Allocation{}
	for i := range allocations {
		r := &allocations[i]
		out.Devices = append(out.Devices, replay.DevicesIn(claims[i], r)...)
		if suppose.PinnedNode(r.NodeSelector) != "" || out.NodeSelector == nil {
			out.NodeSelector = r.NodeSelector
		}
	}
	if len(out.Devices) == 0 || out.NodeSelector != nil {
		out.Node = inspect.NodeName(node)
	}
	return out
}

// bindingNotes says for which devices that the scheduler would pick it waits, before it binds a pod, until
// their driver has got them ready.
func bindingNotes(q *whatif.Question, a *whatif.Answer) []explain.Note {
	var notes []explain.Note
	for i := range a.Result.Allocations {
		for _, r := range a.Result.Allocations[i].Devices.Results {
			if len(r.BindingConditions) > 0 {
				notes = append(notes, explain.Note{
					Kind: "ResourceClaim", Namespace: q.Claims[i].Namespace, Name: q.Claims[i].Name,
					Message: fmt.Sprintf("once a pod is to get device %s, kube-scheduler waits up to %s for its driver to report %s",
						inspect.DeviceOf(&r), words.Minutes(q.Cluster.Snapshot().Scheduler().BindingTimeout()), words.And(r.BindingConditions)),
				})
			}
		}
	}
	return notes
}

// explainAllocated makes the explanation of a claim that has its devices.
func explainAllocated(e *explain.Explanation, s *inspect.Snapshot, claim *resourcev1.ResourceClaim, nodes []*corev1.Node, opts Options) {
	e.Verdict = explain.Allocated
	e.Nodes.Total = len(nodes)
	r := claim.Status.Allocation
	e.Allocation = &explain.Allocation{NodeSelector: r.NodeSelector, Node: suppose.PinnedNode(r.NodeSelector)}
	e.Allocation.Devices = replay.DevicesOf(claim)
	where := ""
	if e.Allocation.Node != "" {
		where = " on node " + string(e.Allocation.Node)
	}
	for _, node := range nodes {
		e.Nodes.Allocatable += words.Btoi(suppose.NodeMatches(r.NodeSelector, node))
	}
	// Of a stand-in for nodes that are not known no labels are known, and any node may be the one of the
	// claim.
	known := !s.NodesAssumed() || e.Allocation.Node != "" && nodes[0].Name != string(inspect.PseudoNode)
	if len(nodes) == 1 && e.Nodes.Allocatable == 0 && known {
		where += fmt.Sprintf(", which cannot be used on node %s", nodes[0].Name)
	}
	e.Say("has %s%s", words.Count(len(r.Devices.Results), "device"), where)
	e.Partial = cycle.LimitsOf(s).Remarks
	sinceAllocation(e, s, claim, opts)
	e.Waits = append(e.Waits, allocatedNotes(s, claim, e.Lifecycle)...)
	e.Scheduler = SchedulerSays(s, s.PodsOf(inspect.RefOf(claim)), opts)
}

// allocatedNotes says what is worth knowing about a claim that has its devices, besides what has become of it
// since.
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
		notes = append(notes, note("%s", reservedByNobody(s, claim)))
	} else {
		notes = append(notes, note("reserved for %s", words.Shorten(consumers, 5)))
	}
	if gone := s.ReservedByGone(claim); len(gone) > 0 {
		notes = append(notes, note("%s for which it is reserved %s not exist: %s; the resourceclaim controller removes such a reservation within seconds, unless it is not running",
			words.Count(len(gone), "pod"), words.Plural(len(gone), "does", "do"), words.Shorten(gone, 5)))
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
			continue // the problem DeviceGone says so
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

// reservedByNobody says since when the devices are not used, as far as the pods of the claim tell, and what
// frees them.
func reservedByNobody(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	ref, since := inspect.RefOf(claim), ""
	if at, pod := usage.IdleSince(s, ref); !at.IsZero() {
		since = fmt.Sprintf(" since pod %s ended %s ago", pod.Name, words.Age(at, s.Time()))
	} else if held, known := lifecycle.HeldSince(s, ref); known == lifecycle.Exactly && len(s.PodsOf(ref)) == 0 {
		since = fmt.Sprintf(" for %s", words.Age(held, s.Time()))
	}
	text := "reserved by nobody" + since + ": the devices are held without being used"
	if claim.DeletionTimestamp != nil || len(validation.IsDNS1123Subdomain(ref.Name))+len(validation.IsDNS1123Label(ref.Namespace)) > 0 {
		return text // a name that no API server takes is for no shell
	}
	return text + fmt.Sprintf("; kubectl dra deallocate claim %s -n %s frees them", ref.Name, ref.Namespace)
}

// evicts reports whether it is said already that a pod is evicted because of a device.
func evicts(l *explain.Lifecycle, id inspect.DeviceID) bool {
	return slices.ContainsFunc(l.Problems, func(p explain.Problem) bool {
		return p.Code == explain.Evicting && slices.Contains(p.Devices, id)
	})
}

// publishedDevices returns those devices of an allocated claim that are in the newest generation of their
// pools.
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
