package filters

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// answer is how a claim or a pod fares; worse is more.
type answer int

const (
	fits answer = iota
	doubtful
	refused
)

// volumeMatch is how the scheduler gives volumes that there are to the claims of a pod on a node: to the
// smallest claim first, each time the smallest volume that suits. Which of several volumes of that size it
// takes is chance, so all are tried.
type volumeMatch struct {
	claims []*waitingClaim // sorted
	// otherwise is how each claim fares that gets none of the volumes.
	otherwise []answer
	node      *nodeInfo
	groups    []volumeGroup // sorted by size
	used      []int         // how many of each group are given away

	given   []*corev1.PersistentVolume // to each claim so far, nil for none
	steps   int
	results [refused + 1]bool
	// failed are the claims that are refused in some result, first is what is given in the first result.
	failed []bool
	first  []*corev1.PersistentVolume
}

// volumeGroup are volumes of one size among which no claim of the pod makes a difference.
type volumeGroup struct {
	size    resource.Quantity
	suits   uint64 // a bit for each claim
	unsaid  bool   // whether they are available is not said
	volumes []*corev1.PersistentVolume
}

// mostMatched is the number of claims of a pod for which volumes that there are can be told apart.
const mostMatched = 64

// maxMatchSteps bounds the search for all ways in which volumes can be given. Only pods with many claims
// reach it.
const maxMatchSteps = 4096

// run finds all results.
func (m *volumeMatch) run() {
	m.given, m.used = make([]*corev1.PersistentVolume, len(m.claims)), make([]int, len(m.groups))
	if m.failed == nil {
		m.failed = make([]bool, len(m.claims))
	}
	m.from(0)
}

// from finds all results after some claims have been served.
func (m *volumeMatch) from(i int) {
	if m.steps++; m.steps > maxMatchSteps {
		m.results[doubtful] = true
		return
	}
	if i == len(m.claims) {
		m.finish()
		return
	}
	if own := m.reserved(i); len(own) > 0 {
		for _, pv := range own {
			if !nodeReaches(pv, m.node) {
				pv = nil // no other volume is looked for
			}
			m.give(i, pv)
		}
		return
	}
	none := true
	var size resource.Quantity
	for g := range m.groups {
		group := &m.groups[g]
		if group.suits>>i&1 == 0 || m.used[g] == len(group.volumes) || !none && group.size.Cmp(size) != 0 {
			continue
		}
		none, size = false, group.size
		m.used[g]++
		m.give(i, group.volumes[m.used[g]-1])
		m.used[g]--
	}
	if none {
		m.give(i, nil)
	}
}

func (m *volumeMatch) give(i int, pv *corev1.PersistentVolume) {
	m.given[i] = pv
	m.from(i + 1)
}

// reserved are the volumes that are reserved for a claim and not given to it already: a pod may have a claim
// twice.
func (m *volumeMatch) reserved(i int) []*corev1.PersistentVolume {
	var out []*corev1.PersistentVolume
	for _, pv := range m.claims[i].prebound {
		if !slices.Contains(m.given[:i], pv) {
			out = append(out, pv)
		}
	}
	return out
}

// finish adds a result.
func (m *volumeMatch) finish() {
	worst := fits
	for i, pv := range m.given {
		if pv == nil {
			worst = max(worst, m.otherwise[i])
			m.failed[i] = m.failed[i] || m.otherwise[i] == refused
		}
	}
	m.results[worst] = true
	if m.first == nil {
		m.first = slices.Clone(m.given)
	}
}

// answer is what holds in all results.
func (m *volumeMatch) answer() answer {
	switch m.results {
	case [...]bool{fits: true, doubtful: false, refused: false}:
		return fits
	case [...]bool{fits: false, doubtful: false, refused: true}:
		return refused
	}
	return doubtful
}

// groupVolumes puts volumes together that are alike to all claims, sorted by size.
func groupVolumes(claims []*waitingClaim, volumes []*corev1.PersistentVolume) []volumeGroup {
	var groups []volumeGroup
	for _, pv := range volumes {
		g := volumeGroup{size: pv.Spec.Capacity[corev1.ResourceStorage]}
		for i, claim := range claims {
			if classOfVolume(pv) == claim.class.Name && claim.suited(pv) {
				g.suits |= 1 << i
				g.unsaid = claim.unsaid(pv)
			}
		}
		if g.suits != 0 {
			g.volumes = []*corev1.PersistentVolume{pv}
			groups = append(groups, g)
		}
	}
	return mergeGroups(groups)
}

// mergeGroups sorts groups and puts those together that differ in nothing but their volumes.
func mergeGroups(groups []volumeGroup) []volumeGroup {
	order := func(a, b volumeGroup) int {
		return cmp.Or(a.size.Cmp(b.size), cmp.Compare(a.suits, b.suits), cmp.Compare(boolInt(a.unsaid), boolInt(b.unsaid)))
	}
	slices.SortStableFunc(groups, func(a, b volumeGroup) int {
		return cmp.Or(order(a, b), cmp.Compare(a.volumes[0].Name, b.volumes[0].Name))
	})
	var out []volumeGroup
	for begin, end := 0, 0; begin < len(groups); begin = end {
		var volumes [][]*corev1.PersistentVolume
		for ; end < len(groups) && order(groups[begin], groups[end]) == 0; end++ {
			volumes = append(volumes, groups[end].volumes)
		}
		g := groups[begin]
		if len(volumes) > 1 {
			g.volumes = slices.Concat(volumes...)
		}
		out = append(out, g)
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nodeReaches reports whether a node matches the node affinity of a volume.
func nodeReaches(pv *corev1.PersistentVolume, n *nodeInfo) bool {
	required := requiredNodes(pv)
	return required == nil || reaches(nodeaffinity.NewLazyErrorNodeSelector(required), labelsOnly(n))
}
