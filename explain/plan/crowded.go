package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxCrowds is the number of sets of nodes that are looked at, and maxClaimants that of pods with different
// claims in each.
const maxCrowds, maxClaimants = 16, 64

// TooMany proves that not all pods can be placed in a cluster, whatever their order and nodes. It is nil if
// that is not proved. The error is that of [Place].
func TooMany(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod) (*explain.JointPlan, error) {
	r := &Placement{Replay: replay.New(c, nil)}
	r.Tried = cycle.InQueueOrder(c.Snapshot(), pods)
	for _, pod := range pods {
		r.waiting = append(r.waiting, replay.Waiting{Pod: pod, Feasible: &replay.Feasible{Member: replay.PodMember(c, pod, cycle.Options{})}})
	}
	if joint, err := r.tooMany(ctx, c); joint != nil || err != nil {
		return joint, err
	}
	return r.crowded(ctx, c)
}

// claimant is pods that ask for the same devices and fit on the same nodes.
type claimant struct {
	pods    []*corev1.Pod
	member  *replay.Member
	nodes   []*corev1.Node
	devices int // that one takes at least
}

// crowded proves that there is no placement by pods of several shapes that fit on the same nodes: since they
// need more devices than there are, or since no two of them fit on one node and there are more of them than
// nodes.
func (r *Placement) crowded(ctx context.Context, base *scheduler.Cluster) (*explain.JointPlan, error) {
	if slices.ContainsFunc(base.Snapshot().Objects().Slices, func(slice *resourcev1.ResourceSlice) bool {
		return slice.Spec.NodeName == nil || slices.ContainsFunc(slice.Spec.Devices, func(d resourcev1.Device) bool { return ptr.Deref(d.AllowMultipleAllocations, false) })
	}) {
		return nil, nil
	}
	crowds, err := r.crowds(ctx, base)
	if err != nil {
		return nil, err
	}
	for _, crowd := range crowds[:min(len(crowds), maxCrowds)] {
		nodes := crowd[0].nodes
		free, err := freeDevices(base.Snapshot(), nodes)
		if err != nil {
			return nil, err
		}
		needed := 0
		for _, kind := range crowd {
			needed += len(kind.pods) * kind.devices
		}
		if needed > free {
			return conflictOf(crowd, fmt.Sprintf("%s like %s need %s, and %d are free on the nodes where they fit",
				words.Count(podsIn(crowd), "pod"), crowd[0].pods[0].Name, words.Count(needed, "device"), free)), nil
		}
		apart, err := keepingApart(ctx, base, crowd)
		if err != nil {
			return nil, err
		}
		if n := podsIn(apart); n > len(nodes) {
			return conflictOf(apart, fmt.Sprintf("%s like %s each need a node of their own, since the devices of no node are enough for two of them, and they fit on %s",
				words.Count(n, "pod"), apart[0].pods[0].Name, words.Count(len(nodes), "node"))), nil
		}
	}
	return nil, nil
}

// crowds are the pods that change only what is left of their nodes, by the nodes on which they fit as things
// are: on no others do they fit later. Who takes most devices is first.
func (r *Placement) crowds(ctx context.Context, base *scheduler.Cluster) ([][]*claimant, error) {
	alone := replay.New(base, nil)
	known, seen := map[string]*claimant{}, map[inspect.ClaimRef]bool{}
	at := map[string]int{}
	var out [][]*claimant
	for _, pod := range r.Tried {
		m := replay.PodMember(base, pod, cycle.Options{})
		if usesSeen(seen, m.Claims) {
			continue // it takes no more than the one with which it shares the claim
		}
		shape := m.Shape
		if kind, ok := known[shape]; ok && shape != "" {
			if kind != nil {
				kind.pods = append(kind.pods, pod)
			}
			continue
		}
		kind, err := claimantOf(ctx, base, alone, m)
		if err != nil {
			return nil, err
		}
		if known[shape] = kind; kind == nil {
			continue
		}
		nodes := ""
		for _, node := range kind.nodes {
			nodes += node.Name + " "
		}
		claims := nodes
		for _, claim := range m.Claims {
			claims += claim.Spec.Devices.String()
		}
		if like := known[claims]; like != nil {
			like.pods, known[shape] = append(like.pods, pod), like
			continue
		}
		known[claims] = kind
		crowd, ok := at[nodes]
		if !ok {
			crowd = len(out)
			at[nodes], out = crowd, append(out, nil)
		}
		out[crowd] = append(out[crowd], kind)
	}
	for _, crowd := range out {
		slices.SortStableFunc(crowd, func(a, b *claimant) int { return cmp.Compare(b.devices, a.devices) })
	}
	return out, nil
}

// claimantOf is a pod that fits on the nodes on which it fits alone, or on fewer of them. It is nil if that
// is not certain.
func claimantOf(ctx context.Context, base *scheduler.Cluster, alone *replay.Replay, m *replay.Member) (*claimant, error) {
	nodes, sure, err := fixedNodes(ctx, base, alone, m)
	if err != nil || !sure || m.PerNode || len(m.Claims) == 0 {
		return nil, err
	}
	return &claimant{pods: []*corev1.Pod{m.Pod}, member: m, nodes: nodes, devices: devicesNeeded(m.Claims)}, nil
}

// fixedNodes are the nodes on which a pod fits as things are. sure says that it fits on no others, whatever
// is placed before it.
func fixedNodes(ctx context.Context, base *scheduler.Cluster, alone *replay.Replay, m *replay.Member) (nodes []*corev1.Node, sure bool, err error) {
	t, err := alone.Ask(ctx, m.Pod)
	if err != nil {
		return nil, false, err
	}
	sure = m.Shape != "" && !m.NonLocal && !m.Unseen && !t.Open && !t.Fails && m.Pod.Status.NominatedNodeName == "" && replay.Local(ctx, base, m)
	return t.Nodes, sure, nil
}

// keepingApart are those of some pods of which no two fit on one node, even if nothing else is there and
// their devices are chosen for both together. Those with admin access to devices are left out: they are kept
// from these by other claims of the same pod only.
func keepingApart(ctx context.Context, c *scheduler.Cluster, crowd []*claimant) ([]*claimant, error) {
	var out []*claimant
	for _, kind := range crowd[:min(len(crowd), maxClaimants)] {
		if slices.ContainsFunc(kind.member.Claims, func(claim *resourcev1.ResourceClaim) bool { return inspect.AdminRequest(&claim.Spec) >= 0 }) {
			continue
		}
		apart := true
		others := slices.Clip(out)
		if len(kind.pods) > 1 {
			others = append(others, &claimant{member: replay.PodMember(c, kind.pods[1], cycle.Options{})})
		}
		for _, other := range others {
			q := &whatif.Question{Cluster: c, Claims: slices.Concat(kind.member.Claims, other.member.Claims), Nodes: kind.nodes}
			answers, err := q.Ask(ctx)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(answers, func(a whatif.Answer) bool {
				return a.Abort != nil || a.Result == nil || a.Result.Outcome != allocator.Unsatisfiable
			}) {
				apart = false
				break
			}
		}
		if apart {
			out = append(out, kind)
		}
	}
	return out, nil
}

// conflictOf says why some pods cannot be placed together.
func conflictOf(crowd []*claimant, message string) *explain.JointPlan {
	out := &explain.JointPlan{Verdict: explain.Infeasible, Message: message}
	for _, kind := range crowd {
		for _, pod := range kind.pods {
			out.Conflict = append(out.Conflict, cycle.SubjectOf(pod))
		}
	}
	return out
}

func podsIn(crowd []*claimant) int {
	n := 0
	for _, kind := range crowd {
		n += len(kind.pods)
	}
	return n
}

// devicesNeeded is a number of devices that claims take at least, which nobody else can have then.
func devicesNeeded(claims []*resourcev1.ResourceClaim) int {
	n := 0
	for _, claim := range claims {
		for i := range claim.Spec.Devices.Requests {
			switch e := claim.Spec.Devices.Requests[i].Exactly; {
			case e == nil: // one of several alternatives
				n++
			case ptr.Deref(e.AdminAccess, false):
			case e.AllocationMode == resourcev1.DeviceAllocationModeExactCount:
				n += max(1, int(e.Count))
			default:
				n++
			}
		}
	}
	return n
}

// freeDevices is the number of devices of nodes that no claim has.
func freeDevices(s *inspect.Snapshot, nodes []*corev1.Node) (int, error) {
	n := 0
	for _, node := range nodes {
		pools, err := s.PoolsOn(node)
		if err != nil {
			return 0, fmt.Errorf("counting free devices: %w", err)
		}
		for _, pool := range pools {
			for _, slice := range pool.Slices {
				for i := range slice.Spec.Devices {
					holders := s.Holders(inspect.DeviceIDOf(slice.ResourceSlice, i))
					n += words.Btoi(!slices.ContainsFunc(holders, func(h inspect.Holder) bool { return !h.Admin() }))
				}
			}
		}
	}
	return n, nil
}
