package whatif

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
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

// DoubtsOf returns what is not known, each once, in a fixed order.
func DoubtsOf(answers []Answer) []string {
	var out []string
	for i := range answers {
		for n := range answers[i].Filtered {
			for k := range answers[i].Filtered[n].Doubts {
				if text := explain.DoubtRemark(&answers[i].Filtered[n].Doubts[k]); !slices.Contains(out, text) {
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
