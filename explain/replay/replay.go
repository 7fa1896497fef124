package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Replay plays what kube-scheduler does with the pods of its queue, one scheduling cycle after the other:
// each gets what those before it have left, on the node that is chosen for it.
//
// Pods of one shape get the same answer from a node on which nothing has changed, so what nodes said to a
// shape is kept, and only those are asked again on which something was placed since. That holds as long as
// what is placed changes nothing but what is left of its node.
type Replay struct {
	// Placed are the pods that found a node, in that order, and Waiting those that did not, in the order of
	// the queue.
	Placed  []explain.PlacedPod
	Waiting []Waiting
	// Reservations are what each of Placed takes.
	Reservations []*Reservation
	// Tried are the pods that had their turn, in the order of the queue, and Running those that were on a
	// node before.
	Tried   []*corev1.Pod
	Running []explain.Subject
	// Chosen says that some pod had a choice of nodes, and Retried that pods which were left waiting were
	// tried again.
	Chosen, Retried bool
	// Doubtful says that something was not known that decides about pods, first about InDoubt. Unsure are
	// those of Placed that something may refuse.
	Doubtful bool
	InDoubt  *corev1.Pod
	Unsure   map[explain.Subject]bool
	// Choose is the index of the node that a pod is put on, of those that may be chosen. If it is nil, it is
	// the first.
	Choose func(pod *corev1.Pod, nodes []*corev1.Node) int
	// Left, if not nil, is called with each pod that is left waiting, in the cluster of that moment. If room
	// is made for it, the replay goes on with that.
	Left func(context.Context, *scheduler.Cluster, *Waiting) (*Room, error)
	// Limit is the number of pods that are placed at most; 0 is no limit.
	Limit int

	assumed
	base     *scheduler.Cluster
	choosing *chooser
	settled  map[inspect.PodRef]*settled
	repeats  *repeating // nil if every pod is asked about
}

// assumed is a cluster with the pods that kube-scheduler has assumed to be on nodes, and what its nodes say.
type assumed struct {
	cluster *scheduler.Cluster
	// local says of shapes whether what they take is of their node alone.
	local map[string]bool
	// answers are what nodes said to shapes. They are never changed, only replaced.
	answers map[string]*answer
	// changed are the nodes on which pods were placed, in that order.
	changed []inspect.NodeName
	index   map[inspect.NodeName]int
}

// answer is what the nodes say to pods of a shape.
type answer struct {
	fits []bool // by the index of the node
	// seen is the number of changes that are taken into account.
	seen int
}

// Feasible is where a pod can be placed now.
type Feasible struct {
	Member *Member
	// Nodes may be chosen, in the order of the cluster.
	Nodes []*corev1.Node
	// MayWait, Open and Fails are those of a [Turn].
	MayWait, Open, Fails bool
	// asked are the options on the nodes that were asked just now.
	asked []Option
}

// Waiting is a pod that was left waiting.
type Waiting struct {
	Pod *corev1.Pod
	// After is the number of pods that had been placed.
	After int
	*Feasible
	// Group is the pod group if that is why, as in Entity, of which so many pods are Short of room. Attempt
	// is what became of its pods.
	Group   string
	Short   int
	Attempt Run
	// Failure is why kube-scheduler fails to choose a node, if it does.
	Failure string
}

// Room is room that is made for a pod that finds none.
type Room struct {
	// Cluster is the one in which the replay goes on, and Pod the pod, nominated for a node of it.
	Cluster *scheduler.Cluster
	Pod     *corev1.Pod
	// Now says that the room is there already. Otherwise the pod waits for it.
	Now bool
}

// Verdict says whether it is known that the pod cannot be placed.
func (w *Waiting) Verdict() explain.Verdict {
	switch {
	case w.Fails:
		return explain.Invalid
	case w.Open || w.MayWait:
		return explain.Unknown
	}
	return explain.Unsatisfiable
}

// New begins with a cluster as it is. by is what kube-scheduler chooses nodes by; if it is nil, a pod
// may be put on any node that fits.
func New(c *scheduler.Cluster, by *Choosing) *Replay {
	r := &Replay{Unsure: map[explain.Subject]bool{}, base: c, assumed: assumed{cluster: c, local: map[string]bool{}, answers: map[string]*answer{}}}
	if by != nil {
		r.choosing = newChooser(*by)
	}
	r.index = make(map[inspect.NodeName]int, len(c.Snapshot().Nodes()))
	for i, node := range c.Snapshot().Nodes() {
		r.index[inspect.NodeName(node.Name)] = i
	}
	return r
}

// Fork is a replay on its own that begins with the cluster of this one.
func (r *Replay) Fork() *Replay {
	out := &Replay{Unsure: map[explain.Subject]bool{}, base: r.cluster, assumed: r.fork()}
	if r.choosing != nil {
		out.choosing = newChooser(r.choosing.Choosing)
	}
	return out
}

func (a *assumed) fork() assumed {
	out := *a
	out.changed = slices.Clip(a.changed)
	out.local, out.answers = maps.Clone(a.local), maps.Clone(a.answers)
	return out
}

// Cluster is the cluster with all pods that were placed, and Base the one without them.
func (r *Replay) Cluster() *scheduler.Cluster { return r.cluster }

// Base is the cluster before anything was placed.
func (r *Replay) Base() *scheduler.Cluster { return r.base }

// Run takes pods in the order of the queue, and those that were left waiting again as long as others are
// placed that they depend on. The error is that of the context, or of a question that could not be put;
// Placed and Waiting are what became of pods until then.
func (r *Replay) Run(ctx context.Context, pods []*corev1.Pod) error {
	var waiting []*corev1.Pod
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || inspect.Ended(pod) {
			r.Running = append(r.Running, cycle.SubjectOf(pod))
			continue
		}
		waiting = append(waiting, pod)
	}
	if r.repeats != nil && !r.repeatable(waiting) {
		r.repeats = nil
	}
	had := map[inspect.PodRef]bool{}
	within, step := progress.Begin(ctx, "placing pods", len(waiting))
	for _, pod := range cycle.InQueueOrder(r.cluster.Snapshot(), waiting) {
		if !had[refOf(pod)] { // else it is there with its group
			r.Tried = append(r.Tried, pod)
		}
		if err := r.take(within, pod, had); err != nil {
			return err
		}
		step()
	}
	r.repeatNoMore()
	return r.again(ctx)
}

// again takes pods that were left waiting and may fit now that others are placed.
func (r *Replay) again(ctx context.Context) error {
	for before := -1; before != len(r.Placed); {
		before = len(r.Placed)
		left := r.Waiting
		r.Waiting = nil
		had := map[inspect.PodRef]bool{}
		for _, w := range left {
			if !r.mayFitNow(&w) {
				r.Waiting = append(r.Waiting, w)
				continue
			}
			r.Retried = true
			if err := r.take(ctx, w.Pod, had); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayFitNow reports whether something was placed since a pod was left waiting that may have made room for it,
// or has taken away what kube-scheduler failed over: it tries such a pod again and again.
func (r *Replay) mayFitNow(w *Waiting) bool {
	return w.After != len(r.Placed) && (w.Group != "" || w.Member.NonLocal || w.Fails)
}

// take takes a pod from the queue, with its group. had are the pods of groups that had their turn with
// another one.
func (r *Replay) take(ctx context.Context, pod *corev1.Pod, had map[inspect.PodRef]bool) error {
	if had[refOf(pod)] {
		return nil
	}
	if r.Limit > 0 && len(r.Placed) >= r.Limit {
		return nil
	}
	if done, err := r.repeat(ctx, pod); done || err != nil {
		return err
	}
	r.catchUp()
	if gang, ok := Gang(r.cluster, pod, cycle.Options{}); ok {
		return r.takeGang(ctx, gang, had)
	}
	placed, w, err := r.One(ctx, pod)
	if err != nil {
		return err
	}
	if !placed {
		r.Waiting = append(r.Waiting, w)
	}
	r.diverge(w.Member)
	return nil
}

// One places a pod by itself, or says how it is left waiting.
func (r *Replay) One(ctx context.Context, pod *corev1.Pod) (placed bool, w Waiting, err error) {
	found, err := r.Ask(ctx, pod)
	if err != nil {
		return false, Waiting{}, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	unsure := found.MayWait || found.Open
	if unsure {
		r.Doubtful = true
		r.InDoubt = cmp.Or(r.InDoubt, pod)
	}
	w = Waiting{Pod: pod, After: len(r.Placed), Feasible: found}
	s := &settled{local: ofNodes(found.Member) && !unsure && !found.Fails && inspect.PodGroupOf(pod) == "", waiting: w}
	r.settle(pod, s)
	if len(found.Nodes) == 0 || found.Fails {
		found.asked = nil
		return r.left(ctx, w)
	}
	if r.choosing != nil {
		failure, err := r.choosing.among(ctx, r.cluster, found, pod)
		if err != nil {
			return false, Waiting{}, fmt.Errorf("choosing a node for pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if found.Fails = failure != ""; found.Fails {
			found.asked, w.Failure, s.local = nil, failure, false
			return false, w, nil
		}
	}
	r.Chosen = r.Chosen || len(found.Nodes) > 1
	node := found.Nodes[0]
	if r.Choose != nil {
		node = found.Nodes[r.Choose(pod, found.Nodes)]
	}
	reservation, err := found.reserveOn(ctx, r.cluster, node)
	if err == nil && reservation == nil {
		err = errors.New("it no longer fits there")
	}
	if err != nil {
		return false, Waiting{}, fmt.Errorf("placing pod %s/%s on node %s: %w", pod.Namespace, pod.Name, node.Name, err)
	}
	s.waiting = Waiting{} // which holds all nodes that may be chosen
	s.placed, s.reservation = PlacedPod(pod, len(found.Nodes), reservation), reservation
	s.onlyNode = r.assume(ctx, found.Member, reservation)
	r.Placed, r.Reservations = append(r.Placed, s.placed), append(r.Reservations, reservation)
	if unsure {
		r.Unsure[cycle.SubjectOf(pod)] = true
	}
	return true, w, nil
}

// left leaves a pod waiting, unless room is made for it.
func (r *Replay) left(ctx context.Context, w Waiting) (placed bool, _ Waiting, err error) {
	if r.Left == nil {
		return false, w, nil
	}
	room, err := r.Left(ctx, r.cluster, &w)
	if err != nil || room == nil {
		return false, w, err
	}
	r.goOn(room.Cluster)
	if room.Now {
		return r.One(ctx, room.Pod)
	}
	w.Pod = room.Pod
	return false, w, nil
}

// goOn goes on in another cluster with the same nodes.
func (r *Replay) goOn(c *scheduler.Cluster) {
	r.repeatNoMore()
	r.cluster, r.changed = c, nil
	r.local, r.answers = map[string]bool{}, map[string]*answer{}
}

// Resume takes the pods that were left waiting again, with others that have come since, in a cluster in which
// pods have ended. The error is that of Run.
func (r *Replay) Resume(ctx context.Context, c *scheduler.Cluster, more []*corev1.Pod) error {
	r.goOn(c)
	pods := slices.Clone(more)
	for i := range r.Waiting {
		pods = append(pods, r.Waiting[i].Pod)
	}
	r.Waiting = nil
	had := map[inspect.PodRef]bool{}
	for _, pod := range cycle.InQueueOrder(c.Snapshot(), pods) {
		if err := r.take(ctx, pod, had); err != nil {
			return err
		}
	}
	return r.again(ctx)
}

// PlacedPod is a pod with what it takes on one of several nodes that may be chosen.
func PlacedPod(pod *corev1.Pod, anyOf int, reservation *Reservation) explain.PlacedPod {
	out := explain.PlacedPod{Subject: cycle.SubjectOf(pod), Node: inspect.NodeName(reservation.Pod.Spec.NodeName), AnyOf: anyOf}
	for _, claim := range reservation.Claims {
		out.Devices = append(out.Devices, DevicesOf(claim)...)
	}
	return out
}

// DevicesOf are the devices that an allocated claim has.
func DevicesOf(claim *resourcev1.ResourceClaim) []explain.Device {
	if claim.Status.Allocation == nil {
		return nil
	}
	return DevicesIn(claim, claim.Status.Allocation)
}

// DevicesIn are the devices of a claim in an allocation.
func DevicesIn(claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) []explain.Device {
	var out []explain.Device
	for i := range allocation.Devices.Results {
		d := &allocation.Devices.Results[i]
		out = append(out, explain.Device{
			Claim: inspect.RefOf(claim), Request: d.Request, ID: inspect.DeviceOf(d),
			Admin: d.AdminAccess != nil && *d.AdminAccess, Consumed: d.ConsumedCapacity,
		})
	}
	return out
}

// takeGang places the pods of a group, or none if too few find room.
func (r *Replay) takeGang(ctx context.Context, gang Entity, had map[inspect.PodRef]bool) error {
	before, start := r.fork(), len(r.Placed)
	var left []Waiting
	var attempt Run
	fails := false
	for _, m := range gang.Members {
		member := m.Pod
		had[refOf(member)] = true
		if !slices.ContainsFunc(r.Tried, func(other *corev1.Pod) bool { return cycle.SubjectOf(other) == m.Subject }) {
			r.Tried = append(r.Tried, member)
		}
		placed, w, err := r.One(ctx, member)
		if err != nil {
			r.Placed, r.Reservations, r.assumed = r.Placed[:start], r.Reservations[:start], before
			return err
		}
		step := Step{Subject: m.Subject, Placed: placed}
		if placed {
			step.Node = r.Placed[len(r.Placed)-1].Node
		} else {
			left = append(left, w)
		}
		attempt = append(attempt, step)
		fails = fails || !placed && w.Fails
	}
	found := len(r.Placed) - start
	if fails {
		found = 0 // it places none of a group while it fails at one
	}
	if found >= gang.Need {
		r.Waiting = append(r.Waiting, left...)
		r.diverge(gang.Members...)
		return nil
	}
	r.Placed, r.Reservations, r.assumed = r.Placed[:start], r.Reservations[:start], before
	for _, m := range gang.Members {
		r.settle(m.Pod, &settled{})
		r.Waiting = append(r.Waiting, Waiting{
			Pod: m.Pod, After: start, Feasible: &Feasible{Member: m}, Group: gang.Group, Short: gang.Need - found, Attempt: attempt,
		})
	}
	r.diverge(gang.Members...)
	return nil
}

// Ask says where a pod can be placed now.
func (r *Replay) Ask(ctx context.Context, pod *corev1.Pod) (*Feasible, error) {
	m := PodMember(r.cluster, pod, cycle.Options{})
	cached := ofNodes(m)
	if known, ok := r.answers[m.Shape]; ok && cached {
		now, asked, err := r.update(ctx, m, known)
		if err != nil {
			return nil, err
		}
		if now != nil {
			r.answers[m.Shape] = now
			return &Feasible{Member: m, Nodes: r.fitting(now.fits), asked: asked}, nil
		}
		delete(r.answers, m.Shape)
	}
	t, err := m.Ask(ctx, r.cluster, nil)
	if err != nil {
		return nil, err
	}
	fits := make([]bool, len(r.index))
	for i := range t.Options {
		if at, ok := r.index[t.Options[i].Node]; ok {
			fits[at] = true
		}
	}
	if cached && !t.MayWait && !t.Open && !t.Fails {
		r.answers[m.Shape] = &answer{fits, len(r.changed)}
	}
	return &Feasible{Member: m, Nodes: r.fitting(fits), MayWait: t.MayWait, Open: t.Open, Fails: t.Fails, asked: t.Options}, nil
}

// ofNodes reports whether what nodes say to a pod is a matter of what is left of each. A pod for which room
// was made is put nowhere else as long as that node fits.
func ofNodes(m *Member) bool {
	return m.Shape != "" && !m.NonLocal && !m.Unseen && m.Pod.Status.NominatedNodeName == ""
}

// fitting are the nodes that fit.
func (a *assumed) fitting(fits []bool) []*corev1.Node {
	var out []*corev1.Node
	for i, node := range a.cluster.Snapshot().Nodes() {
		if fits[i] {
			out = append(out, node)
		}
	}
	return out
}

// update asks the nodes that have changed since. It is nil if the answers are not certain. A node that did
// not fit does not fit once something was placed on it.
func (r *Replay) update(ctx context.Context, m *Member, known *answer) (*answer, []Option, error) {
	var nodes []*corev1.Node
	out := &answer{known.fits, len(r.changed)}
	for _, name := range r.changed[known.seen:] {
		if at, ok := r.index[name]; ok && out.fits[at] {
			if len(nodes) == 0 {
				out.fits = slices.Clone(known.fits)
			}
			out.fits[at] = false
			nodes = append(nodes, r.cluster.Snapshot().Nodes()[at])
		}
	}
	if len(nodes) == 0 {
		return out, nil, nil
	}
	t, err := m.Ask(ctx, r.cluster, nodes)
	if err != nil || t.MayWait || t.Open || t.Fails {
		return nil, nil, err
	}
	for i := range t.Options {
		out.fits[r.index[t.Options[i].Node]] = true
	}
	return out, t.Options, nil
}

// reserveOn is what a pod takes on one of the nodes on which it can be placed.
func (f *Feasible) reserveOn(ctx context.Context, c *scheduler.Cluster, node *corev1.Node) (*Reservation, error) {
	for i := range f.asked {
		if string(f.asked[i].Node) == node.Name {
			return f.asked[i].Reserve(ctx)
		}
	}
	return f.Member.reserveOn(ctx, c, node)
}

// reserveOn is what a pod takes on a node. It is nil if it does not fit there.
func (m *Member) reserveOn(ctx context.Context, c *scheduler.Cluster, node *corev1.Node) (*Reservation, error) {
	t, err := m.Ask(ctx, c, []*corev1.Node{node})
	if err != nil || len(t.Options) != 1 {
		return nil, err
	}
	return t.Options[0].Reserve(ctx)
}

// assume puts a pod on its node. It reports whether that changes nothing but what is left there.
func (r *Replay) assume(ctx context.Context, m *Member, reservation *Reservation) (onlyNode bool) {
	r.cluster = With(r.cluster, reservation)
	if onlyNode = r.onlyNode(ctx, m, reservation); onlyNode {
		r.changed = append(r.changed, inspect.NodeName(reservation.Pod.Spec.NodeName))
	} else {
		r.answers = map[string]*answer{}
	}
	return onlyNode
}

// onlyNode reports whether a pod changes nothing on its node but what is left there.
func (r *Replay) onlyNode(ctx context.Context, m *Member, reservation *Reservation) bool {
	if _, known := r.local[m.Shape]; !known || m.Shape == "" {
		r.local[m.Shape] = Local(ctx, r.cluster, m)
	}
	node := inspect.NodeName(reservation.Pod.Spec.NodeName)
	return r.local[m.Shape] && !m.Unseen && !slices.ContainsFunc(reservation.Claims, func(claim *resourcev1.ResourceClaim) bool {
		return suppose.PinnedNode(claim.Status.Allocation.NodeSelector) != node
	})
}

func refOf(pod *corev1.Pod) inspect.PodRef {
	return inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
}

// Follow places members as a run did. The cluster is nil if some of the nodes cannot be chosen.
func Follow(ctx context.Context, c *scheduler.Cluster, members []*Member, run Run) (*scheduler.Cluster, []*Reservation, error) {
	var out []*Reservation
	for _, step := range run {
		if !step.Placed {
			continue
		}
		i := slices.IndexFunc(members, func(m *Member) bool { return m.Subject == step.Subject })
		node, ok := c.Snapshot().Node(step.Node)
		if i < 0 || !ok {
			return nil, nil, nil
		}
		reservation, err := members[i].reserveOn(ctx, c, node)
		if err != nil || reservation == nil {
			return nil, nil, err
		}
		out = append(out, reservation)
		c = With(c, reservation)
	}
	return c, out, nil
}
