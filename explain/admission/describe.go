package admission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// describe says what Kueue decides, without the stages.
func (w *world) describe() *explain.Admission {
	d := &w.d
	a := &explain.Admission{
		LocalQueue: d.LocalQueue, ClusterQueue: d.ClusterQueue, Outcome: string(d.Outcome), Borrows: d.Borrows, NotBefore: d.NotBefore,
		Configuration: config.Origin(w.c.Snapshot().Kueue()),
	}
	if !w.target.Made {
		a.Workload = subjectOf(d.Workload)
	}
	for _, set := range d.PodSets {
		out := explain.QueuedPods{Name: set.Name, Asked: set.Asked, Count: set.Count, Requests: map[string]string{}, Flavors: map[string]string{}}
		for name, amount := range set.Requests {
			out.Requests[string(name)] = w.state.Text(name, amount)
		}
		for name, flavor := range set.Flavors {
			out.Flavors[string(name)] = flavor
		}
		a.PodSets = append(a.PodSets, out)
	}
	for _, r := range d.Reasons {
		reason := explain.QueueReason{Code: string(r.Code), PodSet: r.PodSet, Flavor: r.Flavor, Resource: string(r.Resource), Message: r.Message}
		if r.Needed > 0 {
			reason.Needed = w.state.Text(r.Resource, r.Needed)
		}
		a.Reasons = append(a.Reasons, reason)
	}
	if refused(d.Outcome) {
		a.Holders = w.holders()
	}
	a.Ahead = w.ahead(d.Ahead)
	for _, v := range d.Victims {
		a.Evicts = append(a.Evicts, *subjectOf(v.Workload))
	}
	return a
}

func subjectOf(ref kueue.Ref) *explain.Subject {
	return &explain.Subject{Kind: "Workload", Namespace: ref.Namespace, Name: ref.Name}
}

// of is what a workload was made for, or nil if that is not known.
func (w *world) of(ref kueue.Ref) *explain.Subject {
	if one := w.workload(ref); one != nil {
		return target.Owner(one)
	}
	return nil
}

// called is what people call a workload: what it was made for.
func (w *world) called(ref kueue.Ref) string {
	if of := w.of(ref); of != nil {
		return strings.ToLower(of.Kind) + " " + of.FullName()
	}
	return "workload " + ref.Namespace + "/" + ref.Name
}

func (w *world) ahead(all []kueue.Ahead) []explain.Ahead {
	var out []explain.Ahead
	for _, one := range all {
		ahead := explain.Ahead{Workload: *subjectOf(one.Workload), Of: w.of(one.Workload), Priority: one.Priority, Outcome: string(one.Outcome), Blocks: one.Blocks}
		if one.Reason != nil {
			ahead.Message = one.Reason.Message
		}
		out = append(out, ahead)
	}
	return out
}

// flavorResource is a resource of a flavor.
type flavorResource struct {
	flavor   string
	resource corev1.ResourceName
}

// missing are the resources of which quota is missing, in the order of the reasons.
func (w *world) missing() []flavorResource {
	var out []flavorResource
	for _, r := range w.d.Reasons {
		fr := flavorResource{r.Flavor, r.Resource}
		if r.Needed > 0 && !slices.Contains(out, fr) {
			out = append(out, fr)
		}
	}
	return out
}

// holders are those that hold the quota that is missing: in the queue itself, and in the cohort that it could
// borrow from.
func (w *world) holders() []explain.QuotaHolder {
	var out []explain.QuotaHolder
	usage := w.usages()
	for _, fr := range w.missing() {
		at := slices.IndexFunc(usage, func(u kueue.Usage) bool { return !u.Cohort && u.Name == w.d.ClusterQueue })
		if at < 0 {
			continue
		}
		from := usage[at]
		if parent := slices.IndexFunc(usage, func(u kueue.Usage) bool { return u.Cohort && u.Name == from.Parent }); parent >= 0 {
			from = usage[parent]
		}
		out = append(out, w.holdersOf(from, fr)...)
	}
	return out
}

// holdersOf are those that hold a resource at a queue or cohort.
func (w *world) holdersOf(u kueue.Usage, fr flavorResource) []explain.QuotaHolder {
	var out []explain.QuotaHolder
	for _, f := range u.Flavors {
		if f.Flavor != fr.flavor || f.Resource != fr.resource {
			continue
		}
		for _, h := range f.Holders {
			out = append(out, explain.QuotaHolder{
				Workload: *subjectOf(h.Workload), Of: w.of(h.Workload), ClusterQueue: h.ClusterQueue, Flavor: f.Flavor, Resource: string(f.Resource),
				Amount: w.state.Text(f.Resource, h.Amount), Runs: h.Admitted,
			})
		}
	}
	return out
}

// maxNamed is how many holders a sentence names.
const maxNamed = 3

// queueSentence says in a sentence what Kueue does about the target.
func (w *world) queueSentence() string {
	d, queue := &w.d, "ClusterQueue "+w.d.ClusterQueue
	switch d.Outcome {
	case kueue.Admitted:
		return "admitted by " + queue + w.with()
	case kueue.Reserved:
		return "has reserved quota of " + queue + w.with()
	case kueue.Fits:
		text := queue + " has the quota" + w.with()
		if d.Borrows {
			text += ", in part of others in its cohort"
		}
		for _, set := range d.PodSets {
			if set.Count < set.Asked {
				text += fmt.Sprintf(", for %d of %d pods", set.Count, set.Asked)
			}
		}
		return text
	case kueue.Preempts:
		var names []string
		for _, v := range d.Victims {
			names = append(names, w.called(v.Workload))
		}
		return fmt.Sprintf("Kueue evicts %s for it", words.And(names))
	}
	if main := mainReason(d); main != nil {
		return w.reasonSentence(main, queue)
	}
	return "what Kueue does about it is not known"
}

// mainReason is the first reason that is about how much is missing, or else the first. It is nil if there is
// none.
func mainReason(d *kueue.Decision) *kueue.Reason {
	for i := range d.Reasons {
		if d.Reasons[i].Needed > 0 {
			return &d.Reasons[i]
		}
	}
	if len(d.Reasons) == 0 {
		return nil
	}
	return &d.Reasons[0]
}

func (w *world) reasonSentence(r *kueue.Reason, queue string) string {
	amount := w.state.Text(r.Resource, r.Needed) + " more " + string(r.Resource)
	switch r.Code {
	case kueue.InsufficientUnusedQuota:
		text := fmt.Sprintf("%s has too little unused quota of flavor %s: %s needed", queue, r.Flavor, amount)
		var held []string
		for _, h := range w.describedHolders(flavorResource{r.Flavor, r.Resource}) {
			held = append(held, fmt.Sprintf("%s (%s)", nameOf(h.Of, h.Workload), h.Amount))
		}
		if n := len(held) - maxNamed; n > 0 {
			held = append(held[:maxNamed], fmt.Sprintf("%d more", n))
		}
		if len(held) > 0 {
			text += "; held by " + words.And(held)
		}
		return text
	case kueue.InsufficientQuota:
		return fmt.Sprintf("it asks for more than %s can ever have of flavor %s: %s needed", queue, r.Flavor, amount)
	case kueue.BehindHead, kueue.TakenInCycle, kueue.OverlappingVictims:
		return "it comes behind " + w.called(r.Workload) + ": " + r.Message
	case kueue.Evicting:
		return "Kueue is evicting it: " + r.Message
	case kueue.UnmappedClass:
		return fmt.Sprintf("Kueue does not know what devices of class %s count for: %s", r.Name, r.Message)
	}
	return r.Message
}

func (w *world) describedHolders(fr flavorResource) []explain.QuotaHolder {
	return slices.DeleteFunc(w.holders(), func(h explain.QuotaHolder) bool { return h.Flavor != fr.flavor || h.Resource != string(fr.resource) })
}

func nameOf(of *explain.Subject, workload explain.Subject) string {
	if of != nil {
		return of.FullName()
	}
	return workload.FullName()
}

// with says what the pod sets count for, of which flavor.
func (w *world) with() string {
	total := map[flavorResource]kueue.Amount{}
	var order []flavorResource
	for _, set := range w.d.PodSets {
		for name, amount := range set.Requests {
			fr := flavorResource{set.Flavors[name], name}
			if _, known := total[fr]; !known {
				order = append(order, fr)
			}
			total[fr] += amount
		}
	}
	slices.SortFunc(order, func(a, b flavorResource) int {
		return strings.Compare(a.flavor+"/"+string(a.resource), b.flavor+"/"+string(b.resource))
	})
	var parts []string
	for _, fr := range order {
		if total[fr] > 0 && fr.flavor != "" {
			parts = append(parts, fmt.Sprintf("%s %s of flavor %s", w.state.Text(fr.resource, total[fr]), fr.resource, fr.flavor))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + words.And(parts)
}
