package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/together"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Options say how pods are placed.
type Options struct {
	// NoJoint leaves out whether all can be placed together, and what makes the scheduler do so.
	NoJoint bool
	// Within is the namespace of which all pods are asked about that wait. It is "" if that is no matter of a
	// namespace.
	Within string
	// Unseen says of pods that more is asked for than is known, a sentence each: then no answer is a certain
	// yes.
	Unseen []string
	// Others are pods that wait too and are not asked about. They take their turns in the queue.
	Others []*corev1.Pod
	// Choosing is what kube-scheduler chooses nodes by, besides the snapshot.
	Choosing replay.Choosing
	// NoReasons leaves out why pods are left waiting.
	NoReasons bool
	// endNone leaves out what becomes of pods that are ended for others, and then of those.
	endNone bool
}

// Outcome says what becomes of all pods that wait for kube-scheduler: which nodes it chooses for them, and
// how sure that is of each. Why pods are left waiting is not said. The second result is the run that was
// played. Errors are those of [Place].
func Outcome(ctx context.Context, c *scheduler.Cluster, by replay.Choosing) (*explain.Replay, *replay.Replay, error) {
	pods, _ := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	p, r, err := PlaceAll(ctx, c, pods, Options{NoJoint: true, Choosing: by, NoReasons: true, endNone: true})
	if err != nil {
		return nil, nil, err
	}
	return &p.Replay, r.Replay, nil
}

// Place says what becomes of pods that are to be placed. They need not be in the snapshot of the cluster.
// Those of a pod group bring along the other pods of it that wait. The error is that of the context, or of a
// question that could not be put. When the context ends once pods have had their turn, the Plan is what is
// known so far, and says what is missing.
func Place(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts Options) (*explain.Plan, error) {
	opts.Unseen = append(slices.Clip(opts.Unseen), shortOfQuota(c.Snapshot(), pods)...)
	p, _, err := PlaceAll(ctx, c, pods, opts)
	return p, err
}

// Begin is a replay of pods that are to be placed, with the claims that are made for them from templates, and
// the pods as they are then. by is as for [replay.New].
func Begin(c *scheduler.Cluster, pods []*corev1.Pod, by *replay.Choosing) (*replay.Replay, []*corev1.Pod) {
	c, pods = Admitted(c, pods)
	return replay.New(c, by), pods
}

// PlaceAll is [Place], with the placement that it comes from.
func PlaceAll(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts Options) (*explain.Plan, *Placement, error) {
	c, pods, waiting := admittedWith(c, pods, opts.Others)
	others, err := rivals(ctx, c, pods, waiting)
	if err != nil {
		return nil, nil, err
	}
	foreigners, err := otherSchedulers(ctx, c, pods)
	if err != nil {
		return nil, nil, err
	}
	r, err := played(ctx, c, append(slices.Clip(pods), others...), &opts.Choosing, newPreempting(c.Snapshot()))
	r.unseen = append(unseen(c.Snapshot(), opts.Within, opts.Unseen), foreigners...)
	r.unseen = append(r.unseen, unknownTurns(c.Snapshot(), append(slices.Clip(pods), others...))...)
	r.unseen = append(r.unseen, r.failingGroups(ctx, c)...)
	if len(others) > 0 {
		r.about = map[explain.Subject]bool{}
		for _, pod := range pods {
			r.about[cycle.SubjectOf(pod)] = true
		}
	}
	best := r // which ends nobody
	if err == nil && !opts.endNone {
		var on *Placement
		if on, err = r.playsOn(ctx, c, append(slices.Clip(pods), waiting...), opts); on != nil { // who fits nowhere may later
			best.out.Preempting = true
			r = on
		}
	}
	r.leaveOut()
	if err == nil && r == best {
		err = r.judge(ctx, c, opts.NoReasons)
	}
	if err != nil {
		return r.soFar(ctx, c, pods), r, err
	}
	p := &explain.Plan{Replay: r.out, Partial: cycle.Unread(c.Snapshot()), Basis: cycle.BasisOf(c, pods...)}
	if opts.NoJoint || len(r.Tried) == 0 {
		return p, r, nil
	}
	if preempting := best.out.Preempting; len(others) > 0 { // the best that could be done is to let them wait
		best, err = played(ctx, c, pods, &opts.Choosing, nil)
		best.unseen = r.unseen
		best.out.Preempting = preempting
	}
	if err == nil {
		err = best.addBest(ctx, c, p)
	}
	if err != nil && ctx.Err() == nil {
		return nil, r, err
	}
	if err != nil {
		p.Joint, p.Changes = nil, nil
		p.Partial = append(p.Partial, "interrupted: whether all can be placed in some other way was not looked into to the end")
	}
	return p, r, err
}

// failingGroups says which groups of pods kube-scheduler places none of while it fails at one, or may fail:
// it takes all that wait together, also where the group needs no number of them. They were played one by
// one. c is the cluster before that.
func (r *Placement) failingGroups(ctx context.Context, c *scheduler.Cluster) []string {
	if !c.Snapshot().Features().Enabled(inspect.GateGenericWorkload) {
		return nil
	}
	fails := map[explain.Subject]bool{}
	for i := range r.Waiting {
		fails[cycle.SubjectOf(r.Waiting[i].Pod)] = r.Waiting[i].Fails
	}
	var out []string
	asked := map[string]bool{}
	for _, pod := range r.Tried {
		if inspect.PodGroupOf(pod) == "" {
			continue
		}
		m := replay.PodMember(c, pod, cycle.Options{})
		key := cmp.Or(m.Shape, pod.Name) + "/" + inspect.PodGroupOf(pod)
		if asked[key] && !fails[m.Subject] {
			continue
		}
		asked[key] = true
		group := c.Filters().Prepare(pod).Together()
		if group == nil {
			continue
		}
		if fails[m.Subject] {
			out = append(out, fmt.Sprintf("kube-scheduler fails at pod %s, and places no pod of its %s while it does", pod.Name, group.Title))
		} else if device, may := replay.FailsOn(ctx, c, m.Claims); may {
			out = append(out, fmt.Sprintf("kube-scheduler fails at pod %s if it comes to a device such as %s, and then places no pod of its %s", pod.Name, device, group.Title))
		}
	}
	return out
}

// judge finds out why pods are left waiting, unless that is not asked, and how sure it is.
func (r *Placement) judge(ctx context.Context, c *scheduler.Cluster, noReasons bool) error {
	if err := r.sayPending(ctx, noReasons); err != nil {
		return err
	}
	if err := r.certain(ctx, c); err != nil {
		return err
	}
	return r.doubtPending(ctx)
}

// sayPending says who is left waiting, and why unless that is not asked.
func (r *Placement) sayPending(ctx context.Context, noReasons bool) error {
	if !noReasons {
		return r.explainPending(ctx)
	}
	for i := range r.waiting {
		w := &r.waiting[i]
		r.out.Pending = append(r.out.Pending, explain.PendingPod{Subject: cycle.SubjectOf(w.Pod), Verdict: w.Verdict()})
	}
	return nil
}

// soFar is what is known of pods when the context has ended: those that are placed, as far as that goes. It
// is nil if it has not, or none is.
func (r *Placement) soFar(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod) *explain.Plan {
	if ctx.Err() == nil || len(r.out.Placed) == 0 {
		return nil
	}
	p := &explain.Plan{Replay: r.out, Partial: cycle.Unread(c.Snapshot()), Basis: cycle.BasisOf(c, pods...)}
	p.Replay.Certain, p.Replay.Ties, p.Replay.Pending, p.Replay.Remarks = false, nil, nil, r.unseen
	known := map[explain.Subject]bool{}
	for i := range r.out.Placed {
		known[r.out.Placed[i].Subject] = true
	}
	refused := map[explain.Subject]bool{}
	for i := range r.Waiting {
		refused[cycle.SubjectOf(r.Waiting[i].Pod)] = true
	}
	untried := 0
	for _, pod := range cycle.InQueueOrder(c.Snapshot(), pods) {
		subject := cycle.SubjectOf(pod)
		if known[subject] || pod.Spec.NodeName != "" || inspect.Ended(pod) {
			continue
		}
		left := explain.PendingPod{Subject: subject, Verdict: explain.Unknown, Message: "finds no room at its turn; why, and whether that is certain, was not looked into"}
		if !refused[subject] {
			untried++
			left.Message, left.Alike = "what becomes of it was not looked into", 1
		}
		p.Replay.Pending = append(p.Replay.Pending, left)
	}
	p.Partial = append(p.Partial, fmt.Sprintf("interrupted: %d of %s had no turn, and what is said of the others is not known for certain", untried, words.Count(len(pods), "pod")))
	return p
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
	pods := WithoutClaims(s)
	if len(pods) == 0 {
		return ""
	}
	return fmt.Sprintf("the claims of %s, which %s, are not among those that were read, so devices may be in use without that being seen",
		words.Shorten(pods, maxNamed), words.Plural(len(pods), "runs", "run"))
}

// WithoutClaims are the pods on nodes that use claims which are not known. No claim goes before its pods, so
// others may be missing too.
func WithoutClaims(s *inspect.Snapshot) []string {
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

// rivals are those of the others that fit on some node as things are, or may later, for whom pods may be
// ended, or from whom devices are taken away: who else fits nowhere takes nothing of what others need, and
// gives nothing back.
func rivals(ctx context.Context, c *scheduler.Cluster, pods, others []*corev1.Pod) ([]*corev1.Pod, error) {
	own := map[inspect.PodRef]bool{}
	for _, pod := range pods {
		own[refOf(pod)] = true
	}
	alone := replay.New(c, nil)
	preempting := newPreempting(c.Snapshot())
	var out []*corev1.Pod
	for _, pod := range others {
		if own[refOf(pod)] {
			continue
		}
		t, err := alone.Ask(ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		rival := len(t.Nodes) > 0 || t.Open || t.Fails || t.Member.NonLocal || losesDevices(c, pod)
		if !rival {
			w := &replay.Waiting{Pod: pod, Feasible: t}
			preempting.note(c, w)
			if rival, err = preempting.may(ctx, c, w, false); err != nil {
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
func (r *Placement) leaveOut() {
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
	r.waiting = slices.DeleteFunc(r.waiting, func(w replay.Waiting) bool { return !r.about[cycle.SubjectOf(w.Pod)] })
}

// addBest adds to a plan whether all can be placed, and what makes the scheduler do so.
func (r *Placement) addBest(ctx context.Context, c *scheduler.Cluster, p *explain.Plan) error {
	progress.Say(ctx, "looking for a way to place all")
	best, run, err := r.Best(ctx, c)
	if err != nil {
		return err
	}
	p.Joint = best
	if best.Verdict != explain.Feasible || run == nil || len(p.Replay.Others) > 0 || p.Replay.Certain && len(p.Replay.Pending) == 0 {
		return nil
	}
	p.Changes, err = together.Propose(ctx, replay.NewQueue(ctx, c, r.Tried, cycle.Options{}), r.Tried, run, cycle.Options{})
	return err
}

// Placement is what kube-scheduler does with pods, and how sure that is.
type Placement struct {
	*replay.Replay
	by  *replay.Choosing
	out explain.Replay
	// about are the pods that are asked about. If it is nil, all are.
	about map[explain.Subject]bool
	// waiting are the pods that are left waiting and asked about, in the order of the queue.
	waiting []replay.Waiting
	// depends says that kube-scheduler may leave others waiting than in the run that was played, and never
	// has those pods that wait in all runs, where these were looked at.
	depends bool
	never   map[explain.Subject]bool
	// cleared are the pods that wait with devices which kube-scheduler may take away, released the claims
	// that have these.
	cleared  map[explain.Subject]bool
	released map[inspect.ClaimRef]bool
	// unseen says what is not known of the pods, so that nothing is certain.
	unseen []string
	// preempting judges for whom others may be ended. It is nil where that is not asked.
	preempting *preempting
}

// hypothetical are the options of questions about clusters that are not as they were read.
var hypothetical = question.Options{Hypothetical: true}

// played is what kube-scheduler does with pods in a cluster. by is as for [replay.New], preempting may
// be nil.
func played(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, by *replay.Choosing, preempting *preempting) (*Placement, error) {
	r := &Placement{Replay: replay.New(c, by), by: by, preempting: preempting}
	if preempting != nil {
		r.Left = func(_ context.Context, c *scheduler.Cluster, w *replay.Waiting) (*replay.Room, error) {
			preempting.note(c, w)
			return nil, nil
		}
	}
	err := r.Run(ctx, pods)
	r.settle()
	return r, err
}

// settle takes over what became of the pods.
func (r *Placement) settle() {
	r.waiting, r.out.Placed, r.out.Running = slices.Clone(r.Waiting), slices.Clone(r.Placed), r.Running
}

// Waiting returns the pods that wait for kube-scheduler and are asked for, in the order of the snapshot.
// others are those of them that wait for other schedulers.
func Waiting(s *inspect.Snapshot, asked func(*corev1.Pod) bool) (pods, others []*corev1.Pod) {
	for _, pod := range s.Objects().Pods {
		switch {
		case pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || inspect.Ended(pod) || !asked(pod):
		case !s.Schedules(pod):
			others = append(others, pod)
		default:
			pods = append(pods, pod)
		}
	}
	return pods, others
}
