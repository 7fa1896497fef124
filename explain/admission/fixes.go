package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

const (
	// maxTries is how often Kueue and kube-scheduler are asked again for fixes of a kind: fewer times where
	// there are many workloads, down to minTries, so that about maxDecided are decided about.
	maxTries, minTries, maxDecided = 24, 4, 8000
	// maxAlternatives is how many fixes of a kind are shown.
	maxAlternatives = 3
)

// search looks for fixes. Each was tried: with it made, Kueue admits the workload, and all its pods find
// nodes.
type search struct {
	*world
	tries int
	fixes []explain.Fix
}

// edit is a change under which it is decided again.
type edit struct {
	// objects changes the cluster, and workload the target's own in it.
	objects  func(*inspect.Objects)
	workload func(*kueuev1beta2.Workload)
	// pod changes the pods of the target.
	pod func(*corev1.PodSpec)
	// spec, if not nil, is that of the pods of the target's set.
	spec *corev1.PodSpec
	// anew says that Kueue has to admit the target again, if it has.
	anew bool
	// in, if not nil, is another cluster.
	in        *scheduler.Cluster
	templates bool
	ended     []kueue.Ref
}

func (w *world) fix(e *explain.Explanation) error {
	s := &search{world: w}
	for _, propose := range []func() error{s.fewerPods, s.fewerDevices, s.otherQueue, s.tolerate, s.end, s.raise} {
		s.tries = 0
		if err := propose(); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.fixes, func(a, b explain.Fix) int {
		return cmp.Or(a.Actor(e.Subject).Compare(b.Actor(e.Subject)), len(a.Actors(e.Subject))-len(b.Actors(e.Subject)))
	})
	e.NoHelp = nil
	if e.Fixes = s.fixes; len(s.fixes) > 0 {
		e.Conflict = nil
	}
	return nil
}

// try decides again. nodes is how many nodes each pod then finds, 0 if the target is not admitted or hangs.
func (s *search) try(change edit) (node inspect.NodeName, nodes int, after *world, err error) {
	if s.tries++; s.tries > max(minTries, min(maxTries, maxDecided/max(1, len(s.objects.KueueWorkloads)))) {
		return "", 0, nil, nil
	}
	w := s.changed(change)
	if w.d.Outcome != kueue.Fits {
		return "", 0, w, nil
	}
	then, err := w.then()
	if err != nil || then.Verdict != explain.Allocatable {
		return "", 0, w, err
	}
	together, err := w.together(then)
	if err != nil || together != nil && together.result != explain.Passes {
		return "", 0, w, err
	}
	if then.Allocation != nil {
		node = then.Allocation.Node
	}
	return node, max(1, then.Nodes.Allocatable), w, nil
}

// changed is the world after a change, in which Kueue was asked.
func (w *world) changed(change edit) *world {
	t := *w.target
	after := &world{
		ctx: w.ctx, c: cmp.Or(change.in, w.c), opts: w.opts, target: &t, subject: w.subject, earlier: w.earlier,
		coming:    w.coming,
		templates: change.templates, ended: change.ended,
	}
	if change.in == nil { // else its configuration might be another one
		after.like = w.state
	}
	after.opts.Question.ReasonOnly = true
	own := t.Workload.DeepCopy()
	if change.workload != nil {
		change.workload(own)
	}
	if change.anew {
		own.Status = kueuev1beta2.WorkloadStatus{}
	}
	if change.spec != nil {
		t.Pod = t.Pod.DeepCopy()
		t.Pod.Spec, own.Spec.PodSets[t.Set].Template.Spec = *change.spec, *change.spec
	}
	if change.pod != nil {
		t.Pod = t.Pod.DeepCopy()
		change.pod(&t.Pod.Spec)
		for i := range own.Spec.PodSets {
			change.pod(&own.Spec.PodSets[i].Template.Spec)
		}
	}
	t.Workload = own
	after.decide(func(o *inspect.Objects) {
		o.KueueWorkloads = slices.Clone(o.KueueWorkloads)
		o.KueueWorkloads = slices.DeleteFunc(o.KueueWorkloads, func(one *kueuev1beta2.Workload) bool {
			return one.Namespace == own.Namespace && one.Name == own.Name || slices.Contains(change.ended, kueue.Ref{Namespace: one.Namespace, Name: one.Name})
		})
		o.KueueWorkloads = append(o.KueueWorkloads, own)
		if change.objects != nil {
			change.objects(o)
		}
	})
	return after
}

// propose adds a fix if it helps.
func (s *search) propose(f explain.Fix, change edit) (helps bool, after *world, err error) {
	node, nodes, after, err := s.try(change)
	if err != nil || nodes == 0 {
		return false, after, err
	}
	f.Node, f.Nodes = node, nodes
	for _, set := range after.d.PodSets {
		if set.Count < set.Asked {
			f.Message += fmt.Sprintf("; Kueue then admits %d of its %d pods", set.Count, set.Asked)
		}
	}
	if after.d.Borrows {
		f.Message += "; it then borrows quota, which others in the cohort may take back"
	}
	if len(after.d.Checks) > 0 {
		f.Message += fmt.Sprintf("; admission %s %s still %s", words.Plural(len(after.d.Checks), "check", "checks"), words.And(after.d.Checks), words.Plural(len(after.d.Checks), "decides", "decide"))
	}
	s.fixes = append(s.fixes, f)
	return true, after, nil
}

// largest is the largest number below n for which helps is true, or 0. Where more helps, less does.
func largest(n int, helps func(int) (bool, error)) (int, error) {
	best := 0
	for low, high := 1, n-1; low <= high; {
		middle := (low + high + 1) / 2
		ok, err := helps(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			best, low = middle, middle+1
		} else {
			high = middle - 1
		}
	}
	return best, nil
}

// change is a change of the object that the target is a pod of.
func (s *search) change(patch ...explain.PatchOperation) []explain.ObjectChange {
	of := s.target.Of
	if of == nil {
		return nil
	}
	if target.KueueOwn(of) { // which is made of what it was made for
		owner := metav1.GetControllerOf(s.target.Workload)
		if owner == nil || owner.Kind == "Pod" || !strings.HasPrefix(patch[0].Path, "/metadata/") {
			return nil
		}
		return []explain.ObjectChange{{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: of.Namespace, Name: owner.Name, InPlace: true, Patch: patch}}
	}
	return []explain.ObjectChange{{APIVersion: of.Type.APIVersion, Kind: of.Type.Kind, Namespace: of.Namespace, Name: of.Name, InPlace: true, Patch: patch}}
}

// fewerPods lets a Job run fewer pods at a time.
func (s *search) fewerPods() error {
	w, of := s.target.Workload, s.target.Of
	if of == nil || of.Type.Kind != "Job" || len(w.Spec.PodSets) != 1 || w.Spec.PodSets[0].Count < 2 {
		return nil
	}
	fewer := func(n int) edit {
		return edit{workload: func(w *kueuev1beta2.Workload) { w.Spec.PodSets[0].Count = int32(n) }} //nolint:gosec // it is less than a count
	}
	most, err := largest(int(w.Spec.PodSets[0].Count), func(n int) (bool, error) {
		_, nodes, _, err := s.try(fewer(n))
		return nodes > 0, err
	})
	if err != nil || most == 0 || w.Spec.PodSets[0].MinCount != nil && most <= int(*w.Spec.PodSets[0].MinCount) { // which Kueue refuses
		return err
	}
	change := s.change(explain.PatchOperation{Op: "replace", Path: "/spec/parallelism", Value: most})
	_, _, err = s.propose(explain.Fix{
		Kind: explain.ReducePods, Key: fmt.Sprint(most), Patch: change[0].Patch, Changes: change,
		Message: fmt.Sprintf("run %d instead of %d pods at a time (spec.parallelism)", most, w.Spec.PodSets[0].Count),
	}, fewer(most))
	return err
}

// fewerDevices asks for fewer devices in the only request of the only claim template of the pod.
func (s *search) fewerDevices() error {
	if s.target.Of == nil || len(s.target.Pod.Spec.ResourceClaims) != 1 || s.target.Pod.Spec.ResourceClaims[0].ResourceClaimTemplateName == nil {
		return nil
	}
	template, ok := s.c.Snapshot().Template(s.target.Pod.Namespace, *s.target.Pod.Spec.ResourceClaims[0].ResourceClaimTemplateName)
	if !ok || len(template.Spec.Spec.Devices.Requests) != 1 {
		return nil
	}
	request := template.Spec.Spec.Devices.Requests[0].Exactly
	if request == nil || request.AllocationMode != resourcev1.DeviceAllocationModeExactCount || request.Count < 2 || request.Count > 1<<16 {
		return nil
	}
	fewer := func(n int) edit {
		changed := template.DeepCopy()
		changed.Spec.Spec.Devices.Requests[0].Exactly.Count = int64(n)
		return edit{templates: true, objects: func(o *inspect.Objects) {
			o.Templates = slices.Clone(o.Templates)
			o.Templates[slices.Index(o.Templates, template)] = changed
		}}
	}
	most, err := largest(int(request.Count), func(n int) (bool, error) {
		_, nodes, _, err := s.try(fewer(n))
		return nodes > 0, err
	})
	if err != nil || most == 0 {
		return err
	}
	patch := []explain.PatchOperation{{Op: "replace", Path: "/spec/spec/devices/requests/0/exactly/count", Value: most}}
	var recounts *explain.Subject
	if !s.target.Made {
		recounts = subjectOf(s.d.Workload)
	}
	_, _, err = s.propose(explain.Fix{
		Kind: explain.ReduceCount, Key: fmt.Sprint(most), Patch: patch, Recounts: recounts,
		Changes: []explain.ObjectChange{{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimTemplate", Namespace: template.Namespace, Name: template.Name, Patch: patch}},
		Message: fmt.Sprintf("ask for %s instead of %d in request %s", words.Count(most, "device"), request.Count, template.Spec.Spec.Devices.Requests[0].Name),
	}, fewer(most))
	return err
}

// otherQueue puts the target into another queue of its namespace.
func (s *search) otherQueue() error {
	n := 0
	waiting := map[string]int{}
	for _, u := range s.usages() {
		waiting[u.Name] = len(u.Pending)
	}
	queues := slices.Clone(s.objects.LocalQueues)
	slices.SortStableFunc(queues, func(a, b *kueuev1beta2.LocalQueue) int {
		return waiting[string(a.Spec.ClusterQueue)] - waiting[string(b.Spec.ClusterQueue)]
	})
	for _, q := range queues {
		own := s.target.Workload
		if q.Namespace != own.Namespace || q.Name == string(own.Spec.QueueName) || n == maxAlternatives {
			continue
		}
		f := explain.Fix{
			Kind: explain.UseQueue, Key: q.Name, Message: fmt.Sprintf("use queue %s, which has room now (label %s)", q.Name, target.QueueName),
			Changes: s.change(explain.PatchOperation{Op: "add", Path: "/metadata/labels/kueue.x-k8s.io~1queue-name", Value: q.Name}),
		}
		if len(f.Changes) == 0 {
			f.Message = fmt.Sprintf("create it anew for queue %s, which has room now (label %s)", q.Name, target.QueueName)
		} else {
			f.Patch = f.Changes[0].Patch
		}
		helps, _, err := s.propose(f, edit{workload: func(w *kueuev1beta2.Workload) { w.Spec.QueueName = kueuev1beta2.LocalQueueName(q.Name) }})
		if err != nil {
			return err
		}
		n += words.Btoi(helps)
	}
	return nil
}

// tolerate tolerates the taints of a flavor.
func (s *search) tolerate() error {
	for _, r := range s.d.Reasons {
		at := slices.IndexFunc(s.objects.ResourceFlavors, func(f *kueuev1beta2.ResourceFlavor) bool { return f.Name == r.Flavor })
		if r.Code != kueue.UntoleratedTaint || at < 0 {
			continue
		}
		var tolerations []corev1.Toleration
		var names []string
		for _, taint := range s.objects.ResourceFlavors[at].Spec.NodeTaints {
			tolerations = append(tolerations, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})
			names = append(names, taint.ToString())
		}
		f := explain.Fix{Kind: explain.TolerateTaint, Key: "flavor " + r.Flavor, Message: fmt.Sprintf("tolerate %s %s of flavor %s", words.Plural(len(names), "taint", "taints"), words.And(names), r.Flavor)}
		if of := s.target.Of; of != nil {
			all := append(slices.Clone(of.Spec.Tolerations), tolerations...)
			if f.Changes = s.change(explain.PatchOperation{Op: "add", Path: of.SpecPointer + "/tolerations", Value: all}); len(f.Changes) > 0 {
				f.Patch = f.Changes[0].Patch
			}
		}
		if _, _, err := s.propose(f, edit{pod: func(spec *corev1.PodSpec) { spec.Tolerations = append(slices.Clone(spec.Tolerations), tolerations...) }}); err != nil {
			return err
		}
	}
	return nil
}

// end ends those that hold the quota, or are in front: one of them, or else as few as will do.
func (s *search) end() error {
	var all []kueue.Ref
	add := func(ref kueue.Ref) {
		if ref != s.d.Workload && ref.Name != "" && !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	for _, h := range s.holders() {
		add(kueue.Ref{Namespace: h.Workload.Namespace, Name: h.Workload.Name})
	}
	for _, r := range s.d.Reasons {
		if r.Code == kueue.BehindHead || r.Code == kueue.TakenInCycle || r.Code == kueue.OverlappingVictims {
			add(r.Workload)
		}
	}
	n := 0
	for i := len(all) - 1; i >= 0 && n < maxAlternatives; i-- { // the smallest first
		helps, err := s.proposeEnd(all[i : i+1])
		if err != nil {
			return err
		}
		n += words.Btoi(helps)
	}
	if n > 0 || len(all) < 2 {
		return nil
	}
	for k := 2; k <= min(len(all), 8); k++ {
		if helps, err := s.proposeEnd(all[:k]); helps || err != nil {
			return err
		}
	}
	return nil
}

func (s *search) proposeEnd(gone []kueue.Ref) (bool, error) {
	f := explain.Fix{Kind: explain.EndWorkload, Key: fmt.Sprint(gone)}
	var names []string
	for _, ref := range gone {
		names = append(names, s.called(ref))
		one := s.of(ref)
		if one == nil {
			one = &explain.Subject{Kind: "workload.kueue.x-k8s.io", Namespace: ref.Namespace, Name: ref.Name}
		}
		f.Ends = append(f.Ends, *one)
	}
	f.Message = fmt.Sprintf("end %s, or wait until %s ended", words.And(names), words.Plural(len(names), "it has", "they have"))
	helps, _, err := s.propose(f, edit{ended: gone})
	return helps, err
}

// raise raises the quota of the ClusterQueue by what is missing, or the limit of what it may borrow.
func (s *search) raise() error {
	for _, limit := range []bool{true, false} {
		for _, fr := range s.missing() {
			if helps, err := s.raiseOne(fr.flavor, limit); err != nil || helps {
				if err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// raiseOne raises what is missing in one flavor, resource after resource until Kueue admits the target.
func (s *search) raiseOne(flavor string, limit bool) (bool, error) {
	at := slices.IndexFunc(s.objects.ClusterQueues, func(q *kueuev1beta2.ClusterQueue) bool { return q.Name == s.d.ClusterQueue })
	if at < 0 {
		return false, nil
	}
	queue := s.objects.ClusterQueues[at].DeepCopy()
	change := edit{objects: func(o *inspect.Objects) {
		o.ClusterQueues = slices.Clone(o.ClusterQueues)
		o.ClusterQueues[slices.IndexFunc(o.ClusterQueues, func(q *kueuev1beta2.ClusterQueue) bool { return q.Name == queue.Name })] = queue
	}}
	f := explain.Fix{Kind: explain.RaiseQuota, Key: fmt.Sprint(flavor, limit)}
	reasons := s.d.Reasons
	for range 4 {
		raised := false
		for _, r := range reasons {
			if r.Flavor != flavor || r.Needed <= 0 {
				continue
			}
			operation, ok := raiseBy(queue, r, limit)
			if !ok {
				return false, nil
			}
			f.Patch = slices.DeleteFunc(f.Patch, func(p explain.PatchOperation) bool { return p.Path == operation.Path })
			f.Patch, raised = append(f.Patch, operation), true
		}
		if !raised {
			return false, nil
		}
		told := raisedIn(s.objects.ClusterQueues[at], queue, flavor, limit)
		what := "nominal quota"
		if limit {
			what = "borrowing limit"
		}
		f.Message = fmt.Sprintf("raise the %s of ClusterQueue %s: %s of flavor %s", what, queue.Name, strings.Join(told, ", "), flavor)
		f.Changes = []explain.ObjectChange{{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "ClusterQueue", Name: queue.Name, InPlace: true, Patch: f.Patch}}
		helps, after, err := s.propose(f, change)
		if helps || err != nil || after == nil {
			return helps, err
		}
		reasons = after.d.Reasons
	}
	return false, nil
}

// raiseBy raises one quota in a ClusterQueue by what is needed.
func raiseBy(queue *kueuev1beta2.ClusterQueue, r kueue.Reason, limit bool) (operation explain.PatchOperation, ok bool) {
	eachQuota(queue, func(path, flavor string, q *kueuev1beta2.ResourceQuota) {
		field, value := "nominalQuota", &q.NominalQuota
		if limit {
			field, value = "borrowingLimit", q.BorrowingLimit
		}
		if flavor != r.Flavor || q.Name != r.Resource || value == nil {
			return
		}
		more := resource.NewQuantity(int64(r.Needed), value.Format)
		if r.Resource == corev1.ResourceCPU {
			more = resource.NewMilliQuantity(int64(r.Needed), value.Format)
		}
		value.Add(*more)
		operation, ok = explain.PatchOperation{Op: "replace", Path: path + "/" + field, Value: value.String()}, true
	})
	return operation, ok
}

// raisedIn says what was raised in a ClusterQueue.
func raisedIn(before, after *kueuev1beta2.ClusterQueue, flavor string, limit bool) []string {
	amounts := map[corev1.ResourceName]string{}
	of := func(q *kueuev1beta2.ResourceQuota) string {
		if limit && q.BorrowingLimit != nil {
			return q.BorrowingLimit.String()
		}
		return q.NominalQuota.String()
	}
	eachQuota(before, func(_, in string, q *kueuev1beta2.ResourceQuota) {
		if in == flavor {
			amounts[q.Name] = of(q)
		}
	})
	var out []string
	eachQuota(after, func(_, in string, q *kueuev1beta2.ResourceQuota) {
		if in == flavor && of(q) != amounts[q.Name] {
			out = append(out, fmt.Sprintf("%s from %s to %s", q.Name, amounts[q.Name], of(q)))
		}
	})
	return out
}

// eachQuota visits the quotas of a ClusterQueue, with their JSON pointers and flavors.
func eachQuota(queue *kueuev1beta2.ClusterQueue, visit func(path, flavor string, q *kueuev1beta2.ResourceQuota)) {
	for i := range queue.Spec.ResourceGroups {
		for j := range queue.Spec.ResourceGroups[i].Flavors {
			f := &queue.Spec.ResourceGroups[i].Flavors[j]
			for k := range f.Resources {
				visit(fmt.Sprintf("/spec/resourceGroups/%d/flavors/%d/resources/%d", i, j, k), string(f.Name), &f.Resources[k])
			}
		}
	}
}
