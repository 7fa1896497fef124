package scores

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareInterPodAffinity is the plugin InterPodAffinity: it is good to be near pods that the pod would like
// near it, or that would like, or even have, to be near it, and bad to be near others.
func prepareInterPodAffinity(s *Scorer) (part, []filters.Doubt) {
	own, err := filters.Preferences(s.pod)
	if err != nil {
		s.fail(fmt.Sprintf("a preferred term of the pod's affinity to others cannot be read: %v", err))
		return nil, nil
	}
	required, onlyOwn := s.profile.Neighbours()
	if onlyOwn && len(own) == 0 {
		return nil, nil
	}
	if unseen := s.index.Unseen(filters.InterPodAffinity, "one of the others could like to be near this one"); len(unseen) > 0 {
		return nil, unseen
	}
	p := &interPodAffinity{own: own, required: required, pod: s.pod, namespaces: s.snapshot().Around().Namespaces}
	if like := partLike[*interPodAffinity](s); like != nil && p.like(like) {
		p.on, p.unsure = like.on, like.unsure
		shared := true
		for _, at := range s.changed {
			now := p.likings(s, at)
			if len(now)+len(p.on[at]) == 0 {
				continue
			}
			if shared {
				p.on, shared = slices.Clone(p.on), false
			}
			p.on[at] = now
		}
	} else {
		p.on = make([][]liking, len(s.nodes))
		for i := range s.nodes {
			p.on[i] = p.likings(s, i)
		}
	}
	if p.unsure {
		return nil, []filters.Doubt{{Plugin: filters.InterPodAffinity, Resource: inspect.Namespaces, Key: "namespaces", Message: "the labels of namespaces were not read, by which podAffinity selects"}}
	}
	p.sum(s)
	return p, nil
}

// interPodAffinity is how much the pod and pods on nodes like to be near each other.
type interPodAffinity struct {
	own        []filters.Preference
	required   int64 // what a required term of a pod on a node counts for
	pod        *corev1.Pod
	namespaces []*corev1.Namespace
	on         [][]liking // of each node of the index
	unsure     bool       // it is not known of some pods whether they count
	near       map[string]map[string]int64
}

// liking is how much is added for nodes that have a label in common with the one on which pods are.
type liking struct {
	key    string
	weight int64
}

// like reports whether nodes with the same pods get the same.
func (p *interPodAffinity) like(other *interPodAffinity) bool {
	return p.required == other.required && p.pod.Namespace == other.pod.Namespace && slices.Equal(p.namespaces, other.namespaces) &&
		sameLabels(p.pod.Labels, other.pod.Labels) && filters.SamePreferences(p.own, other.own)
}

func sameLabels(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// likings are those of a node of the index.
func (p *interPodAffinity) likings(s *Scorer, at int) (out []liking) {
	n := s.nodes[at]
	if len(p.own) > 0 {
		for pod := range n.Pods() {
			for i := range p.own {
				out = p.add(out, s, &p.own[i], pod, false)
			}
		}
	}
	n.Liking(func(_ *corev1.Pod, theirs []filters.Preference) {
		for i := range theirs {
			out = p.add(out, s, &theirs[i], p.pod, true)
		}
	})
	return out
}

// add counts a term, of the pod or of one on a node, if it selects the other one.
func (p *interPodAffinity) add(to []liking, s *Scorer, term *filters.Preference, pod *corev1.Pod, theirs bool) []liking {
	weight := term.Weight
	if term.Required {
		weight *= p.required
	}
	if weight == 0 {
		return to
	}
	selects, known := s.index.Selects(term, pod, theirs)
	p.unsure = p.unsure || !known
	if !selects {
		return to
	}
	key := term.TopologyKey()
	for i := range to {
		if to[i].key == key {
			to[i].weight += weight
			return to
		}
	}
	return append(to, liking{key, weight})
}

// sum adds up what is on nodes that have a label in common.
func (p *interPodAffinity) sum(s *Scorer) {
	p.near = map[string]map[string]int64{}
	for at, likings := range p.on {
		for _, l := range likings {
			value, ok := s.nodes[at].Object().Labels[l.key]
			if !ok {
				continue
			}
			if p.near[l.key] == nil {
				p.near[l.key] = map[string]int64{}
			}
			p.near[l.key][value] += l.weight
		}
	}
}

func (p *interPodAffinity) raw(nodes *field, out []int64) {
	clear(out)
	for key, values := range p.near {
		for i, n := range nodes.nodes {
			if value, ok := n.Object().Labels[key]; ok {
				out[i] += values[value]
			}
		}
	}
}

func (p *interPodAffinity) normalize(scores []int64) {
	least, largest := slices.Min(scores), slices.Max(scores)
	for i, score := range scores {
		if scores[i] = 0; largest > least {
			scores[i] = int64(most * (float64(score-least) / float64(largest-least)))
		}
	}
}
