package whatif

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Filtered returns the pod of the question as the scheduler's other filters see it. It is nil if the question
// is not about a pod.
func (q *Question) Filtered() *filters.Prepared {
	if q.Pod == nil {
		return nil
	}
	if q.prepare == nil {
		q.prepare = &preparation{}
	}
	q.prepare.Do(func() { q.prepare.pod = q.Cluster.Filters().Prepare(q.Pod) })
	return q.prepare.pod
}

// filtered returns the pod of a draft as the filters see it once the pods have ended that the draft ends.
// With whole they see the snapshot of a cluster that was made of the whole snapshot of the question, if the
// draft changes more in it than pods and nodes; otherwise that of the question, with the pods and nodes that
// the draft changes.
func (d *Draft) filtered(whole bool) *filters.Prepared {
	var p *filters.Prepared
	switch {
	case whole && len(d.gates)+len(d.changes) > 0:
		p = d.Cluster.Filters().Prepare(d.pod)
	case len(d.around) > 0:
		p = d.q.inChanged(d)
	default:
		p = d.q.Filtered()
	}
	if d.pod != p.Pod {
		p = p.Again(d.pod)
	}
	if len(d.ended) == 0 {
		return p
	}
	return p.Without(slices.SortedFunc(maps.Keys(d.ended), comparePods)...)
}

// comparePods orders pods by namespace and name.
func comparePods(a, b inspect.PodRef) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// inChanged returns some pod prepared in the snapshot of the question with what a draft changes of nodes.
func (q *Question) inChanged(d *Draft) *filters.Prepared {
	key := strings.Join(d.aroundKeys(), "\n")
	q.Filtered() // which is there before any other
	q.prepare.mu.Lock()
	defer q.prepare.mu.Unlock()
	if p, ok := q.prepare.around[key]; ok {
		return p
	}
	before := q.Cluster.Filters()
	p := filters.NewIndex(before.Snapshot().With(d.changeAround), before).Prepare(d.pod)
	if q.prepare.around == nil {
		q.prepare.around = map[string]*filters.Prepared{}
	}
	q.prepare.around[key] = p
	return p
}

// RefusedBefore reports whether a filter refuses that the scheduler asks before it allocates devices. It then
// never gets to an error of the allocation.
func RefusedBefore(o *filters.Outcome) bool {
	return slices.ContainsFunc(o.Refusals, func(r filters.Refusal) bool { return r.Plugin != filters.NodeDeclaredFeatures })
}

// KeepsOut reports whether a refusal keeps the pod from a node whatever room is there. What devices the node
// has is of no interest then.
func KeepsOut(r *filters.Refusal) bool {
	switch r.Code {
	case filters.NodeMismatch, filters.NodeTainted, filters.Unschedulable:
		return true
	}
	return false
}

// refusalKey identifies the reason of a refusal.
func refusalKey(r *filters.Refusal) string {
	return string(r.Plugin) + " " + string(r.Code) + " " + r.Key
}

// keyOf identifies all reasons of an outcome.
func keyOf(o *filters.Outcome) string {
	var b strings.Builder
	for i := range o.Refusals {
		b.WriteString(refusalKey(&o.Refusals[i]) + "\n")
	}
	for i := range o.Doubts {
		b.WriteString("doubt " + string(o.Doubts[i].Plugin) + " " + o.Doubts[i].Key + "\n")
	}
	return b.String()
}

// ReasonOf is the reason for which nodes are refused. All refusals have the same key.
func ReasonOf(refusals []filters.Refusal) explain.Reason {
	r := &refusals[0]
	return explain.Reason{
		Code: allocator.Code(r.Code), Plugin: string(r.Plugin), Key: refusalKey(r), Found: foundOf(refusals), Message: filters.Summary(refusals),
	}
}

// foundOf distinguishes the numbers of refusals.
func foundOf(refusals []filters.Refusal) string {
	if refusals[0].Resource == "" {
		return ""
	}
	low, high := leftRange(refusals)
	return words.Key(low, high)
}

// leftRange is the smallest and the largest amount that is left of a resource.
func leftRange(refusals []filters.Refusal) (low, high int64) {
	for i := range refusals {
		left := refusals[i].Left()
		if i == 0 {
			low, high = left, left
		}
		low, high = min(low, left), max(high, left)
	}
	return low, high
}

// ReasonsOf are the reasons for which nodes are refused, in the order in which the scheduler asks its
// filters. Each node has the same reasons.
func ReasonsOf(outcomes []filters.Outcome) []explain.Reason {
	if len(outcomes) == 0 {
		return nil
	}
	var out []explain.Reason
	for i := range outcomes[0].Refusals {
		out = append(out, ReasonOf(words.Each(outcomes, func(o filters.Outcome) filters.Refusal { return o.Refusals[i] })))
	}
	return out
}

// DoubtRemark says what is not known because of a doubt.
func DoubtRemark(d *filters.Doubt) string { return fmt.Sprintf("%s: %s", d.Plugin, d.Message) }

// DoubtsOf returns what is not known, each once, in a fixed order.
func DoubtsOf(answers []Answer) []string {
	var out []string
	for i := range answers {
		for n := range answers[i].Filtered {
			for k := range answers[i].Filtered[n].Doubts {
				if text := DoubtRemark(&answers[i].Filtered[n].Doubts[k]); !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// changeAround is what a draft changes around the pod: nodes and other pods.
func (d *Draft) changeAround(o *inspect.Objects) {
	for _, key := range d.aroundKeys() {
		d.around[key](o)
	}
}
