package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// Options say how pods are placed.
type Options struct {
	// NoJoint leaves out whether all can be placed together, and what makes the scheduler do so.
	NoJoint bool
	// Within is the namespace of which all pods are asked about that wait. It is "" if that is no matter of a namespace.
	Within string
	// Unseen says of pods that more is asked for than is known, a sentence each: then no answer is a certain yes.
	Unseen []string
	// Others are pods that wait too and are not asked about. They take their turns in the queue.
	Others []*corev1.Pod
	// Choosing is what kube-scheduler chooses nodes by, besides the snapshot.
	Choosing Choosing
	// noReasons leaves out why pods are left waiting, and how sure that is of each.
	noReasons bool
}

// Outcome says what becomes of all pods that wait for kube-scheduler: which nodes it chooses for them, and how sure that is of each. Why
// pods are left waiting is not said. Errors are those of [Place].
func Outcome(ctx context.Context, c *scheduler.Cluster, by Choosing) (*explain.Replay, error) {
	pods, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, r, err := placeAll(ctx, c, pods, Options{NoJoint: true, Choosing: by, noReasons: true})
	if err != nil || r == nil {
		return nil, err
	}
	return &p.Replay, r.doubtPending(ctx)
}

// Place says what becomes of pods that are to be placed. They need not be in the snapshot of the cluster. Those of a pod group bring
// along the other pods of it that wait. The error is that of the context, or of a question that could not be put.
func Place(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts Options) (*explain.Plan, error) {
	opts.Unseen = append(slices.Clip(opts.Unseen), shortOfQuota(c.Snapshot(), pods)...)
	p, _, err := placeAll(ctx, c, pods, opts)
	return p, err
}

// Nodes returns the nodes that kube-scheduler chooses for the pods that wait for it, where it chooses any. Of several that are as good as each
// other it is the first. Errors are those of [Place].
func Nodes(ctx context.Context, c *scheduler.Cluster, by Choosing) (map[explain.Subject]inspect.NodeName, error) {
	pods, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	c, pods, _ = admittedWith(c, pods, nil)
	r := newReplay(newSimulation(c), by)
	if err := r.run(ctx, pods); err != nil {
		return nil, err
	}
	return r.out.Nodes(), nil
}

// placeAll is Place, with the replay that it comes from.
func placeAll(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts Options) (*explain.Plan, *replay, error) {
	c, pods, waiting := admittedWith(c, pods, opts.Others)
	others, err := rivals(ctx, c, pods, waiting)
	if err != nil {
		return nil, nil, err
	}
	foreigners, err := otherSchedulers(ctx, c, pods)
	if err != nil {
		return nil, nil, err
	}
	r := newReplay(newSimulation(c), opts.Choosing)
	r.unseen = append(unseen(c.Snapshot(), opts.Within, opts.Unseen), foreigners...)
	r.unseen = append(r.unseen, unknownTurns(append(slices.Clip(pods), others...))...)
	if len(others) > 0 {
		r.about = map[explain.Subject]bool{}
		for _, pod := range pods {
			r.about[subjectOf(pod)] = true
		}
	}
	r.preempting = newPreempting(c.Snapshot())
	if err := r.run(ctx, append(slices.Clip(pods), others...)); err != nil {
		return nil, nil, err
	}
	r.leaveOut()
	if opts.noReasons {
		r.listPending()
	} else if err := r.explainPending(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.certain(ctx, c); err != nil {
		return nil, nil, err
	}
	if !opts.noReasons {
		if err := r.doubtPending(ctx); err != nil {
			return nil, nil, err
		}
	}
	p := &explain.Plan{Replay: r.out, Partial: question.Limits(c.Snapshot()), Basis: question.Basis(c)}
	if opts.NoJoint || len(r.asked) == 0 {
		return p, r, nil
	}
	played := r
	if len(others) > 0 { // the best that could be done is to let them wait
		alone := newReplay(newSimulation(c), opts.Choosing)
		if err := alone.run(ctx, pods); err != nil {
			return nil, nil, err
		}
		alone.unseen = r.unseen
		alone.out.Preempting = r.out.Preempting
		r = alone
	}
	return p, played, r.addBest(ctx, c, p)
}

// unseen is what is not known of pods: of those that are asked about, or whether there are more.
func unseen(s *inspect.Snapshot, within string, of []string) []string {
	of = slices.Clip(of)
	if s.Health(inspect.Pods).PartialIn(within) {
		of = append(of, "not all pods could be read, so more may wait")
	}
	if text := unseenDevices(s); text != "" {
		of = append(of, text)
	}
	return of
}

// unseenDevices says whose claims are not known, or nothing.
func unseenDevices(s *inspect.Snapshot) string {
	pods := withoutClaims(s)
	if len(pods) == 0 {
		return ""
	}
	return fmt.Sprintf("the claims of %s, which %s, are not among those that were read, so devices may be in use without that being seen",
		words.Shorten(pods, maxNamed), words.Plural(len(pods), "runs", "run"))
}

// withoutClaims are the pods on nodes that use claims which are not known. No claim goes before its pods, so others may be missing too.
func withoutClaims(s *inspect.Snapshot) []string {
	var out []string
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || inspect.Ended(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		if slices.ContainsFunc(ClaimRefsOf(pod), func(ref inspect.ClaimRef) bool { _, ok := s.Claim(ref); return !ok }) {
			out = append(out, pod.Namespace+"/"+pod.Name)
		}
	}
	return out
}

// rivals are those of the others that fit on some node as things are, or may later, for whom pods may be ended, or from whom devices are taken
// away: who else fits nowhere takes nothing of what others need, and gives nothing back.
func rivals(ctx context.Context, c *scheduler.Cluster, pods, others []*corev1.Pod) ([]*corev1.Pod, error) {
	own := map[inspect.PodRef]bool{}
	for _, pod := range pods {
		own[refOf(pod)] = true
	}
	s := newSimulation(c)
	preempting := newPreempting(c.Snapshot())
	var out []*corev1.Pod
	for _, pod := range others {
		if own[refOf(pod)] {
			continue
		}
		t, err := s.ask(ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		rival := len(t.nodes) > 0 || t.open || t.fails || t.member.NonLocal || losesDevices(c, pod)
		if !rival {
			w := &waiting{pod: pod, turn: t}
			preempting.note(c, w)
			if rival, err = preempting.may(ctx, c, w, false, s.opts); err != nil {
				return nil, err
			}
		}
		if rival {
			out = append(out, pod)
		}
	}
	return out, nil
}

// leaveOut leaves out of the answer who was not asked about.
func (r *replay) leaveOut() {
	if r.about == nil {
		return
	}
	placed := r.out.Placed
	r.out.Placed = nil
	for _, p := range placed {
		if r.about[p.Subject] {
			r.out.Placed = append(r.out.Placed, p)
		} else {
			r.out.Others = append(r.out.Others, p.Subject)
		}
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(w waiting) bool { return !r.about[subjectOf(w.pod)] })
}

// addBest adds to a plan whether all can be placed, and what makes the scheduler do so.
func (r *replay) addBest(ctx context.Context, c *scheduler.Cluster, p *explain.Plan) error {
	best, run, err := r.best(ctx, c)
	if err != nil {
		return err
	}
	p.Joint = best
	if best.Verdict != explain.Feasible || run == nil || len(p.Replay.Others) > 0 || p.Replay.Certain && len(p.Replay.Pending) == 0 {
		return nil
	}
	p.Changes, err = question.Together(ctx, cycle.NewRow(ctx, c, r.asked, cycle.Options{}), r.pods(), run, r.opts)
	return err
}

func objects(pods []*corev1.Pod) []metav1.Object {
	out := make([]metav1.Object, len(pods))
	for i, pod := range pods {
		out[i] = pod
	}
	return out
}

// replay plays what kube-scheduler does with pods.
type replay struct {
	*simulation
	out explain.Replay
	// about are the pods that are asked about. If it is nil, all are.
	about map[explain.Subject]bool
	// waiting are the pods that are left waiting, in the order of the queue.
	waiting []waiting
	// asked are the pods that had their turn, in the order of the queue.
	asked []metav1.Object
	// chosen says that there was a choice of nodes, retried that pods that were left waiting were asked again, and doubtful that something was
	// not known, first of the pod in doubt.
	chosen, retried, doubtful bool
	inDoubt                   *corev1.Pod
	// depends says that kube-scheduler may leave others waiting than in the run that was played, and never has those pods that wait
	// in all runs, where these were looked at.
	depends bool
	never   map[explain.Subject]bool
	// cleared are the pods that wait with devices which kube-scheduler may take away, released the claims that have these.
	cleared  map[explain.Subject]bool
	released map[inspect.ClaimRef]bool
	// unseen says what is not known of the pods, so that nothing is certain.
	unseen []string
	// preempting judges for whom others may be ended. It is nil where that is not asked. contenders are the pods that are left waiting,
	// whether asked about or not.
	preempting *preempting
	contenders []waiting
	// choose is the index of the node that is taken of those that fit. If it is nil, the first is.
	choose func(nodes []*corev1.Node) int
	// base is the cluster before anything was placed.
	base *scheduler.Cluster
	// choosing says which nodes may be taken. If it is nil, any that fits may.
	choosing *chooser
}

// waiting is a pod that was left waiting.
type waiting struct {
	pod *corev1.Pod
	// at is the number of pods that had been placed.
	at   int
	turn *turn
	gang string // the group, if that is why
	// failure is why kube-scheduler fails to choose a node, if it does.
	failure string
	short   int // of how many pods the group has no room
}

func newReplay(s *simulation, by Choosing) *replay {
	return &replay{simulation: s, base: s.cluster, choosing: &chooser{Choosing: by, known: map[string]*scores.Scorer{}}}
}

// newFreeReplay is a replay in which a pod may be taken to any node that fits.
func newFreeReplay(s *simulation) *replay { return &replay{simulation: s, base: s.cluster} }

// run takes pods in the order of the queue, and those that were left waiting again as long as others are placed that they depend on.
func (r *replay) run(ctx context.Context, pods []*corev1.Pod) error {
	var subjects []metav1.Object
	for _, pod := range pods {
		if pod.Spec.NodeName != "" || inspect.Ended(pod) {
			r.out.Running = append(r.out.Running, subjectOf(pod))
			continue
		}
		subjects = append(subjects, pod)
	}
	had := map[inspect.PodRef]bool{}
	for _, i := range cycle.QueueOrder(r.cluster.Snapshot(), subjects) {
		if pod := subjects[i]; !had[inspect.PodRef{Namespace: pod.GetNamespace(), Name: pod.GetName()}] { // else it is there with its group
			r.asked = append(r.asked, pod)
		}
		if err := r.take(ctx, subjects[i].(*corev1.Pod), had); err != nil {
			return err
		}
	}
	err := r.again(ctx)
	r.contenders = slices.Clone(r.waiting)
	return err
}

// again takes pods that were left waiting and may fit now that others are placed.
func (r *replay) again(ctx context.Context) error {
	for before := -1; before != len(r.out.Placed); {
		before = len(r.out.Placed)
		left := r.waiting
		r.waiting = nil
		had := map[inspect.PodRef]bool{}
		for _, w := range left {
			if !r.mayFitNow(&w) {
				r.waiting = append(r.waiting, w)
				continue
			}
			r.retried = true
			if err := r.take(ctx, w.pod, had); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayFitNow reports whether something was placed since a pod was left waiting that may have made room for it, or has taken away what
// kube-scheduler failed over: it tries such a pod again and again.
func (r *replay) mayFitNow(w *waiting) bool {
	return w.at != len(r.out.Placed) && (w.gang != "" || w.turn.member.NonLocal || w.turn.fails)
}

// take takes a pod from the queue, with its group. had are the pods of groups that had their turn with another one.
func (r *replay) take(ctx context.Context, pod *corev1.Pod, had map[inspect.PodRef]bool) error {
	ref := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	if had[ref] {
		return nil
	}
	if gang, ok := cycle.Gang(r.cluster, pod, cycle.Options{}); ok {
		return r.takeGang(ctx, pod, gang, had)
	}
	placed, w, err := r.one(ctx, pod)
	if err != nil {
		return err
	}
	if placed == nil {
		r.waiting = append(r.waiting, w)
		return nil
	}
	r.out.Placed = append(r.out.Placed, *placed)
	return nil
}

// one places a pod, or says with what turn it is left waiting.
func (r *replay) one(ctx context.Context, pod *corev1.Pod) (*explain.PlacedPod, waiting, error) {
	t, err := r.ask(ctx, pod)
	if err != nil {
		return nil, waiting{}, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if t.mayWait || t.open {
		r.doubtful = true
		r.inDoubt = cmp.Or(r.inDoubt, pod)
	}
	w := waiting{pod: pod, at: len(r.out.Placed), turn: t}
	if len(t.nodes) == 0 || t.fails {
		r.preempting.note(r.cluster, &w)
		return nil, w, nil
	}
	if r.choosing != nil {
		failure, err := r.choosing.among(ctx, r.simulation, t, pod)
		if err != nil {
			return nil, waiting{}, fmt.Errorf("choosing a node for pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if t.fails = failure != ""; t.fails {
			w.failure = failure
			return nil, w, nil
		}
	}
	r.chosen = r.chosen || len(t.nodes) > 1
	node := t.nodes[0]
	if r.choose != nil {
		node = t.nodes[r.choose(t.nodes)]
	}
	taking, err := r.place(ctx, t, node)
	if err == nil && taking == nil {
		err = errors.New("it no longer fits there")
	}
	if err != nil {
		return nil, waiting{}, fmt.Errorf("placing pod %s/%s on node %s: %w", pod.Namespace, pod.Name, node.Name, err)
	}
	return placedPod(pod, t, taking), w, nil
}

// placedPod is a pod with what it takes.
func placedPod(pod *corev1.Pod, t *turn, taking *cycle.Taking) *explain.PlacedPod {
	out := &explain.PlacedPod{Subject: subjectOf(pod), Node: inspect.NodeName(taking.Pod.Spec.NodeName), AnyOf: len(t.nodes)}
	for _, claim := range taking.Claims {
		out.Devices = append(out.Devices, question.DevicesOf(claim)...)
	}
	return out
}

// takeGang places the pods of a group, or none if too few find room.
func (r *replay) takeGang(ctx context.Context, pod *corev1.Pod, gang cycle.Entity, had map[inspect.PodRef]bool) error {
	before, start := r.fork(), len(r.out.Placed)
	var left []waiting
	for _, m := range gang.Members {
		member := r.member(pod, m.Subject)
		if member == nil {
			continue
		}
		had[inspect.PodRef{Namespace: member.Namespace, Name: member.Name}] = true
		if !slices.ContainsFunc(r.asked, func(o metav1.Object) bool { return subjectOf(o.(*corev1.Pod)) == m.Subject }) {
			r.asked = append(r.asked, member)
		}
		placed, w, err := r.one(ctx, member)
		if err != nil {
			return err
		}
		if placed == nil {
			left = append(left, w)
			continue
		}
		r.out.Placed = append(r.out.Placed, *placed)
	}
	found := len(r.out.Placed) - start
	if found >= gang.Need {
		r.waiting = append(r.waiting, left...)
		return nil
	}
	r.out.Placed, r.simulation = r.out.Placed[:start], before
	for _, m := range gang.Members {
		if member := r.member(pod, m.Subject); member != nil {
			r.waiting = append(r.waiting, waiting{pod: member, at: start, turn: &turn{member: m}, gang: inspect.PodGroupOf(pod), short: gang.Need - found})
		}
	}
	return nil
}

// member is a pod of a group.
func (r *replay) member(pod *corev1.Pod, subject explain.Subject) *corev1.Pod {
	if subjectOf(pod) == subject {
		return pod
	}
	for _, o := range r.asked {
		if other := o.(*corev1.Pod); subjectOf(other) == subject {
			return other
		}
	}
	member, _ := r.cluster.Snapshot().Pod(inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name})
	return member
}

func subjectOf(pod *corev1.Pod) explain.Subject {
	return explain.Subject{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
}

// Waiting returns the pods that wait for kube-scheduler and are asked for, in the order of the snapshot. others is how many of them
// wait for other schedulers.
func Waiting(s *inspect.Snapshot, asked func(*corev1.Pod) bool) (pods []*corev1.Pod, others int) {
	for _, pod := range s.Objects().Pods {
		switch {
		case pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || inspect.Ended(pod) || !asked(pod):
		case foreign(pod):
			others++
		default:
			pods = append(pods, pod)
		}
	}
	return pods, others
}
