package filters

import (
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// repellers are all repellers of an index. They are found when they are first needed.
type repellers struct {
	sync.Once
	all []*repeller
}

// repeller is a term of required anti-affinity with all pods on nodes that have it.
type repeller struct {
	*sharedTerm
	pods []placed
}

// sharedTerm is a term that many pods have, such as all of a Deployment. Terms with equal keys are equal.
type sharedTerm struct {
	podTerm
	key string
}

// knownTerms are the terms of a pod's required anti-affinity once they were read.
type knownTerms struct{ atomic.Pointer[[]*sharedTerm] }

// repelling returns the terms of required anti-affinity of all pods on nodes of an index, except for some: an
// index with more pods may be asked before the one without them, of which it shares the terms. The order says
// nothing.
func (n *neighbours) repelling(x *Index, except ...placed) []*repeller {
	n.repellers.Do(func() {
		if n.base != nil {
			n.repellers.all = append(slices.Clip(n.base.repelling(x, append(except, n.added...)...)), repellersOf(n.added)...)
			return
		}
		n.repellers.all = repellersOf(slices.DeleteFunc(x.repellent(), func(p placed) bool { return slices.Contains(except, p) }))
	})
	return n.repellers.all
}

// repellent are the pods on nodes that have anti-affinity.
func (x *Index) repellent() []placed {
	var out []placed
	for i := range x.nodes {
		out = append(out, x.at(i).repellent()...)
	}
	if x.snapshot.NodesAssumed() {
		for _, pods := range x.elsewhere {
			for _, pod := range pods {
				if len(antiAffinityTerms(pod.Pod)) > 0 {
					out = append(out, placed{pod, nil})
				}
			}
		}
	}
	return out
}

// repellent are the pods on the node that have anti-affinity.
func (n *nodeInfo) repellent() []placed {
	n.memo.repels.Do(func() {
		for _, pod := range n.pods {
			if len(antiAffinityTerms(pod.Pod)) > 0 {
				n.memo.repellent = append(n.memo.repellent, placed{pod, n.Node})
			}
		}
	})
	return n.memo.repellent
}

// repellersOf puts pods together that have the same terms.
func repellersOf(pods []placed) []*repeller {
	b := repellerBuilder{byTerm: map[*sharedTerm]*repeller{}}
	var unread []placed
	for _, p := range pods {
		if known := p.pod.repels.Load(); known != nil {
			b.add(p, *known)
		} else {
			unread = append(unread, p)
		}
	}
	if len(unread) > 0 {
		b.byKey = make(map[string]*sharedTerm, len(b.all))
		for term := range b.byTerm {
			b.byKey[term.key] = term
		}
	}
	for i, p := range unread {
		terms := &[]*sharedTerm{}
		if i > 0 && sameTerms(unread[i-1].pod.Pod, p.pod.Pod) {
			terms = unread[i-1].pod.repels.Load()
		} else {
			*terms = b.read(p.pod.Pod)
		}
		p.pod.repels.Store(terms)
		b.add(p, *terms)
	}
	return b.all
}

// sameTerms reports whether two pods share their terms in memory, as those of a server do that have the same.
func sameTerms(p, other *corev1.Pod) bool {
	return p.Spec.Affinity == other.Spec.Affinity && p.Namespace == other.Namespace && !uncreated(p) && !uncreated(other)
}

type repellerBuilder struct {
	all    []*repeller
	byTerm map[*sharedTerm]*repeller
	byKey  map[string]*sharedTerm
	key    []byte
}

func (b *repellerBuilder) add(p placed, terms []*sharedTerm) {
	for _, term := range terms {
		r := b.byTerm[term]
		if r == nil {
			r = &repeller{sharedTerm: term}
			b.byTerm[term] = r
			b.all = append(b.all, r)
		}
		r.pods = append(r.pods, p)
	}
}

// read reads the terms of a pod. As for the scheduler, a pod has none if one of them cannot be read.
func (b *repellerBuilder) read(pod *corev1.Pod) []*sharedTerm {
	raw := antiAffinityTerms(pod)
	out := make([]*sharedTerm, 0, len(raw))
	for i := range raw {
		b.key = appendTermKey(b.key[:0], pod, &raw[i])
		term := b.byKey[string(b.key)]
		if term == nil {
			t, err := newPodTerm(pod, &raw[i])
			if err != nil {
				return nil
			}
			term = &sharedTerm{podTerm: *t, key: string(b.key)}
			b.byKey[term.key] = term
		}
		out = append(out, term)
	}
	return out
}

// appendTermKey appends all that newPodTerm reads.
func appendTermKey(to []byte, pod *corev1.Pod, raw *corev1.PodAffinityTerm) []byte {
	to = appendText(to, raw.TopologyKey)
	to = appendSelectorKey(to, admitted(pod, raw))
	to = appendSelectorKey(to, raw.NamespaceSelector)
	if len(raw.Namespaces) == 0 && raw.NamespaceSelector == nil {
		return appendText(to, pod.Namespace)
	}
	for _, namespace := range raw.Namespaces {
		to = appendText(to, namespace)
	}
	return to
}

func appendSelectorKey(to []byte, selector *metav1.LabelSelector) []byte {
	if selector == nil {
		return append(to, '0', 0)
	}
	var room [4]string
	keys := room[:0]
	for key := range selector.MatchLabels {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		to = appendText(appendText(to, key), selector.MatchLabels[key])
	}
	to = append(to, '1', 0)
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		to = appendText(appendText(to, e.Key), string(e.Operator))
		for _, value := range e.Values {
			to = appendText(to, value)
		}
		to = append(to, '2', 0)
	}
	return append(to, '3', 0)
}

// appendText appends a text and an end, which no name or label holds.
func appendText(to []byte, text string) []byte { return append(append(append(to, '.'), text...), 0) }
