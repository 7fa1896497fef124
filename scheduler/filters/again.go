package filters

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// specPart is a part of a pod's spec, or several. Most what-if questions change one of them.
type specPart uint8

const (
	partContainers specPart = 1 << iota
	partVolumes
	partTolerations
	partNode // node selector and node affinity
	partNeighbours
	partSpread
	partRest // of the pod, which every plugin may read
	partEnd
)

// of returns a part of a pod, to be compared.
func (s specPart) of(pod *corev1.Pod) any {
	spec := &pod.Spec
	switch s {
	case partContainers:
		return [][]corev1.Container{spec.Containers, spec.InitContainers}
	case partVolumes:
		return spec.Volumes
	case partTolerations:
		return spec.Tolerations
	case partSpread:
		return spec.TopologySpreadConstraints
	}
	var near corev1.Affinity
	if spec.Affinity != nil {
		near = *spec.Affinity
	}
	switch s {
	case partNode:
		return corev1.PodSpec{NodeSelector: spec.NodeSelector, Affinity: &corev1.Affinity{NodeAffinity: near.NodeAffinity}}
	case partNeighbours:
		near.NodeAffinity = nil
		return near
	}
	rest := *pod
	rest.Spec.Containers, rest.Spec.InitContainers, rest.Spec.Volumes, rest.Spec.Tolerations = nil, nil, nil, nil
	rest.Spec.NodeSelector, rest.Spec.Affinity, rest.Spec.TopologySpreadConstraints = nil, nil, nil
	return rest
}

// differing returns the parts in which two pods differ, of some.
func differing(a, b *corev1.Pod, of specPart) specPart {
	var out specPart
	for s := specPart(1); s < partEnd; s <<= 1 {
		if of&s != 0 && !equality.Semantic.DeepEqual(s.of(a), s.of(b)) {
			out |= s
		}
	}
	return out
}

// statement is what a plugin said of a pod before it was asked about nodes.
type statement struct {
	pod        *corev1.Pod
	differs    specPart // the parts in which the pod differs from the first of its kin
	check      check
	everywhere Outcome
}

// kin are pods that differ a little, in one index: what plugins said of each of them, by the index of the
// plugin.
type kin struct {
	first      *corev1.Pod
	mu         sync.Mutex
	statements [][]statement
}

func newKin(first *corev1.Pod) *kin {
	return &kin{first: first, statements: make([][]statement, len(plugins))}
}

// maxKin is how many statements of a plugin are remembered.
const maxKin = 32

// Again prepares another pod in the same index. What plugins know of a pod that was prepared so before, and
// that does not differ in what they read, is taken over.
func (p *Prepared) Again(pod *corev1.Pod) *Prepared { return p.prepare(pod, p.kin) }

// differs are the parts in which a pod differs from the first.
func (k *kin) differs(pod *corev1.Pod) specPart {
	if pod == k.first {
		return 0
	}
	return differing(k.first, pod, partEnd-1)
}

// recall returns what a plugin said of a pod that does not differ from this one in what the plugin reads.
// differs are the parts in which this one differs from the first.
func (k *kin) recall(plugin int, pod *corev1.Pod, differs specPart) (statement, bool) {
	reads := plugins[plugin].reads
	if reads == 0 {
		return statement{}, false
	}
	reads |= partRest
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.statements[plugin] {
		if (a.differs^differs)&reads == 0 && differing(a.pod, pod, a.differs&reads) == 0 {
			return a, true
		}
	}
	return statement{}, false
}

func (k *kin) remember(plugin int, a statement) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if plugins[plugin].reads != 0 && len(k.statements[plugin]) < maxKin {
		k.statements[plugin] = append(k.statements[plugin], a)
	}
}

// shrinker is a check that can tell, from what it knows, what it would be without some pods.
type shrinker interface {
	// without returns the check of the pod in an index without pods that were in that of this check. It is
	// false if that has to be found out anew.
	without(p *Prepared, gone []*podInfo) (check, bool)
}

// Without returns the pod as it is once other pods have ended. It says what a pod would that is prepared in
// an index without these.
func (p *Prepared) Without(refs ...inspect.PodRef) *Prepared { return p.shrunk(nil, refs) }

// trial is what kube-scheduler does to find out whom to preempt: it takes all pods of lower priority away
// from a node, and gives back one after another. What it counts by then differs from what is there.
type trial struct {
	of    *Prepared // before
	lower []*corev1.Pod
	gone  []inspect.PodRef // of lower, those that it has not given back
}

// Tried is Without as kube-scheduler sees it on trial, when it has taken pods away from a node and given back
// all but some.
//
//   - A port of a pod that it took away is free, though a pod that stays has it, too (HostPortInfo.Remove).
//   - From the pods that are spread it subtracts also those that it has not counted (PodTopologySpread).
//   - Claims that serve only one pod have one user, and are known by their names alone (VolumeRestrictions).
func (p *Prepared) Tried(lower []*corev1.Pod, gone ...inspect.PodRef) *Prepared {
	return p.shrunk(&trial{of: p, lower: lower, gone: gone}, gone)
}

func (p *Prepared) shrunk(trial *trial, refs []inspect.PodRef) *Prepared {
	x, gone := p.without(refs)
	out := &Prepared{Index: x, Pod: p.Pod, trial: trial, profile: p.profile, kin: newKin(p.Pod), statements: make([]statement, len(plugins))}
	for i := range plugins {
		a, ok := p.statements[i], false
		if s, shrinks := a.check.(shrinker); shrinks && !x.snapshot.NodesAssumed() {
			a.check, ok = s.without(out, gone)
		} else if a.check == nil {
			ok = plugins[i].reads != 0 && a.everywhere.Passes() // with fewer pods there are no more rules
		}
		if !ok {
			if a.check, a.everywhere = plugins[i].prepare(out); out.profile != nil {
				a.check, a.everywhere = out.applied(plugins[i].name, a.check, a.everywhere)
			}
		}
		a.pod, a.differs = p.Pod, 0
		out.add(i, a)
	}
	if out.profile != nil {
		out.Everywhere.and(out.others())
	}
	return out
}

// without is an index without some pods, and those of them that are on nodes or wait for room. The snapshot
// still has them.
func (x *Index) without(refs []inspect.PodRef) (*Index, []*podInfo) {
	out := *x
	out.changed, out.nominated = x.cloneChanged(), maps.Clone(x.nominated)
	var gone []*podInfo
	for _, ref := range refs {
		pod, ok := x.snapshot.Pod(ref)
		if !ok {
			continue
		}
		out.gone = append(slices.Clip(out.gone), pod)
		if info := x.info(pod); info != nil && !slices.Contains(gone, info) {
			gone = append(gone, info)
		}
	}
	out.replace(gone, nil)
	out.neighbours = x.neighbours.without(gone)
	return &out, gone
}

// isGone reports whether a pod of the snapshot is not in the index.
func (x *Index) isGone(pod *corev1.Pod) bool { return slices.Contains(x.gone, pod) }
