package replay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// settled is what became of a pod by itself.
type settled struct {
	placed      explain.PlacedPod
	reservation *Reservation // nil if it was left waiting
	waiting     Waiting
	// local says that nothing mattered for it but what is left of nodes, and that it is known; onlyNode that
	// what it takes is of its node alone.
	local, onlyNode bool
}

// settle notes what became of a pod.
func (r *Replay) settle(pod *corev1.Pod, s *settled) {
	if r.settled == nil {
		r.settled = map[inspect.PodRef]*settled{}
	}
	r.settled[refOf(pod)] = s
}

// repeating is what a replay does again as another one did it.
type repeating struct {
	of *Replay
	// unlike are the pods that are others than there.
	unlike map[inspect.PodRef]bool
	// differs are the nodes of which other things are left than there were at the same moment, and freed
	// those of which more may be left.
	differs, freed map[inspect.NodeName]bool
	// refused are the shapes that fit nowhere, which stays so.
	refused map[string]bool
	// put are pods that were placed, on their nodes, and are not in the cluster yet.
	put []*Reservation
	on  map[inspect.NodeName]bool
}

// Repeat makes a replay that has not begun place pods and leave them waiting as another one did, and ask
// about them only where that may have changed. The clusters of both differ in nothing but the pods that are
// unlike those there, which wait in both, and in the claims of these alone. Nodes may be chosen by
// [Replay.Choose] only, which has to prefer the nodes of that run. AnyOf of a pod that is not asked about on
// all nodes is that of the other run.
func (r *Replay) Repeat(of *Replay, unlike []*corev1.Pod) {
	p := &repeating{
		of: of, unlike: map[inspect.PodRef]bool{}, differs: map[inspect.NodeName]bool{}, freed: map[inspect.NodeName]bool{},
		refused: map[string]bool{}, on: map[inspect.NodeName]bool{},
	}
	for _, pod := range unlike {
		p.unlike[refOf(pod)] = true
		if s := of.settled[refOf(pod)]; s != nil && s.reservation != nil {
			if !s.onlyNode {
				return
			}
			p.differs[s.placed.Node], p.freed[s.placed.Node] = true, true
		}
	}
	r.repeats = p
}

// repeatable reports whether the other run took no pods but these.
func (r *Replay) repeatable(pods []*corev1.Pod) bool {
	these := make(map[inspect.PodRef]bool, len(pods))
	for _, pod := range pods {
		these[refOf(pod)] = true
	}
	return !slices.ContainsFunc(r.repeats.of.Tried, func(pod *corev1.Pod) bool { return !these[refOf(pod)] })
}

// repeat does with a pod what the other run did, if that is known to be the same.
func (r *Replay) repeat(ctx context.Context, pod *corev1.Pod) (done bool, err error) {
	p := r.repeats
	if p == nil || p.unlike[refOf(pod)] {
		return false, nil
	}
	s := p.of.settled[refOf(pod)]
	switch {
	case s == nil || !s.local:
		return false, nil
	case s.reservation == nil:
		if refused, err := r.refused(ctx, pod, s.waiting.Member.Shape); !refused || err != nil {
			return false, err
		}
		w := s.waiting
		w.After = len(r.Placed)
		r.Waiting = append(r.Waiting, w)
	case !s.onlyNode:
		return false, nil
	case p.differs[s.placed.Node]:
		return r.onSameNode(ctx, pod, s)
	default:
		r.put(s)
	}
	r.settle(pod, s)
	return true, nil
}

// refused reports whether a pod that found no room finds none where more is left now.
func (r *Replay) refused(ctx context.Context, pod *corev1.Pod, shape string) (bool, error) {
	p := r.repeats
	if !p.refused[shape] && len(p.freed) > 0 {
		var nodes []*corev1.Node
		for name := range p.freed {
			node, ok := r.cluster.Snapshot().Node(name)
			if !ok {
				return false, nil
			}
			nodes = append(nodes, node)
		}
		// Pods that are not in the cluster yet leave less, and so none is refused that fits.
		t, err := PodMember(r.cluster, pod, cycle.Options{}).Ask(ctx, r.cluster, nodes)
		if err != nil || len(t.Options) > 0 || t.MayWait || t.Open || t.Fails {
			return false, err
		}
	}
	p.refused[shape] = true
	return true, nil
}

// put notes that a pod was placed which takes what is of its node alone.
func (r *Replay) put(s *settled) {
	p := r.repeats
	r.Chosen = r.Chosen || s.placed.AnyOf > 1
	r.Placed, r.Reservations = append(r.Placed, s.placed), append(r.Reservations, s.reservation)
	p.put, p.on[s.placed.Node] = append(p.put, s.reservation), true
}

// onSameNode places a pod on the node that it had in the other run, if it still fits there. What is on other
// nodes by now is no matter for that.
func (r *Replay) onSameNode(ctx context.Context, pod *corev1.Pod, then *settled) (done bool, err error) {
	if r.repeats.on[then.placed.Node] {
		r.catchUp()
	}
	node, ok := r.cluster.Snapshot().Node(then.placed.Node)
	if !ok {
		return false, nil
	}
	m := PodMember(r.cluster, pod, cycle.Options{})
	t, err := m.Ask(ctx, r.cluster, []*corev1.Node{node})
	if err != nil || len(t.Options) != 1 || t.MayWait || t.Open || t.Fails {
		return false, err
	}
	reservation, err := t.Options[0].Reserve(ctx)
	if err != nil || !r.onlyNode(ctx, m, reservation) {
		return false, err
	}
	s := &settled{placed: PlacedPod(pod, then.placed.AnyOf, reservation), reservation: reservation, local: true, onlyNode: true}
	r.put(s)
	r.settle(pod, s)
	r.diverge(m)
	return true, nil
}

// catchUp puts into the cluster the pods that are not in it yet.
func (r *Replay) catchUp() {
	if r.repeats == nil || len(r.repeats.put) == 0 {
		return
	}
	r.cluster = With(r.cluster, r.repeats.put...)
	for _, reservation := range r.repeats.put {
		r.changed = append(r.changed, inspect.NodeName(reservation.Pod.Spec.NodeName))
	}
	r.repeats.put, r.repeats.on = nil, map[inspect.NodeName]bool{}
}

// repeatNoMore has every pod asked about from now on.
func (r *Replay) repeatNoMore() {
	r.catchUp()
	r.repeats = nil
}

// diverge compares what became of pods with what became of them in the other run.
func (r *Replay) diverge(members ...*Member) {
	for _, m := range members {
		p := r.repeats
		if p == nil {
			return
		}
		now, then := r.settled[refOf(m.Pod)], p.of.settled[refOf(m.Pod)]
		if now == nil || then == nil { // it had no turn in one of the runs
			r.repeatNoMore()
			return
		}
		if now.placed.Node == then.placed.Node && now.onlyNode == then.onlyNode && !p.unlike[refOf(m.Pod)] &&
			slices.EqualFunc(now.placed.Devices, then.placed.Devices, func(a, b explain.Device) bool { return a.ID == b.ID }) {
			continue
		}
		for _, s := range []*settled{now, then} {
			if s.reservation != nil {
				if !s.onlyNode {
					r.repeatNoMore()
					return
				}
				p.differs[s.placed.Node] = true
			}
		}
		if then.reservation != nil {
			p.freed[then.placed.Node] = true
		}
	}
}
