package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// maxCrowded is the number of nodes on which pods are looked for whose end would make room.
const maxCrowded = 8

// endPods proposes to end pods that take the room of the pod in question on a node, or to let them run
// elsewhere: of all nodes that come near, the pods that matter least.
func (s *search) endPods(ctx context.Context) {
	if s.Q.Pod == nil {
		return
	}
	var best *crowd
	tried := 0
	for _, b := range s.Q.NearSandboxes() {
		c := crowdOf(s.Q, b)
		if c == nil || tried == maxCrowded {
			continue
		}
		tried++
		if c.choose(ctx); len(c.chosen) > 0 && (best == nil || c.compare(best) < 0) {
			best = c
		}
	}
	if best == nil {
		return
	}
	if change := s.ending(best); s.fitsWithFewer(ctx, change.Edits) == "" {
		s.changes = append(s.changes, change)
	}
}

// crowd is the pods of a node, some of which are in the way, and those elsewhere that keep the pod in
// question away from it.
type crowd struct {
	q *whatif.Question
	b *whatif.Sandbox
	// pods are those that could end, the least important first.
	pods   []filters.Occupant
	chosen []filters.Occupant
	// lacking are the resources of which the node has too little left.
	lacking []corev1.ResourceName
	// wide says that it is also about pods on other nodes, so that it may be of no help if pods only leave
	// the node.
	wide bool
}

// crowdOf returns the pods of a node that could end, if what refuses the pod in question is about other pods.
// It is nil otherwise.
func crowdOf(q *whatif.Question, b *whatif.Sandbox) *crowd {
	filtered := q.Filtered()
	o := filtered.On(inspect.NodeName(b.Node.Name))
	c := &crowd{q: q, b: b}
	about := false
	for i := range o.Refusals {
		r := &o.Refusals[i]
		switch r.Code {
		case filters.InsufficientResources:
			c.lacking = append(c.lacking, r.Resource)
			about = about || r.Requested <= r.Allocatable
		case filters.TooManyPods, filters.PortInUse, filters.PodAntiAffinity, filters.VolumeInUse, filters.VolumeLimit:
			about = true
		case filters.SpreadConstraint:
			about = about || !r.Unresolvable
		}
		c.wide = c.wide || anywhere(r)
	}
	if !about {
		return nil
	}
	c.add(filtered.Occupants(inspect.NodeName(b.Node.Name)))
	return c
}

// anywhere reports whether pods are in the way on other nodes, too: on all of a rack or zone, or wherever
// they have the volume.
func anywhere(r *filters.Refusal) bool {
	return r.Topology != nil && r.Topology.Key != corev1.LabelHostname || r.Code == filters.VolumeInUse && r.Object.Kind == "PersistentVolumeClaim"
}

// add adds pods that could end.
func (c *crowd) add(pods []filters.Occupant) {
	for _, p := range pods {
		supposed := c.q.SupposedPods[inspect.PodRef{Namespace: p.Namespace, Name: p.Name}]
		known := slices.ContainsFunc(c.pods, func(o filters.Occupant) bool { return o.Pod == p.Pod })
		if !supposed && !known && !suppose.BoundToNode(p.Pod) {
			c.pods = append(c.pods, p)
		}
	}
	slices.SortStableFunc(c.pods, func(x, y filters.Occupant) int {
		return cmp.Or(
			cmp.Compare(corev1helpers.PodPriority(x.Pod), corev1helpers.PodPriority(y.Pod)),
			cmp.Compare(takes(&y, c.lacking), takes(&x, c.lacking)),
		)
	})
}

// maxElsewhere is how often pods on other nodes are looked for that are still in the way without those found
// before.
const maxElsewhere = 8

// addElsewhere adds the pods on other nodes that are still in the way when those of this one have ended.
func (c *crowd) addElsewhere(ctx context.Context) {
	s := c.q.Cluster.Snapshot()
	for range maxElsewhere {
		var found []filters.Occupant
		for _, r := range c.b.Draft(ctx, []whatif.Edit{endingOf(c.pods)}).RefusalsOn(inspect.NodeName(c.b.Node.Name)) {
			if !anywhere(&r) {
				continue
			}
			for _, ref := range r.Pods {
				if pod, ok := s.Pod(ref); ok && pod.Spec.NodeName != "" {
					found = append(found, filters.Occupant{Pod: pod})
				}
			}
		}
		before := len(c.pods)
		if c.add(found); len(c.pods) == before {
			return
		}
	}
}

// takes is how much a pod takes of resources, of the first that it takes any of.
func takes(o *filters.Occupant, of []corev1.ResourceName) int64 {
	for _, name := range of {
		for _, a := range o.Requests {
			if a.Resource == name && a.Value > 0 {
				return a.Value
			}
		}
	}
	return 0
}

// choose finds pods whose end makes room: as few important ones as possible, and none in vain.
func (c *crowd) choose(ctx context.Context) {
	enough := func(pods []filters.Occupant) bool {
		return c.b.Try(ctx, []whatif.Edit{endingOf(pods)}) == whatif.Fits
	}
	if c.wide {
		c.addElsewhere(ctx)
	}
	if !enough(c.pods) && !c.spareCompany(enough) {
		return
	}
	low, high := 0, len(c.pods) // the first `high` are enough
	for low < high {
		if middle := (low + high) / 2; enough(c.pods[:middle]) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	c.chosen = slices.Clone(c.pods[:high])
	for i := len(c.chosen) - 1; i >= 0; i-- { // the most important are spared first
		fewer := slices.Delete(slices.Clone(c.chosen), i, i+1)
		if enough(fewer) && len(fewer) > 0 {
			c.chosen = fewer
		}
	}
}

// spareCompany leaves out one pod, the most important one without which the others are enough: one that the
// pod in question has to be with. It reports whether there is one.
func (c *crowd) spareCompany(enough func([]filters.Occupant) bool) bool {
	affinity := c.q.Pod.Spec.Affinity
	if affinity == nil || affinity.PodAffinity == nil || len(affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
		return false
	}
	for i := len(c.pods) - 1; i >= 0; i-- {
		others := slices.Delete(slices.Clone(c.pods), i, i+1)
		if enough(others) {
			c.pods = others
			return true
		}
	}
	return false
}

func endingOf(pods []filters.Occupant) whatif.EndPodsEdit {
	return whatif.EndPodsEdit{Pods: words.Each(pods, func(o filters.Occupant) inspect.PodRef {
		return inspect.PodRef{Namespace: o.Namespace, Name: o.Name}
	})}
}

// compare orders choices: that which ends the least important pods, and the fewest, comes first.
func (c *crowd) compare(other *crowd) int {
	return cmp.Or(
		cmp.Compare(c.highest(), other.highest()),
		cmp.Compare(len(c.chosen), len(other.chosen)),
	)
}

// highest is the highest priority of the pods that were chosen.
func (c *crowd) highest() int32 {
	highest := corev1helpers.PodPriority(c.chosen[0].Pod)
	for _, o := range c.chosen {
		highest = max(highest, corev1helpers.PodPriority(o.Pod))
	}
	return highest
}

// preempts reports whether the scheduler makes room on a node itself, and whether it is by these pods.
func (s *search) preempts(node inspect.NodeName, pods []inspect.PodRef) (itself, same bool) {
	p := s.preemption
	if p == nil || p.Outcome != explain.PreemptionPossible || !slices.Contains(p.Nodes, node) {
		return false, false
	}
	return true, p.Determined && p.Node == node && len(p.Victims) == len(pods) &&
		!slices.ContainsFunc(pods, func(pod inspect.PodRef) bool { return !slices.Contains(p.Victims, pod) })
}

// ending proposes to end the pods that were chosen.
func (s *search) ending(c *crowd) requirement.Change {
	e := endingOf(c.chosen)
	names := words.Each(e.Pods, inspect.PodRef.String)
	node := inspect.NodeName(c.b.Node.Name)
	change := requirement.Change{
		Kind: explain.MovePod, Edits: []whatif.Edit{e}, Node: node, Cost: requirement.CostPods + 10*len(e.Pods),
		Key: e.Key(), Pods: e.Pods,
		Message: fmt.Sprintf("end %s %s", words.Plural(len(names), "pod", "pods"), words.Shorten(names, 3)),
	}
	if !slices.ContainsFunc(c.chosen, func(o filters.Occupant) bool { return o.Spec.NodeName != string(node) }) {
		change.NamesNode, change.Message = true, change.Message+" on "+string(node)
	}
	if !c.wide {
		change.Message += fmt.Sprintf(", or let %s run elsewhere", words.Plural(len(names), "it", "them"))
	}
	itself, same := s.preempts(node, e.Pods)
	if change.Preempts = itself; itself {
		change.Message += "; kube-scheduler does so itself by preemption"
	}
	if itself && !same {
		change.Message += ", of these pods or others"
	}
	return change
}
