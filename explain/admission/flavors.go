package admission

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// inBoth tries the fixes that were found for a pod at kube-scheduler with Kueue too, and drops those with
// which Kueue does not admit the target. What a flavor gives to the pods cannot be taken from them.
func (w *world) inBoth(e *explain.Explanation, pod *corev1.Pod) error {
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return question.ChangesSubject(&f) }) {
		return nil
	}
	flavors := w.flavors(w.target.Set)
	d, err := question.Decide(w.ctx, w.evicted(), pod, w.opts.Question)
	if err != nil || d.Question == nil {
		return err //nolint:wrapcheck // it says what it is about
	}
	var kept []explain.Fix
	for _, f := range e.Fixes {
		if question.ChangesSubject(&f) {
			helps, err := w.helpsInBoth(&f, d, flavors)
			if err != nil {
				return err
			}
			if !helps {
				continue
			}
		}
		kept = append(kept, f)
	}
	e.Fixes = kept
	return nil
}

// helpsInBoth tries a fix of what the target asks for with Kueue. It completes what the fix says.
func (w *world) helpsInBoth(f *explain.Fix, d *question.Decision, flavors []*kueuev1beta2.ResourceFlavor) (bool, error) {
	carried, snapshot := d.Question.Carry(w.ctx, f.Edits)
	if carried == nil {
		return false, nil
	}
	spec := carried.Pod().Spec.DeepCopy()
	for _, flavor := range flavors {
		for name, value := range flavor.Spec.NodeLabels {
			if spec.NodeSelector[name] != value {
				return false, nil
			}
		}
	}
	if w.d.Outcome == kueue.Admitted {
		return true, nil
	}
	w.takeBack(spec, flavors)
	claims := map[inspect.ClaimRef]int{}
	for i, claim := range carried.Claims {
		claims[inspect.RefOf(claim)] = i
	}
	snapshot = snapshot.With(func(o *inspect.Objects) {
		for i, claim := range o.Claims {
			if at, ok := claims[inspect.RefOf(claim)]; ok {
				o.Claims[i] = claim.DeepCopy()
				o.Claims[i].Spec = carried.Claims[at].Spec
			}
		}
	})
	after := w.changed(edit{in: scheduler.NewCluster(snapshot, scheduler.Options{Like: w.c}), spec: spec})
	if after.d.Outcome != kueue.Fits && after.d.Outcome != w.d.Outcome {
		return false, nil
	}
	then, err := after.then()
	if err != nil || then.Verdict != explain.Allocatable {
		return false, err
	}
	together, err := after.together(then)
	if err == nil && together != nil && together.result != explain.Passes {
		f.Message += "; " + together.message
	}
	if after.d.Outcome == kueue.Unknown {
		f.Message += "; whether Kueue admits it is not known"
	}
	return true, err
}

// takeBack takes from the spec of a pod of the target what flavors have given to it.
func (w *world) takeBack(spec *corev1.PodSpec, flavors []*kueuev1beta2.ResourceFlavor) {
	own := w.own()
	spec.SchedulingGates = own.SchedulingGates
	for _, flavor := range flavors {
		for name := range flavor.Spec.NodeLabels {
			if _, has := own.NodeSelector[name]; !has {
				delete(spec.NodeSelector, name)
			}
		}
		spec.Tolerations = slices.DeleteFunc(spec.Tolerations, func(t corev1.Toleration) bool {
			same := func(o corev1.Toleration) bool { return reflect.DeepEqual(o, t) }
			return slices.ContainsFunc(flavor.Spec.Tolerations, same) && !slices.ContainsFunc(own.Tolerations, same)
		})
	}
}

// own is the spec of a pod of the target's set without what flavors give.
func (w *world) own() *corev1.PodSpec {
	return &w.target.Workload.Spec.PodSets[w.target.Set].Template.Spec
}

// maxFlavors is how many flavors are tried, each by itself.
const maxFlavors = 8

// byFlavor tries each flavor that the target could get, where there are several that differ in the nodes that
// they stand for: quota may be in one and devices in another. It says what refuses in each, and proposes to
// choose one.
func (w *world) byFlavor(e *explain.Explanation) error {
	flavors := w.choices()
	if len(flavors) < 2 {
		return nil
	}
	found := &search{world: w}
	var answers []explain.FlavorAnswer
	for _, flavor := range flavors {
		spec := w.own().DeepCopy()
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		maps.Copy(spec.NodeSelector, flavor.Spec.NodeLabels)
		after := w.changed(edit{spec: spec, anew: true})
		if refused(after.d.Outcome) && mainReason(&after.d) != nil && mainReason(&after.d).Needed == 0 {
			continue // it is not refused for want of quota
		}
		then, err := after.then()
		if err != nil {
			return err
		}
		together, err := after.together(then)
		if err != nil {
			return err
		}
		stages := after.stages(then, together)
		queue, devices := stages[0], stages[len(stages)-1]
		answers = append(answers, explain.FlavorAnswer{
			Flavor: flavor.Name, Queue: queue.Result, QueueMessage: queue.Message, Scheduler: devices.Result, SchedulerMessage: devices.Message,
		})
		if devices.Result != explain.Passes || slices.Equal(w.assigned(), after.assigned()) {
			continue
		}
		if err := found.choose(after, flavor, spec, queue.Result); err != nil {
			return err
		}
	}
	if len(answers) > 1 {
		e.Admission.Flavors = answers
	}
	slices.SortStableFunc(found.fixes, func(a, b explain.Fix) int { return len(a.Also) - len(b.Also) })
	at := slices.IndexFunc(found.fixes, func(f explain.Fix) bool { return len(f.Also) > 0 }) // which take two
	if at < 0 {
		at = len(found.fixes)
	}
	e.Fixes = slices.Concat(found.fixes[:at], e.Fixes, found.fixes[at:])
	return nil
}

// choices are the flavors of the group of the ClusterQueue that has several, as far as their labels tell
// apart nodes, and the target does not choose among them.
func (w *world) choices() []*kueuev1beta2.ResourceFlavor {
	var out []*kueuev1beta2.ResourceFlavor
	for _, q := range w.objects.ClusterQueues {
		if q.Name != w.d.ClusterQueue {
			continue
		}
		for i := range q.Spec.ResourceGroups {
			for _, quotas := range q.Spec.ResourceGroups[i].Flavors {
				at := slices.IndexFunc(w.objects.ResourceFlavors, func(f *kueuev1beta2.ResourceFlavor) bool { return f.Name == string(quotas.Name) })
				if at >= 0 && len(q.Spec.ResourceGroups[i].Flavors) > 1 && len(w.objects.ResourceFlavors[at].Spec.NodeLabels) > 0 {
					out = append(out, w.objects.ResourceFlavors[at])
				}
			}
		}
	}
	return out[:min(len(out), maxFlavors)]
}

// assigned are the flavors that the pods get, by resource.
func (w *world) assigned() []string {
	var out []string
	for _, set := range w.d.PodSets {
		for resource, flavor := range set.Flavors {
			out = append(out, set.Name+"/"+string(resource)+"/"+flavor)
		}
	}
	slices.Sort(out)
	return out
}

// choose proposes that the pods ask for the nodes of a flavor, and more quota of it if that is missing.
func (s *search) choose(after *world, flavor *kueuev1beta2.ResourceFlavor, spec *corev1.PodSpec, queue explain.StageResult) error {
	if len(s.target.Workload.Spec.PodSets) != 1 {
		return nil
	}
	patch := explain.PatchOperation{Op: "add", Path: "/spec/nodeSelector", Value: spec.NodeSelector}
	changes := []explain.ObjectChange{{APIVersion: "v1", Kind: "Pod", Namespace: s.target.Pod.Namespace, Name: s.target.Pod.Name, Patch: []explain.PatchOperation{patch}}}
	if of := s.target.Of; of != nil {
		patch.Path = of.SpecPointer + "/nodeSelector"
		if changes = s.change(patch); len(changes) == 0 {
			return nil
		}
		changes[0].InPlace = s.d.Outcome != kueue.Admitted // then it has started
	} else if owner := metav1.GetControllerOf(s.target.Pod); owner != nil && owner.Kind != "Job" {
		return nil // the template of its controller has another node selector than the pod
	}
	names := slices.Sorted(maps.Keys(flavor.Spec.NodeLabels))
	labels := words.Each(names, func(name string) string { return name + "=" + flavor.Spec.NodeLabels[name] })
	f := explain.Fix{
		Kind: explain.UseFlavor, Key: flavor.Name,
		Message: fmt.Sprintf("run on the nodes of flavor %s: add %s to the node selector", flavor.Name, words.And(labels)),
		Patch:   changes[0].Patch, Changes: changes,
	}
	if queue == explain.Passes {
		_, _, err := s.propose(f, edit{spec: spec, anew: true})
		return err
	}
	more := &search{world: after}
	for _, limit := range []bool{true, false} {
		if helps, err := more.raiseOne(flavor.Name, limit); err != nil || helps {
			if helps {
				raised := more.fixes[0]
				f.Node, f.Nodes, f.Also = raised.Node, raised.Nodes, []explain.FixKind{raised.Kind}
				f.Changes, f.Key = append(f.Changes, raised.Changes...), f.Key+" "+raised.Key
				f.Message += ", and " + strings.TrimSpace(raised.Message)
				s.fixes = append(s.fixes, f)
			}
			return err
		}
	}
	return nil
}
