package disruption

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Event is something by which pods have to go.
type Event struct {
	// What says it in words, such as "draining node n1".
	What string
	// Change makes it in the objects of the cluster, but for the pods.
	Change func(*inspect.Objects)
	// Evicted are the pods that have to go.
	Evicted []Eviction
	// Besides are other pods that it is about, with what becomes of them.
	Besides []explain.Note
	// Lost says of devices whether they are gone. It is nil if none are.
	Lost func(inspect.DeviceID) bool
	// Within is the namespace of all that goes, or "".
	Within string
	// Final says that nobody makes other pods in their place.
	Final bool
	// Asks says that pods are evicted by asking the API server, which respects PodDisruptionBudgets. IfHeld
	// is a remark for the case that it does not let all go.
	Asks    bool
	IfHeld  string
	Remarks []string
}

// Eviction is a pod that has to go.
type Eviction struct {
	Pod   *corev1.Pod
	After time.Duration
	Cause string
	// Along says that the pod goes anyway, which the event tells besides: nothing will recreate it because of
	// that.
	Along bool
}

func (v *Eviction) ref() inspect.PodRef {
	return inspect.PodRef{Namespace: v.Pod.Namespace, Name: v.Pod.Name}
}

// Play says what becomes of pods and claims by an event: who goes, and what kube-scheduler makes of those
// that come back, together with all that waits already. Pods that come back are younger than those that wait,
// so they come after these unless their priority is higher. The error is that of the context, or of a
// question that could not be put.
func Play(ctx context.Context, c *scheduler.Cluster, e *Event) (*explain.Disruption, error) {
	a, err := PlayOut(ctx, c, e)
	if err != nil {
		return nil, err
	}
	return a.Disruption, nil
}

// Aftermath is what becomes of a cluster by an event, and what would become of it otherwise.
type Aftermath struct {
	*explain.Disruption
	// With is the cluster once kube-scheduler has placed what it can after the event, Without where there is
	// no event. Pods that are to come back and are left waiting are in neither.
	With, Without *inspect.Snapshot
	// Waiting is the number of pods that kube-scheduler leaves waiting Without.
	Waiting int
}

// PlayOut is Play, with the clusters that it leads to.
func PlayOut(ctx context.Context, c *scheduler.Cluster, e *Event) (*Aftermath, error) {
	without, alone, err := unplanned(ctx, c)
	if err != nil {
		return nil, err
	}
	d, then, err := playOut(ctx, c, e, without)
	if err != nil {
		return nil, err
	}
	return &Aftermath{Disruption: d, With: then, Without: alone, Waiting: len(without.Pending)}, nil
}

// unplanned is what kube-scheduler makes of all that waits as things are, and the cluster then. It does not
// say why pods are left waiting.
func unplanned(ctx context.Context, c *scheduler.Cluster) (*explain.Replay, *inspect.Snapshot, error) {
	waiting, _ := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, alone, err := plan.PlaceAll(ctx, c, waiting, plan.Options{NoJoint: true, NoReasons: true})
	if err != nil {
		return nil, nil, err
	}
	return &p.Replay, alone.Cluster().Snapshot(), nil
}

// mayMiss reports whether pods or claims of a namespace, or of all, may be missing in a snapshot.
func mayMiss(s *inspect.Snapshot, namespace string) bool {
	pods := s.Health(inspect.Pods)
	return pods.State == inspect.NotRead && len(s.Objects().Pods) == 0 || pods.PartialIn(namespace) || s.Health(inspect.Claims).PartialIn(namespace)
}

// playOut is Play where it is known what happens without the event, with the cluster that it leads to.
func playOut(ctx context.Context, c *scheduler.Cluster, e *Event, without *explain.Replay) (*explain.Disruption, *inspect.Snapshot, error) {
	s := c.Snapshot()
	out := &explain.Disruption{
		What: e.What, Besides: e.Besides, Remarks: slices.Clone(e.Remarks), Final: e.Final,
		Unseen: mayMiss(s, e.Within) || len(plan.WithoutClaims(s)) > 0,
		Basis:  cycle.BasisOf(c), Partial: cycle.Unread(s),
	}
	evicted := slices.Clone(e.Evicted)
	slices.SortStableFunc(evicted, func(a, b Eviction) int {
		return cmp.Or(cmp.Compare(a.After, b.After), strings.Compare(a.Pod.Namespace, b.Pod.Namespace), strings.Compare(a.Pod.Name, b.Pod.Name))
	})
	d := &course{c: c, event: e, out: out, ended: map[inspect.PodRef]bool{}, gone: map[explain.Subject]*corev1.Pod{}}
	settled, err := d.run(ctx, evicted, without)
	if err != nil {
		return nil, nil, err
	}
	after := d.without(s, d.ended)
	out.Claims = lostClaims(s, after)
	out.Besides = append(slices.Clip(out.Besides), stranded(after, e)...)
	compare(out, without)
	return out, settled.Snapshot(), nil
}

// stranded are the claims that keep devices which are gone. The controller of claims releases one when the
// last pod goes for which it is reserved, and never one that was reserved for nobody.
func stranded(after *inspect.Snapshot, e *Event) []explain.Note {
	if e.Lost == nil {
		return nil
	}
	along := map[string]bool{} // pods of which it is told what becomes of them
	for _, note := range e.Besides {
		along[note.Namespace+"/"+note.Name] = note.Kind == "Pod"
	}
	var out []explain.Note
	for _, claim := range after.Objects().Claims {
		if claim.Status.Allocation == nil || !slices.ContainsFunc(devicesOf(claim), e.Lost) ||
			slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
				return r.Resource == "pods" && (along[claim.Namespace+"/"+r.Name] || endedPod(after, inspect.PodRef{Namespace: claim.Namespace, Name: r.Name}))
			}) {
			continue
		}
		message := "stays allocated to devices that are gone: it is reserved for nobody, so no controller releases it; deallocate or delete it"
		if len(claim.Status.ReservedFor) > 0 {
			message = "stays allocated to devices that are gone: it is reserved for others than those that end"
		}
		out = append(out, explain.Note{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name, Message: message})
	}
	return out
}

// endedPod reports whether a pod has ended. The controller of claims takes its reservations back.
func endedPod(s *inspect.Snapshot, ref inspect.PodRef) bool {
	pod, ok := s.Pod(ref)
	return ok && inspect.Ended(pod)
}

// compare notes of the pods that wait who is placed by the event, and who no longer is.
func compare(out *explain.Disruption, without *explain.Replay) {
	before, again := map[explain.Subject]bool{}, map[explain.Subject]bool{}
	for i := range without.Placed {
		before[without.Placed[i].Subject] = true
	}
	for i := range out.Gone {
		again[out.Gone[i].Subject] = true
	}
	out.Replay.Preempted = slices.DeleteFunc(out.Replay.Preempted, func(g explain.GonePod) bool { // who is ended anyway
		return slices.ContainsFunc(without.Preempted, func(other explain.GonePod) bool { return other.Subject == g.Subject && other.Then == g.Then })
	})
	for _, p := range out.Replay.Placed {
		if !before[p.Subject] && !again[p.Subject] {
			out.Gains = append(out.Gains, p)
		}
	}
	for _, p := range out.Replay.Pending {
		if !before[p.Subject] {
			continue
		}
		if !without.Certain {
			p.Verdict = explain.Unknown // it may be waiting either way
		}
		out.Losses = append(out.Losses, p)
	}
}

// settle places what waits after an event, and returns the cluster in which that is placed, with the replay
// that shows it. empty says that no node is left; then the cluster has stand-ins that take no pods, and there
// is no replay.
func settle(ctx context.Context, c *scheduler.Cluster, again []*corev1.Pod, out *explain.Disruption, empty bool) (*scheduler.Cluster, *plan.Placement, error) {
	waiting, _ := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, settled := &explain.Plan{}, c
	var r *plan.Placement
	if all := append(waiting, again...); empty {
		p.Replay = nowhere(all)
	} else {
		var err error
		if p, r, err = plan.PlaceAll(ctx, c, all, plan.Options{NoJoint: true}); err != nil {
			return nil, nil, err
		}
		settled = r.Cluster()
	}
	out.Replay = p.Replay
	plan.Follow(&out.Replay, out.Gone)
	return settled, r, nil
}

// leavesSome finds out whether some of those who are to come back surely find no node where it is not certain
// who does.
func leavesSome(ctx context.Context, r *plan.Placement, out *explain.Disruption) error {
	back := 0
	for i := range out.Gone {
		back += words.Btoi(out.Gone[i].Controller != "")
	}
	if r == nil || len(r.Tried) > back || out.Replay.Certain || out.Replay.Preempting || len(out.Replay.Preempted) > 0 || len(out.Replay.Pending) == 0 {
		return nil // or others than these may be those who find none
	}
	best, _, err := r.Best(ctx, r.Base())
	if err == nil && best.Verdict == explain.Infeasible {
		out.LeavesSome = true
		out.Replay.Remarks = append(out.Replay.Remarks, "not all of them find a node, whichever of them kube-scheduler takes first: "+best.Message)
	}
	return err
}

// nowhere leaves pods waiting because there is no node.
func nowhere(pods []*corev1.Pod) explain.Replay {
	out := explain.Replay{Certain: true}
	for _, pod := range pods {
		out.Pending = append(out.Pending, explain.PendingPod{Subject: cycle.SubjectOf(pod), Verdict: explain.Unsatisfiable, Message: "no node is left"})
	}
	return out
}

// lostClaims are the claims that have devices before and not after, in their order.
func lostClaims(before, after *inspect.Snapshot) []explain.LostClaim {
	var out []explain.LostClaim
	for _, claim := range before.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		then, ok := after.Claim(inspect.RefOf(claim))
		if !ok || then.Status.Allocation == nil {
			out = append(out, explain.LostClaim{Claim: inspect.RefOf(claim), Devices: devicesOf(claim), Deleted: !ok})
		}
	}
	return out
}

// devicesOf are the devices of an allocation, each once.
func devicesOf(claim *resourcev1.ResourceClaim) []inspect.DeviceID {
	var out []inspect.DeviceID
	for i := range claim.Status.Allocation.Devices.Results {
		if id := inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i]); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
