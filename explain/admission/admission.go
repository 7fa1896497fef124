package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// Options say how admission is asked about.
type Options struct {
	// Question are the options of the question about pods.
	Question question.Options
	// Given says that the subjects are of files: what the cluster has of their names is replaced.
	Given bool
}

// Here reports whether a snapshot has anything of Kueue. If not, Add does nothing.
func Here(s *inspect.Snapshot) bool {
	o := s.Around()
	return len(o.ClusterQueues)+len(o.LocalQueues)+len(o.KueueWorkloads) > 0
}

// Objects answers questions about objects that come one after the other: as question.Objects does, then with
// the pods that are before them in the queue of kube-scheduler, and with Kueue.
func Objects(ctx context.Context, c *scheduler.Cluster, subjects []metav1.Object, opts Options) ([]*explain.Explanation, error) {
	answers, err := question.Objects(ctx, c, subjects, opts.Question)
	if err == nil && !opts.Given && opts.Question.Node == "" {
		err = plan.Queue(ctx, c, answers, opts.Question.Choosing)
	}
	if err == nil {
		err = Add(ctx, c, subjects, answers, opts)
	}
	return answers, err //nolint:wrapcheck // it says what was asked
}

// Add adds to explanations of pods, in the order of the subjects, what Kueue does about them. Explanations of
// pods that Kueue holds back are made anew: as they will be once it lets them go. Errors are those of
// [question.Object].
func Add(ctx context.Context, c *scheduler.Cluster, subjects []metav1.Object, answers []*explain.Explanation, opts Options) error {
	if s := c.Snapshot(); !Here(s) && !s.Health(inspect.LocalQueues).Partial() && !s.Health(inspect.ClusterQueues).Partial() {
		return nil
	}
	f := target.NewFinder(c.Snapshot(), subjects, opts.Given)
	var earlier []*world
	var coming []*kueuev1beta2.Workload
	if f.Any() {
		coming = f.WithoutPods()
	}
	for i, e := range answers {
		t := f.Mention(subjects[i])
		if t == nil {
			f.MayBeHeld(e, subjects[i])
			continue
		}
		w := &world{ctx: ctx, c: c, opts: opts, target: t, subject: subjects[i], earlier: slices.Clip(earlier), coming: coming}
		if i := len(earlier); i > 0 {
			w.like = earlier[i-1].state
		}
		if err := w.add(e); err != nil {
			return err
		}
		earlier = append(earlier, w)
	}
	return nil
}

// world is a cluster in which it is asked what becomes of a target.
type world struct {
	ctx     context.Context //nolint:containedctx // a world lives as long as a question
	c       *scheduler.Cluster
	opts    Options
	target  *target.Target
	subject metav1.Object

	// earlier are those of subjects that were asked about before: their workloads come first.
	earlier []*world
	// pods are those of the target as they are once it is admitted.
	pods    []*corev1.Pod
	objects *inspect.Objects
	state   *kueue.State
	// usages is the usage of the state, worked out once.
	usages func() []kueue.Usage
	// like is the state before something was changed, or that of an earlier subject, or nil.
	like *kueue.State
	d    kueue.Decision
	// templates says that claim templates are changed, and ended are workloads that are supposed to have
	// ended.
	templates bool
	ended     []kueue.Ref
	// coming are workloads that are admitted and of which there is no pod yet.
	coming []*kueuev1beta2.Workload
	// lookup has the workloads that are known by name. It is nil if they are looked for.
	lookup map[kueue.Ref]*kueuev1beta2.Workload
}

// decide asks Kueue, in the cluster as it is or changed. change may be nil.
func (w *world) decide(change func(*inspect.Objects)) {
	s := w.c.Snapshot()
	objects := *s.Objects()
	own := w.target.Workload
	if old := w.target.Replaces; old != nil {
		objects.KueueWorkloads = slices.DeleteFunc(slices.Clone(objects.KueueWorkloads), func(one *kueuev1beta2.Workload) bool { return one == old })
	}
	for _, one := range w.others() {
		if one.target.Made {
			objects.KueueWorkloads = append(slices.Clip(objects.KueueWorkloads), one.target.Workload)
		}
	}
	if w.target.Made {
		objects.KueueWorkloads = append(slices.Clip(objects.KueueWorkloads), own)
	}
	if change != nil {
		change(&objects)
	}
	w.objects = &objects
	if w.like != nil {
		w.state = w.like.With(&objects)
	} else {
		w.state = kueue.New(&objects, config.State(s), s.Time())
	}
	w.usages = sync.OnceValue(w.state.Usage)
	w.judge(w.state.DecideAlone(own.Namespace, own.Name), change != nil)
}

// judge takes over what Kueue does, as far as that is known of a cluster that was changed or not.
func (w *world) judge(d kueue.Decision, changed bool) {
	w.d = d
	own := w.target.Workload
	s := w.c.Snapshot()
	w.doubt(changed)
	for _, r := range w.d.Reasons {
		if r.Code == kueue.Evicting {
			w.d.Outcome, w.d.Reasons = kueue.Unknown, []kueue.Reason{r}
			return
		}
		for _, resource := range foundIn[r.Code] {
			if h := s.Health(resource); w.d.Outcome == kueue.Refused && h.PartialIn(own.Namespace) {
				w.d.Outcome, w.d.Reasons = kueue.Unknown, []kueue.Reason{{Code: r.Code, Message: r.Message + ", or was not read"}}
				return
			}
		}
	}
}

// doubt makes unknown what another cluster, an older template or fields newer than this program may decide.
func (w *world) doubt(changed bool) {
	objects, s := w.objects, w.c.Snapshot()
	for _, check := range w.target.Workload.Status.AdmissionChecks {
		if w.d.Outcome == kueue.Admitted && target.OfMultiKueue(objects, string(check.Name)) {
			w.d.Outcome, w.d.Reasons = kueue.Unknown, []kueue.Reason{{Code: kueue.MultiKueueUndecided, Message: "MultiKueue has sent it to another cluster"}}
		}
	}
	if name := w.newerTemplate(); name != "" && !changed && (w.d.Outcome == kueue.Fits || w.d.Outcome == kueue.Preempts) {
		w.d.Outcome, w.d.Reasons = kueue.Unknown, []kueue.Reason{{Code: kueue.TemplateUndecided, Name: name, Message: fmt.Sprintf(
			"ResourceClaimTemplate %s is newer than the Workload, and Kueue may still count what it asked for before", name)}}
	}
	if text := s.Newer().OfQueues(); text != "" && w.d.Outcome != kueue.Admitted {
		w.d.Outcome, w.d.Reasons = kueue.Unknown, []kueue.Reason{{Code: kueue.NewerUndecided, Message: text}}
	}
}

// newerTemplate is the name of a claim template that is newer than the target's workload, or "". Kueue counts
// what templates ask for when the workload changes, and not when they do.
func (w *world) newerTemplate() string {
	own := w.target.Workload
	if w.target.Made {
		return ""
	}
	for i := range own.Spec.PodSets {
		for _, claim := range own.Spec.PodSets[i].Template.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName == nil {
				continue
			}
			template, ok := w.c.Snapshot().Template(own.Namespace, *claim.ResourceClaimTemplateName)
			if ok && own.CreationTimestamp.Before(&template.CreationTimestamp) {
				return template.Name
			}
		}
	}
	return ""
}

// foundIn are the resources of which objects are missing where Kueue refuses for a reason.
var foundIn = map[kueue.Code][]inspect.Resource{
	kueue.LocalQueueNotFound: {inspect.LocalQueues}, kueue.ClusterQueueNotFound: {inspect.ClusterQueues},
	kueue.ClusterQueueInactive: {inspect.ResourceFlavors, inspect.AdmissionChecks, inspect.Topologies},
	kueue.TemplateNotFound:     {inspect.Templates}, kueue.ClassNotFound: {inspect.Classes}, kueue.TooFewDevices: {inspect.Slices},
	kueue.CounterMissing: {inspect.Slices}, kueue.CapacityMissing: {inspect.Slices}, kueue.CapacityUnsatisfiable: {inspect.Slices},
}

// others are the earlier ones of other workloads.
func (w *world) others() []*world {
	return slices.DeleteFunc(slices.Clone(w.earlier), func(one *world) bool {
		a, b := one.target.Workload, w.target.Workload
		return a.Namespace == b.Namespace && a.Name == b.Name
	})
}

func (w *world) add(e *explain.Explanation) error {
	w.decide(nil)
	a := w.describe()
	e.Admission = a
	if w.d.Outcome == kueue.Finished {
		e.Admission = nil
		return nil
	}
	admitted := w.d.Outcome == kueue.Admitted
	then := e
	if of := w.target.Of; !admitted || of != nil && (of.Held != nil || target.KueueOwn(of)) { // which lacks labels of flavors
		var err error
		if then, err = w.then(); err != nil {
			return err
		}
	}
	together, err := w.together(then)
	if err != nil {
		return err
	}
	a.Stages = w.stages(then, together)
	asked := w.target.Pod
	if then != e {
		asked = w.admittedPod()
		if then, err = w.withoutHolders(a, then); err != nil {
			return err
		}
		w.merge(e, then)
	}
	if w.opts.Question.ReasonOnly {
		return nil
	}
	if refused(w.d.Outcome) {
		err = w.fix(e)
	} else {
		err = w.inBoth(e, asked)
	}
	if err == nil && a.Stages[len(a.Stages)-1].Result != explain.Passes {
		err = w.byFlavor(e)
	}
	return err
}

// admittedPod is the pod that is asked about, as it is once the target is admitted.
func (w *world) admittedPod() *corev1.Pod {
	return w.target.Free(w.target.Pod, w.flavors(w.target.Set))
}

// withoutHolders tries the last stage again if it refuses: those that hold the quota may hold the devices
// too, and when they end, both are free. If that helps, it stands among the stages of the answer and is
// returned.
func (w *world) withoutHolders(a *explain.Admission, then *explain.Explanation) (*explain.Explanation, error) {
	last := len(a.Stages) - 1
	if a.Stages[last].Result != explain.Refuses || len(a.Holders) == 0 {
		return then, nil
	}
	later := *w
	for _, h := range a.Holders {
		later.ended = append(later.ended, kueue.Ref{Namespace: h.Workload.Namespace, Name: h.Workload.Name})
	}
	free, err := later.then()
	if err != nil {
		return nil, err
	}
	together, err := later.together(free)
	if err != nil {
		return nil, err
	}
	if stage := later.stages(free, together)[last]; stage.Result == explain.Passes {
		stage.Message += ", when those that hold the quota have ended"
		a.Stages[last] = stage
		return free, nil
	}
	return then, nil
}

// then explains the subject as it is once it is admitted, and whom Kueue evicts has gone.
func (w *world) then() (*explain.Explanation, error) {
	c := w.evicted()
	opts := w.opts.Question
	pod := w.admittedPod()
	if of := w.target.Of; of != nil {
		free := *of
		free.Pod, free.Held, free.Queue = pod, nil, ""
		return question.Workload(w.ctx, c, &free, opts) //nolint:wrapcheck // it says what it is about
	}
	return question.PodObject(w.ctx, c, pod, opts) //nolint:wrapcheck // it says what it is about
}

// evicted is the cluster without those whom Kueue evicts for the target.
func (w *world) evicted() *scheduler.Cluster {
	s := w.c.Snapshot()
	if len(w.d.Victims)+len(w.ended) == 0 && !w.templates {
		return w.c
	}
	changed := s.With(func(o *inspect.Objects) {
		ended := map[inspect.PodRef]bool{}
		gone := slices.Clone(w.ended)
		for _, victim := range w.d.Victims {
			gone = append(gone, victim.Workload)
		}
		for _, ref := range gone {
			for _, pod := range podsOf(s, w.workload(ref)) {
				ended[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = true
			}
		}
		o.Templates = w.objects.Templates
		plan.EndPods(o, ended)
	})
	return scheduler.NewCluster(changed, scheduler.Options{Like: w.c})
}

// workload is a workload of the cluster, or nil.
func (w *world) workload(ref kueue.Ref) *kueuev1beta2.Workload {
	if w.lookup != nil {
		return w.lookup[ref]
	}
	for _, list := range [][]*kueuev1beta2.Workload{w.objects.KueueWorkloads, w.c.Snapshot().Around().KueueWorkloads} {
		for _, one := range list {
			if one.Namespace == ref.Namespace && one.Name == ref.Name {
				return one
			}
		}
	}
	return nil
}

// Pods are the pods of a workload that have not ended. Looking for them takes a moment.
func Pods(s *inspect.Snapshot, workload explain.Subject) []*corev1.Pod {
	for _, w := range s.Around().KueueWorkloads {
		if w.Namespace == workload.Namespace && w.Name == workload.Name {
			return podsOf(s, w)
		}
	}
	return nil
}

// podsOf are the pods of a workload that have not ended.
func podsOf(s *inspect.Snapshot, of *kueuev1beta2.Workload) []*corev1.Pod {
	if of == nil {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range s.Objects().Pods {
		if pod.Namespace != of.Namespace || inspect.Ended(pod) {
			continue
		}
		refs := append([]*metav1.OwnerReference{{Kind: "Pod", Name: pod.Name}}, inspect.Controllers(pod, nil)...)
		own := pod.Labels[target.PodGroup] == of.Name || pod.Annotations[target.WorkloadName] == of.Name
		for _, ref := range refs {
			own = own || slices.ContainsFunc(of.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == ref.Kind && o.Name == ref.Name })
		}
		if own {
			out = append(out, pod)
		}
	}
	return out
}

// flavors are those that a pod set gets; where Kueue gives none, those that come first in its queue and do
// not repel it.
func (w *world) flavors(set int) []*kueuev1beta2.ResourceFlavor {
	var names []string
	if set < len(w.d.PodSets) {
		for _, flavor := range w.d.PodSets[set].Flavors {
			names = append(names, flavor)
		}
	}
	supposed := len(names) == 0
	if supposed {
		names = w.likely(set)
	}
	slices.Sort(names)
	var out []*kueuev1beta2.ResourceFlavor
	for _, flavor := range w.objects.ResourceFlavors {
		if !slices.Contains(names, flavor.Name) {
			continue
		}
		if supposed && len(flavor.Spec.NodeTaints) > 0 { // it is supposed to have passed
			flavor = flavor.DeepCopy()
			for _, taint := range flavor.Spec.NodeTaints {
				flavor.Spec.Tolerations = append(flavor.Spec.Tolerations, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})
			}
		}
		out = append(out, flavor)
	}
	return out
}

// counted are the kinds of which it is known what Workload Kueue makes.
var counted = []string{"Job", "Deployment", "StatefulSet"}

// ambiguous reports whether Kueue gives no flavors and there are several that it could give later, so that
// what nodes of the first do not have, those of another may.
func (w *world) ambiguous() bool {
	if slices.ContainsFunc(w.d.PodSets, func(set kueue.PodSet) bool { return len(set.Flavors) > 0 }) {
		return false
	}
	return slices.ContainsFunc(w.objects.ClusterQueues, func(q *kueuev1beta2.ClusterQueue) bool {
		return q.Name == w.d.ClusterQueue && slices.ContainsFunc(q.Spec.ResourceGroups, func(g kueuev1beta2.ResourceGroup) bool {
			return len(slices.DeleteFunc(slices.Clone(g.Flavors), func(f kueuev1beta2.FlavorQuotas) bool { return w.repels(string(f.Name)) })) > 1
		})
	})
}

// repels reports whether a flavor lacks something else than quota or tolerations of the target.
func (w *world) repels(flavor string) bool {
	return slices.ContainsFunc(w.d.Reasons, func(r kueue.Reason) bool {
		return r.Flavor == flavor && r.Code != kueue.InsufficientUnusedQuota && r.Code != kueue.InsufficientQuota && r.Code != kueue.UntoleratedTaint
	})
}

// likely are the first flavors of each group of the ClusterQueue that lack nothing but quota.
func (w *world) likely(set int) []string {
	var names []string
	for _, q := range w.objects.ClusterQueues {
		if q.Name != w.d.ClusterQueue || set >= len(w.d.PodSets) {
			continue
		}
		for i := range q.Spec.ResourceGroups {
			g := &q.Spec.ResourceGroups[i]
			asks := slices.ContainsFunc(g.CoveredResources, func(name corev1.ResourceName) bool { return w.d.PodSets[set].Requests[name] > 0 })
			at := slices.IndexFunc(g.Flavors, func(f kueuev1beta2.FlavorQuotas) bool { return !w.repels(string(f.Name)) })
			if asks && at >= 0 {
				names = append(names, string(g.Flavors[at].Name))
			}
		}
	}
	return names
}

// refused reports whether an outcome keeps the target in its queue.
func refused(o kueue.Outcome) bool { return o == kueue.Waits || o == kueue.Refused }

// stages are what the target has to pass.
func (w *world) stages(then *explain.Explanation, together *placement) []explain.AdmissionStage {
	queue := explain.AdmissionStage{Stage: explain.QueueStage, Result: explain.Passes, Message: w.queueSentence()}
	switch {
	case refused(w.d.Outcome):
		queue.Result = explain.Refuses
	case w.d.Outcome == kueue.Unknown, w.d.Outcome == kueue.Preempts:
		queue.Result = explain.StageUnknown
	}
	out := []explain.AdmissionStage{queue}
	if len(w.d.Checks) > 0 {
		out = append(out, explain.AdmissionStage{
			Stage: explain.ChecksStage, Result: explain.StageUnknown, Supposed: queue.Result == explain.Refuses,
			Message: fmt.Sprintf("admission %s %s, which %s decide", words.Plural(len(w.d.Checks), "check", "checks"), words.And(w.d.Checks), words.Plural(len(w.d.Checks), "its controller", "their controllers")),
		})
	}
	next := explain.AdmissionStage{Stage: explain.SchedulerStage, Result: explain.Refuses, Supposed: w.d.Outcome != kueue.Admitted, Message: then.Predicate}
	switch then.Verdict {
	case explain.Allocatable, explain.Allocated:
		next.Result = explain.Passes
	case explain.Unknown:
		next.Result = explain.StageUnknown
	}
	if together != nil && next.Result == explain.Passes {
		next.Result, next.Message = together.result, together.message
	}
	if next.Result == explain.Refuses && w.ambiguous() {
		next.Result, next.Message = explain.StageUnknown, "with the first flavor: "+next.Message
	}
	out = append(out, next)
	return out
}

// merge makes one answer of what Kueue does and what would follow.
func (w *world) merge(e, then *explain.Explanation) {
	a, scheduler := e.Admission, e.Admission.Stages[len(e.Admission.Stages)-1]
	subject, said := e.Subject, e.Scheduler
	*e = *then
	e.Subject, e.Admission, e.Scheduler = subject, a, said
	if of := w.target.Of; of != nil && of.Held != nil && e.Workload != nil {
		e.Workload.Held = of.Held.Why
	}
	queue := a.Stages[0]
	told, doubts := w.doubts(queue.Result == explain.Refuses)
	e.Partial = append(slices.Clip(e.Partial), told...)
	e.Verdict, e.Predicate = w.conclude(a.Stages, then, len(doubts) == 0 || w.d.Outcome == kueue.Admitted)
	e.Message = e.Subject.FullName() + " " + e.Predicate
	e.Brief, e.Lack = queue.Message, nil
	if queue.Result != explain.Refuses {
		e.Brief = scheduler.Message
	} else {
		e.Allocation, e.Nodes.Allocatable = nil, 0
	}
	if scheduler.Result == explain.Passes { // what is in the way is quota
		e.Conflict, e.Fixes, e.NoHelp, e.Preemption = nil, nil, nil, nil
	}
}

// conclude is the verdict of the stages, and the sentence about it. certain says that all was read that
// decides.
func (w *world) conclude(stages []explain.AdmissionStage, then *explain.Explanation, certain bool) (explain.Verdict, string) {
	queue, scheduler := stages[0], stages[len(stages)-1]
	if queue.Result == explain.Refuses {
		verdict, known, hang := explain.Unsatisfiable, "", ""
		if scheduler.Result == explain.Refuses {
			hang = "; admitted, it would then hang: " + scheduler.Message
		}
		if !certain {
			known = " as far as is known"
		}
		if !certain && hang == "" {
			verdict = explain.Unknown
		}
		return verdict, "is not admitted" + known + ": " + queue.Message + hang
	}
	switch {
	case scheduler.Result == explain.Refuses && w.d.Outcome == kueue.Fits:
		return worse(then.Verdict), "would be admitted and then hang: " + scheduler.Message
	case scheduler.Result == explain.Refuses:
		return worse(then.Verdict), "would hang once it is admitted: " + scheduler.Message
	case queue.Result != explain.Passes:
		return explain.Unknown, w.unknownSentence(queue.Message)
	case w.d.Outcome == kueue.Admitted:
		return then.Verdict, then.Predicate
	case len(w.d.Checks) > 0:
		return explain.Unknown, "has quota, and waits for " + stages[1].Message
	case scheduler.Result == explain.StageUnknown:
		return explain.Unknown, "is about to be admitted; " + scheduler.Message
	case !certain:
		return explain.Unknown, "would be admitted as far as is known, and then " + then.Predicate
	}
	return explain.Allocatable, "is about to be admitted, and then " + then.Predicate
}

// worse is the verdict of what is refused: that of the scheduler, if it refuses each pod, or else that of
// all.
func worse(v explain.Verdict) explain.Verdict {
	if v == explain.Allocatable || v == explain.Allocated {
		return explain.Unsatisfiable
	}
	return v
}

// unknownSentence says why it is not known whether Kueue admits the target.
func (w *world) unknownSentence(message string) string {
	if w.d.Outcome == kueue.Preempts {
		return "is not admitted yet: " + message
	}
	return "may be admitted or not: " + message
}

// doubts are what was not read: said is all of it, doubts what could make the answer another one. LimitRanges
// only make pods ask for more.
func (w *world) doubts(no bool) (said, out []string) {
	out = config.Doubts(w.c.Snapshot().Kueue())
	created := w.target.Of == nil && w.target.Pod != nil && w.target.Pod.UID != "" // then LimitRanges have had their say
	for _, a := range w.d.Assumptions {
		if a.Code == kueue.LimitRangesUnread && (created || no) {
			said = append(said, a.Message)
			continue
		}
		text := a.Message
		if a.Code == kueue.ConfigurationAssumed {
			text += " (--kueue-config FILE gives it)"
		}
		out = append(out, text)
	}
	for _, resource := range inspect.Resources() {
		if h := w.c.Snapshot().Health(resource); resource.OfKueue() && h.Partial() {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("not all %s were read: %s", resource, h.Message), ": ")+", so another answer is possible")
		}
	}
	if of := w.target.Of; of != nil && w.target.Made && !slices.Contains(counted, of.Type.Kind) {
		out = append(out, fmt.Sprintf("how many pods of a %s Kueue counts is not known until it has made its Workload", of.Type.Kind))
	}
	return append(said, out...), out
}
