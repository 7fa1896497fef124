package kueue

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// choice is the flavor of a resource.
type choice struct {
	flavor string
	fit    quota.Fit
	level  int
	// tried is the flavor at which the search stopped, or -1 if all were looked at.
	tried int
}

// assignedSet is a pod set with the flavors that it would get.
type assignedSet struct {
	quota.Pods
	choices map[corev1.ResourceName]*choice
	reasons []Reason
	failed  bool
}

func (a *assignedSet) fit() quota.Fit {
	switch {
	case a.failed:
		return quota.NoFit
	case len(a.reasons) == 0:
		return quota.FitsNow
	case len(a.choices) == 0:
		return quota.NoFit
	}
	worst := quota.FitsNow
	for _, c := range a.choices {
		worst = min(worst, c.fit)
	}
	return worst
}

// assignment is what a workload would get.
type assignment struct {
	sets  []assignedSet
	level int
	used  quota.Amounts
	tried []map[corev1.ResourceName]int
	// topology says that it also depends on the topology of nodes, which is not decided here.
	topology bool
}

// fit is that of the worst pod set: noFit, noCandidates for all that needs evictions, or fitsNow.
func (a *assignment) fit() quota.Fit {
	if len(a.sets) == 0 {
		return quota.NoFit
	}
	worst := quota.FitsNow
	for i := range a.sets {
		worst = min(worst, a.sets[i].fit())
	}
	if worst > quota.NoFit && worst < quota.FitsNow {
		return quota.NoCandidates
	}
	return worst
}

// message is what Kueue writes about an assignment that does not fit now.
func (a *assignment) message() string {
	var parts []string
	for i := range a.sets {
		set := &a.sets[i]
		if len(set.reasons) == 0 {
			continue
		}
		words := make([]string, len(set.reasons))
		for j := range set.reasons {
			words[j] = set.reasons[j].Message
		}
		if set.failed {
			return fmt.Sprintf("failed to assign flavors to pod set %s: %s", set.Name, words[len(words)-1])
		}
		slices.Sort(words)
		parts = append(parts, "couldn't assign flavors to pod set "+set.Name+": "+strings.Join(words, ", "))
	}
	return strings.Join(parts, "; ")
}

// total is what the workload would use, by flavor.
func (a *assignment) total(of []quota.Pods) quota.Amounts {
	out := quota.Amounts{}
	for i := range of {
		if i >= len(a.sets) {
			break
		}
		scaled := of[i].Scaled(a.sets[i].Count)
		for _, r := range scaled.Requests {
			if c := a.sets[i].choices[r.Resource]; c != nil && r.Amount != 0 {
				fr := quota.FlavorResource{Flavor: c.flavor, Resource: r.Resource}
				out[fr] = out[fr].Add(r.Amount)
			}
		}
	}
	return out
}

// assigner finds flavors for a workload in its ClusterQueue.
type assigner struct {
	*play
	w *waiting
}

// podSetGroup is the pod sets that get the same flavors: one, or those that are to be near each other.
type podSetGroup struct {
	name string
	sets []int
}

func (a *assigner) groups() []podSetGroup {
	var out []podSetGroup
	for i := range a.w.Object.Spec.PodSets {
		name := strconv.Itoa(i)
		if t := a.w.Object.Spec.PodSets[i].TopologyRequest; t != nil && t.PodSetGroupName != nil {
			name = *t.PodSetGroupName
		}
		if at := slices.IndexFunc(out, func(g podSetGroup) bool { return g.name == name }); at >= 0 {
			out[at].sets = append(out[at].sets, i)
		} else {
			out = append(out, podSetGroup{name, []int{i}})
		}
	}
	return out
}

// assign finds flavors for all pods, or for as many of each set as counts says.
func (a *assigner) assign(counts []int32) *assignment {
	out := &assignment{used: quota.Amounts{}}
	q := a.w.queue
	sets := make([]quota.Pods, len(a.w.Sets))
	for i := range sets {
		sets[i] = a.w.Sets[i]
		if counts != nil {
			sets[i] = a.w.Sets[i].Scaled(counts[i])
		}
		if q.group(corev1.ResourcePods) != nil {
			sets[i].Requests = slices.DeleteFunc(slices.Clone(sets[i].Requests), func(r quota.Request) bool { return r.Resource == corev1.ResourcePods })
			sets[i].Requests = append(sets[i].Requests, quota.Request{Resource: corev1.ResourcePods, Amount: Amount(sets[i].Count)})
			quota.SortRequests(sets[i].Requests)
		}
	}
	for _, g := range a.groups() {
		if !a.assignGroup(out, g, sets) {
			return out
		}
	}
	for _, i := range a.w.Object.Spec.PodSets {
		out.topology = out.topology || a.state.config.gate("TopologyAwareScheduling") && (asksTopology(i.TopologyRequest) || q.topologies)
	}
	out.topology = out.topology && out.fit() != quota.NoFit
	return out
}

// assignGroup finds flavors for pod sets that belong together. It reports whether to go on with others.
func (a *assigner) assignGroup(out *assignment, g podSetGroup, sets []quota.Pods) bool {
	q := a.w.queue
	var all []quota.Request
	for _, i := range g.sets {
		for _, r := range sets[i].Requests {
			if at := slices.IndexFunc(all, func(known quota.Request) bool { return known.Resource == r.Resource }); at >= 0 {
				all[at].Amount = all[at].Amount.Add(r.Amount)
			} else {
				all = append(all, r)
			}
		}
	}
	quota.SortRequests(all)
	choices := map[corev1.ResourceName]*choice{}
	var reasons []Reason
	failed := false
	for _, r := range all {
		if q.group(r.Resource) == nil && (r.Amount == 0 || a.state.config.IgnoreUndeclared && a.state.config.gate("QuotaCheckStrategy")) || choices[r.Resource] != nil {
			continue
		}
		found, why, err := a.search(g.sets, all, r.Resource, out.used)
		if err || len(found) == 0 {
			choices, reasons, failed = nil, why, err
			break
		}
		for name, c := range found {
			choices[name] = c
		}
		reasons = append(reasons, why...)
	}
	complete := true
	for _, i := range g.sets {
		set := assignedSet{Pods: sets[i], choices: map[corev1.ResourceName]*choice{}, failed: failed}
		set.reasons = slices.Clone(reasons)
		for j := range set.reasons {
			set.reasons[j].PodSet, set.reasons[j].ClusterQueue = set.Name, a.w.queue.Name
		}
		tried := map[corev1.ResourceName]int{}
		for _, r := range set.Requests {
			c := choices[r.Resource]
			if c == nil {
				continue
			}
			set.choices[r.Resource], tried[r.Resource] = c, c.tried
			out.level = max(out.level, c.level)
			fr := quota.FlavorResource{Flavor: c.flavor, Resource: r.Resource}
			out.used[fr] = out.used[fr].Add(r.Amount)
		}
		out.sets, out.tried = append(out.sets, set), append(out.tried, tried)
		complete = complete && !failed && (len(set.Requests) == 0 || len(set.choices) > 0)
	}
	return complete
}

// search looks for a flavor for the resources of the group that covers one of them.
func (a *assigner) search(sets []int, all []quota.Request, name corev1.ResourceName, used quota.Amounts) (best map[corev1.ResourceName]*choice, reasons []Reason, failed bool) {
	q := a.w.queue
	g := q.group(name)
	if g == nil {
		return nil, []Reason{{Code: ResourceUnavailable, Resource: name, Message: fmt.Sprintf("resource %s unavailable in ClusterQueue", name)}}, false
	}
	first, last := 0, -1
	if sets[0] < len(a.w.tried) {
		if tried, ok := a.w.tried[sets[0]][name]; ok {
			first = tried + 1
		}
	}
	bestMode := quota.Mode{Fit: quota.NoFit, Level: math.MaxInt}
	for i := first; i < len(g.flavors); i++ {
		last = i
		flavor := g.flavors[i]
		if why, err := a.flavorMismatch(flavor, sets, g); why != nil {
			reasons = append(reasons, *why)
			if err {
				return nil, reasons, true
			}
			continue
		}
		choices, whole := map[corev1.ResourceName]*choice{}, quota.Mode{Fit: quota.FitsNow, Level: 0}
		for _, r := range all {
			if !g.covered[r.Resource] {
				continue
			}
			m, why := a.quotaFor(quota.FlavorResource{Flavor: flavor, Resource: r.Resource}, used, r.Amount)
			if why != nil {
				reasons = append(reasons, *why)
			}
			if whole.Better(m, &q.fungibility) {
				whole = m
			}
			if whole.Fit != quota.NoFit {
				choices[r.Resource] = &choice{flavor: flavor, fit: m.Fit, level: m.Level}
			}
		}
		if enough := !whole.Next(&q.fungibility); enough || whole.Better(bestMode, &q.fungibility) {
			best, bestMode = choices, whole
			if enough {
				break
			}
		}
	}
	for _, c := range best {
		if c.tried = last; last == len(g.flavors)-1 {
			c.tried = -1
		}
	}
	if bestMode.Fit == quota.FitsNow {
		reasons = nil
	}
	return best, reasons, false
}

// flavorMismatch says why pod sets cannot have a flavor, whatever its quota, or returns nil. The error means
// that an affinity cannot be read.
func (a *assigner) flavorMismatch(name string, sets []int, g *group) (*Reason, bool) {
	flavor := a.state.flavors[name]
	if flavor == nil {
		return &Reason{Code: FlavorNotFound, Flavor: name, Message: fmt.Sprintf("flavor %s not found", name)}, false
	}
	for _, i := range sets {
		set := &a.w.Object.Spec.PodSets[i]
		if a.state.config.gate("TopologyAwareScheduling") {
			if why := a.topologyMismatch(set, flavor, g); why != "" {
				return &Reason{Code: TopologyMismatch, Flavor: name, Message: why}, false
			}
		}
		spec := &set.Template.Spec
		taint, found := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), flavor.Spec.NodeTaints, slices.Concat(spec.Tolerations, flavor.Spec.Tolerations),
			func(t *corev1.Taint) bool {
				return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
			}, true)
		if found {
			return &Reason{Code: UntoleratedTaint, Flavor: name, Name: taint.ToString(), Message: fmt.Sprintf("untolerated taint %s in flavor %s", taint, name)}, false
		}
		ok, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: ofFlavor(spec, flavor.Spec.NodeLabels)}).
			Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: flavor.Spec.NodeLabels}})
		if err != nil {
			return &Reason{Code: NodeAffinityMismatch, Flavor: name, Message: err.Error()}, true
		}
		if !ok {
			return &Reason{Code: NodeAffinityMismatch, Flavor: name, Message: fmt.Sprintf("flavor %s doesn't match node affinity", name)}, false
		}
	}
	return nil, false
}

func asksTopology(r *kueuev1beta2.PodSetTopologyRequest) bool {
	return r != nil && (r.Unconstrained != nil || r.Required != nil || r.Preferred != nil || r.PodSetSliceRequiredTopology != nil ||
		r.PodSetSliceSize != nil || len(r.PodsetSliceRequiredTopologyConstraints) > 0)
}

// topologyMismatch says why a flavor with a topology, or without one, is not for a pod set; else "".
func (a *assigner) topologyMismatch(set *kueuev1beta2.PodSet, flavor *kueuev1beta2.ResourceFlavor, g *group) string {
	switch asks := asksTopology(set.TopologyRequest); {
	case !asks && !a.w.queue.topologies && flavor.Spec.TopologyName != nil:
		return fmt.Sprintf("Flavor %q supports only TopologyAwareScheduling", flavor.Name)
	case asks && flavor.Spec.TopologyName == nil:
		for resource := range resourcehelper.PodRequests(&corev1.Pod{Spec: set.Template.Spec}, resourcehelper.PodResourcesOptions{}) {
			if g.covered[resource] {
				return fmt.Sprintf("Flavor %q does not support TopologyAwareScheduling", flavor.Name)
			}
		}
	}
	return ""
}

// ofFlavor leaves of what a pod says about nodes only what is about the labels of a flavor.
func ofFlavor(spec *corev1.PodSpec, nodeLabels map[string]string) (out corev1.PodSpec) {
	for key, value := range spec.NodeSelector {
		if _, ok := nodeLabels[key]; ok {
			if out.NodeSelector == nil {
				out.NodeSelector = map[string]string{}
			}
			out.NodeSelector[key] = value
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return out
	}
	var terms []corev1.NodeSelectorTerm
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var kept []corev1.NodeSelectorRequirement
		for _, r := range term.MatchExpressions {
			if _, ok := nodeLabels[r.Key]; ok {
				kept = append(kept, r)
			}
		}
		if len(kept) == 0 {
			return out // one of the alternatives says nothing about the flavor
		}
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: kept})
	}
	if len(terms) > 0 {
		out.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	return out
}

// quotaFor is how well a request fits into the quota of a flavor, besides what earlier pod sets use of it.
func (a *assigner) quotaFor(fr quota.FlavorResource, used quota.Amounts, asked Amount) (quota.Mode, *Reason) {
	n := a.w.queue.Node
	value, free, most := used[fr].Add(asked), max(0, n.Free(fr)), n.Most(fr)
	text := func(x Amount) string { return a.state.Text(fr.Resource, x) }
	if value > most {
		return quota.Mode{Fit: quota.NoFit, Level: 0}, &Reason{Code: InsufficientQuota, Flavor: fr.Flavor, Resource: fr.Resource, Needed: value.Sub(most), Message: fmt.Sprintf(
			"insufficient quota for %s in flavor %s, previously considered podsets requests (%s) + current podset request (%s) > maximum capacity (%s)",
			fr.Resource, fr.Flavor, text(used[fr]), text(asked), text(most))}
	}
	if value <= free {
		level, _ := n.Level(fr, value)
		return quota.Mode{Fit: quota.FitsNow, Level: level}, nil
	}
	return a.FitEvicting(a.w.Workload, fr, value), &Reason{Code: InsufficientUnusedQuota, Flavor: fr.Flavor, Resource: fr.Resource, Needed: value.Sub(free), Message: fmt.Sprintf(
		"insufficient unused quota for %s in flavor %s, %s more needed", fr.Resource, fr.Flavor, text(value.Sub(free)))}
}

// Text is an amount as Kueue writes it.
func (s *State) Text(name corev1.ResourceName, a Amount) string {
	return a.TextIn(name, s.binary[name])
}
