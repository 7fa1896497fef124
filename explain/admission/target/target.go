// Package target finds the workload of Kueue that a pod or an object is of, or makes up the one that Kueue
// would make.
package target

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	configured "github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
)

// Names of labels and annotations by which pods and objects are Kueue's.
const (
	prefix        = "kueue.x-k8s.io/"
	QueueName     = prefix + "queue-name"
	priorityClass = prefix + "priority-class"
	PodGroup      = prefix + "pod-group-name"
	WorkloadName  = prefix + "workload"
	PodSetName    = prefix + "podset"
	// minParallelism is how few pods of a Job may be admitted.
	minParallelism = prefix + "job-min-parallelism"
	// defaultQueue is the LocalQueue for what names none.
	defaultQueue = "default"
)

// Target is a subject that Kueue decides about.
type Target struct {
	Workload *kueuev1beta2.Workload
	// Made says that Kueue has not made the workload yet.
	Made bool
	// Replaces is the workload of the object of that name in the cluster, or nil.
	Replaces *kueuev1beta2.Workload
	// Set is the index of the pod set that the pod is of.
	Set int
	Pod *corev1.Pod
	// Of is the object that makes the pod, or nil for a pod by itself.
	Of *inspect.Workload
}

// Mention reports whether a subject may be Kueue's: by its labels, its gates, or who owns it.
func (f *Finder) Mention(subject metav1.Object) *Target {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return f.OfPod(subject)
	case *inspect.Workload:
		return f.OfObject(subject)
	}
	return nil
}

// owned names an object that a workload may be for.
type owned struct{ namespace, kind, name string }

// Finder finds the workloads of subjects.
type Finder struct {
	s        *inspect.Snapshot
	subjects []metav1.Object
	// given says that the subjects are of files and need not be in the cluster: what the cluster has of their
	// names is replaced.
	given   bool
	byOwner map[owned]*kueuev1beta2.Workload
	byName  map[[2]string]*kueuev1beta2.Workload
}

// Any reports whether there are workloads at all.
func (f *Finder) Any() bool { return len(f.byName) > 0 }

// NewFinder returns a finder of the workloads of subjects in a snapshot. given says that the subjects are of
// files and need not be in the cluster: what the cluster has of their names is replaced.
func NewFinder(s *inspect.Snapshot, subjects []metav1.Object, given bool) *Finder {
	f := &Finder{s: s, subjects: subjects, given: given, byOwner: map[owned]*kueuev1beta2.Workload{}, byName: map[[2]string]*kueuev1beta2.Workload{}}
	for _, w := range s.Around().KueueWorkloads {
		f.byName[[2]string{w.Namespace, w.Name}] = w
		for i := range w.OwnerReferences {
			ref := &w.OwnerReferences[i]
			// Of several, the one that was not replaced by a later one.
			if known := f.byOwner[owned{w.Namespace, ref.Kind, ref.Name}]; known == nil || known.CreationTimestamp.Before(&w.CreationTimestamp) {
				f.byOwner[owned{w.Namespace, ref.Kind, ref.Name}] = w
			}
		}
	}
	return f
}

// OfOwner is the workload for an object, or nil.
func (f *Finder) OfOwner(namespace, kind, name string) *kueuev1beta2.Workload {
	return f.byOwner[owned{namespace, kind, name}]
}

// OfPod is the pod as a target. It is nil if Kueue has nothing to do with it.
func (f *Finder) OfPod(pod *corev1.Pod) *Target {
	if pod.Spec.NodeName != "" || inspect.Ended(pod) {
		return nil
	}
	t := &Target{Pod: pod, Workload: f.WorkloadOf(pod)}
	group := pod.Labels[PodGroup]
	gated := slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return strings.HasPrefix(g.Name, prefix) })
	switch {
	case t.Workload != nil:
		t.Set = max(0, slices.IndexFunc(t.Workload.Spec.PodSets, func(set kueuev1beta2.PodSet) bool { return string(set.Name) == pod.Labels[PodSetName] }))
	case (gated || f.given) && group == "":
		queue, ok := f.queueOf("Pod", pod.Namespace, pod.Labels, metav1.GetControllerOf(pod) == nil)
		if !ok && !gated {
			return nil
		}
		t.Made = true
		t.Workload = f.makeUp("pod-"+pod.Name, pod.Namespace, queue, pod.Labels, []*corev1.Pod{pod}, []int32{1})
	default:
		return nil
	}
	return t
}

// WorkloadOf is the workload that Kueue has made for a pod, or nil.
func (f *Finder) WorkloadOf(pod *corev1.Pod) *kueuev1beta2.Workload {
	for _, name := range []string{pod.Annotations[WorkloadName], pod.Labels[WorkloadName], pod.Labels[PodGroup]} {
		if w := f.byName[[2]string{pod.Namespace, name}]; w != nil {
			return w
		}
	}
	for _, ref := range append([]*metav1.OwnerReference{{Kind: "Pod", Name: pod.Name}}, inspect.Controllers(pod, nil)...) {
		if w := f.byOwner[owned{pod.Namespace, ref.Kind, ref.Name}]; w != nil {
			return w
		}
	}
	return nil
}

// WithoutPods are the workloads of Jobs and pods that are admitted, and of which there is no pod in the
// cluster. Of other kinds, pods need not tell what they are of.
func (f *Finder) WithoutPods() []*kueuev1beta2.Workload {
	var out []*kueuev1beta2.Workload
	for _, w := range f.s.Around().KueueWorkloads {
		of, is := Owner(w), func(kind string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, kind) }
		if of == nil || of.Kind != "Job" && of.Kind != "Pod" || f.s.Health(inspect.Pods).PartialIn(w.Namespace) ||
			w.Status.Admission == nil || !is(kueuev1beta2.WorkloadAdmitted) || is(kueuev1beta2.WorkloadFinished) {
			continue
		}
		elsewhere := slices.ContainsFunc(w.Status.AdmissionChecks, func(check kueuev1beta2.AdmissionCheckState) bool {
			return OfMultiKueue(f.s.Objects(), string(check.Name))
		})
		if !elsewhere {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil
	}
	started := map[*kueuev1beta2.Workload]bool{}
	for _, pod := range f.s.Objects().Pods {
		started[f.WorkloadOf(pod)] = true
	}
	return slices.DeleteFunc(out, func(w *kueuev1beta2.Workload) bool { return started[w] })
}

// OfMultiKueue reports whether an admission check sends workloads to other clusters.
func OfMultiKueue(o *inspect.Objects, name string) bool {
	return slices.ContainsFunc(o.AdmissionChecks, func(c *kueuev1beta2.AdmissionCheck) bool {
		return c.Name == name && c.Spec.ControllerName == kueuev1beta2.MultiKueueControllerName
	})
}

// siblings are the templates of the object that a subject is of, and which of them the subject is.
func (f *Finder) siblings(w *inspect.Workload) (all []*inspect.Workload, at int) {
	for _, subject := range f.subjects {
		other, ok := subject.(*inspect.Workload)
		if !ok || other.Type != w.Type || other.Namespace != w.Namespace || other.Name != w.Name {
			continue
		}
		if other == w {
			at = len(all)
		}
		all = append(all, other)
	}
	return all, at
}

// OfObject is the object as a target. It is nil if Kueue has nothing to do with it.
func (f *Finder) OfObject(w *inspect.Workload) *Target {
	if w.Held != nil && !w.Held.Suspended { // as one that has finished: no queue lets it go
		return nil
	}
	t := &Target{Pod: w.Pod, Of: w}
	all, at := f.siblings(w)
	t.Set = at
	if f.given {
		t.Replaces = f.byOwner[owned{w.Namespace, w.Type.Kind, w.Name}]
	}
	switch {
	case KueueOwn(w):
		t.Workload = f.byName[[2]string{w.Namespace, w.Name}]
	case !f.given:
		t.Workload = f.byOwner[owned{w.Namespace, w.Type.Kind, w.Name}]
	}
	queue, ok := f.queueOf(w.Type.Kind, w.Namespace, w.Kueue, w.Controller == nil)
	if t.Workload == nil && ok && w.Type.Kind != "CronJob" && !KueueOwn(w) {
		t.Made = true
		pods, counts := []*corev1.Pod{}, []int32{}
		for _, one := range all {
			count := int32(1)
			if n := one.Replicas; n != nil && w.Type.Kind != "Deployment" { // each pod of which is a workload
				count = int32(min(max(*n, 0), 1<<20)) //nolint:gosec // it is bounded
			}
			pods, counts = append(pods, one.Pod), append(counts, count)
		}
		t.Workload = f.makeUp(strings.ToLower(w.Type.Kind)+"-"+w.Name, w.Namespace, queue, w.Kueue, pods, counts)
		if least, err := strconv.ParseInt(w.Kueue[minParallelism], 10, 32); err == nil && w.Type.Kind == "Job" {
			t.Workload.Spec.PodSets[0].MinCount = new(int32(least))
		}
	}
	if t.Workload == nil || t.Set >= len(t.Workload.Spec.PodSets) {
		return nil
	}
	return t
}

// queueOf is the queue of an object that Kueue manages: that of its label, the LocalQueue called default, or
// none where Kueue holds back also what names none. The last two are for objects that are not created yet,
// which have no controller that is Kueue's.
func (f *Finder) queueOf(kind, namespace string, marks map[string]string, own bool) (name string, ok bool) {
	config := f.s.Kueue()
	settings, known := config.Settings(), config != nil && config.Unreadable() == ""
	manages := !known || slices.ContainsFunc(configured.Of(config).Frameworks, func(name string) bool { return path.Base(name) == strings.ToLower(kind) }) ||
		settings.Integrations != nil && slices.ContainsFunc(settings.Integrations.ExternalFrameworks, func(name string) bool { return strings.HasPrefix(name, kind+".") })
	if name := marks[QueueName]; name != "" || !f.given {
		return name, name != "" && (manages || !f.given)
	}
	if !manages || !own || !known && kind != "Job" || !f.inManaged(namespace, settings) {
		return "", false
	}
	if f.hasDefault(namespace) {
		return defaultQueue, true
	}
	return "", settings.ManageJobsWithoutQueueName
}

// hasDefault reports whether a namespace has a LocalQueue for what names none.
func (f *Finder) hasDefault(namespace string) bool {
	return slices.ContainsFunc(f.s.Around().LocalQueues, func(q *kueuev1beta2.LocalQueue) bool { return q.Namespace == namespace && q.Name == defaultQueue })
}

// inManaged reports whether Kueue manages what names no queue in a namespace. One that was not read is
// managed.
func (f *Finder) inManaged(namespace string, settings *kueueconfig.Settings) bool {
	if settings.ManagedJobsNamespaceSelector == nil {
		return namespace != metav1.NamespaceSystem && namespace != cmp.Or(settings.Namespace, "kueue-system")
	}
	selector, err := metav1.LabelSelectorAsSelector(settings.ManagedJobsNamespaceSelector)
	for _, n := range f.s.Around().Namespaces {
		if n.Name == namespace && err == nil {
			return selector.Matches(labels.Set(n.Labels))
		}
	}
	return true
}

// MayBeHeld says of a Job or pod that is to be created, and that Kueue is not known to manage, why it may
// hold it back all the same: its configuration is not known, or a queue for what names none; or it is one of
// a group.
func (f *Finder) MayBeHeld(e *explain.Explanation, subject metav1.Object) {
	why := ""
	config := f.s.Kueue()
	unread := config == nil || config.Unreadable() != ""
	const noConfig = "Kueue's Configuration was not read: it may hold back also what names no queue (--kueue-config FILE gives it)"
	switch of := subject.(type) {
	case *inspect.Workload:
		switch {
		case of.Held != nil || of.Controller != nil:
		case of.Type.Kind == "CronJob":
			why = "the Jobs of a CronJob may be for a queue of Kueue, which is not decided"
		case unread && (of.Type.Kind == "Job" || f.hasDefault(of.Namespace)):
			why = noConfig
		case f.s.Health(inspect.LocalQueues).PartialIn(of.Namespace):
			why = "not all localqueues were read: one called " + defaultQueue + " would hold it back"
		}
	case *corev1.Pod:
		if of.Labels[PodGroup] != "" && of.Labels[QueueName] != "" {
			why = "Kueue holds back the pods of a group until all of them are there, which is not decided before"
		} else if unread && metav1.GetControllerOf(of) == nil && f.hasDefault(of.Namespace) {
			why = noConfig
		}
	}
	if !f.given || why == "" {
		return
	}
	e.Partial = append(e.Partial, why)
	if e.Verdict == explain.Allocatable {
		e.Verdict, e.Predicate = explain.Unknown, e.Predicate+", if Kueue does not hold it back"
		e.Message = e.Subject.FullName() + " " + e.Predicate
	}
}

// makeUp makes the workload that Kueue would make of an object for a queue.
func (f *Finder) makeUp(name, namespace, queue string, marks map[string]string, pods []*corev1.Pod, counts []int32) *kueuev1beta2.Workload {
	w := &kueuev1beta2.Workload{}
	w.Name, w.Namespace, w.CreationTimestamp = "to be made for "+name, namespace, metav1.NewTime(f.s.Time())
	w.Spec.QueueName = kueuev1beta2.LocalQueueName(queue)
	for i, pod := range pods {
		set := kueuev1beta2.PodSet{Name: "main", Count: counts[i]}
		if len(pods) > 1 {
			set.Name = kueuev1beta2.PodSetReference(pod.Name)
		}
		set.Template.Labels, set.Template.Annotations, set.Template.Spec = pod.Labels, pod.Annotations, *pod.Spec.DeepCopy()
		set.Template.Spec.SchedulingGates = nil
		w.Spec.PodSets = append(w.Spec.PodSets, set)
	}
	if len(pods) > 0 && pods[0].Spec.Priority != nil {
		w.Spec.Priority = pods[0].Spec.Priority
	}
	for _, class := range f.s.Around().WorkloadPriorityClasses {
		if class.Name == marks[priorityClass] {
			w.Spec.Priority = &class.Value
		}
	}
	return w
}

// Owner is what a workload was made for: a Job, a pod, or several pods of a group, of which it is the first.
func Owner(w *kueuev1beta2.Workload) *explain.Subject {
	if len(w.OwnerReferences) == 0 {
		return nil
	}
	ref := &w.OwnerReferences[0]
	if c := metav1.GetControllerOf(w); c != nil {
		ref = c
	}
	return &explain.Subject{Kind: ref.Kind, Namespace: w.Namespace, Name: ref.Name}
}

// Free is the pod of a target as it is once it is admitted with some flavors.
func (t *Target) Free(pod *corev1.Pod, flavors []*kueuev1beta2.ResourceFlavor) *corev1.Pod {
	out := pod.DeepCopy()
	held := inspect.HeldBy(pod) != ""
	out.Spec.SchedulingGates = slices.DeleteFunc(out.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return strings.HasPrefix(g.Name, prefix) || held
	})
	for _, flavor := range flavors {
		for name, value := range flavor.Spec.NodeLabels {
			if out.Spec.NodeSelector == nil {
				out.Spec.NodeSelector = map[string]string{}
			}
			out.Spec.NodeSelector[name] = value
		}
		out.Spec.Tolerations = append(out.Spec.Tolerations, flavor.Spec.Tolerations...)
	}
	return out
}

// KueueOwn reports whether an object is a Workload of Kueue.
func KueueOwn(of *inspect.Workload) bool {
	return of.Type.Kind == "Workload" && strings.HasPrefix(of.Type.APIVersion, prefix)
}
