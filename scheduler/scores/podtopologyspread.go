package scores

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// preparePodTopologySpread is the plugin PodTopologySpread: the fewer pods of a kind are in the zone of a
// node, on the node, or in another domain, the better. A pod without constraints is spread over nodes and
// zones.
func preparePodTopologySpread(s *Scorer) (part, []filters.Doubt) {
	p, doubts := s.spreadConstraints()
	if p == nil {
		return nil, doubts
	}
	if unseen := s.index.Unseen(filters.PodTopologySpread, "how they are spread is not known", s.pod.Namespace); len(unseen) > 0 {
		return nil, unseen
	}
	if like := partLike[*podTopologySpread](s); like != nil && like.reads == p.reads {
		p.takeOver(s, like)
	} else {
		p.count(s)
	}
	return p, doubts
}

// podTopologySpread are the constraints of a pod with the pods that each counts.
type podTopologySpread struct {
	reads       string // all of the pod that what is counted follows from
	constraints []softConstraint
	// all: nodes without the labels of all constraints get nothing, and pods on them do not count.
	all bool
	// counts are the pods that a constraint counts on a node, by constraint and node.
	counts [][]int32
	// domains are the values of the labels, as numbers, by constraint and node; see spreadNode.
	domains [][]spreadNode
	number  []map[string]int32
}

// spreadNode is what a constraint needs to know of a node.
type spreadNode struct {
	domain   int32 // the number of the value of the label. A node without the label has the value "".
	labelled bool
	all      bool // the node has the labels of all constraints, or need not have them
	counts   bool // pods on the node count
}

// softConstraint is a constraint that the scheduler would like to be met.
type softConstraint struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
}

func (c *softConstraint) perNode() bool { return c.TopologyKey == corev1.LabelHostname }

// spreadConstraints reads the constraints of the pod, or finds those that pods have which say nothing.
func (s *Scorer) spreadConstraints() (*podTopologySpread, []filters.Doubt) {
	p := &podTopologySpread{all: true}
	if len(s.pod.Spec.TopologySpreadConstraints) == 0 {
		constraints, system := s.profile.DefaultConstraints(corev1.ScheduleAnyway)
		selector, known := cmp.Or(s.options.Workloads, s.snapshot().Selecting()).Of(s.pod)
		switch {
		case len(constraints) == 0:
			return nil, nil
		case !known && s.mayBeSpread(constraints):
			return nil, []filters.Doubt{{Plugin: filters.PodTopologySpread, Key: "workloads", Message: "pods of one Service, ReplicaSet or StatefulSet are spread, and which pods those are is not known"}}
		case !known || selector.Empty():
			return nil, nil
		}
		p.all = !system
		for i := range constraints {
			p.constraints = append(p.constraints, softConstraint{constraints[i], selector})
		}
	}
	for i := range s.pod.Spec.TopologySpreadConstraints {
		raw := &s.pod.Spec.TopologySpreadConstraints[i]
		if raw.WhenUnsatisfiable != corev1.ScheduleAnyway {
			continue
		}
		selector, err := s.index.SpreadSelector(s.pod, raw)
		if err != nil {
			s.fail(fmt.Sprintf("the selector of a spread constraint of the pod cannot be read: %v", err))
			return nil, nil
		}
		p.constraints = append(p.constraints, softConstraint{*raw, selector})
	}
	if len(p.constraints) == 0 {
		return nil, nil
	}
	p.reads = s.readsOfSpread(p)
	return p, nil
}

// readsOfSpread says all that the counts follow from.
func (s *Scorer) readsOfSpread(p *podTopologySpread) string {
	affinity := s.pod.Spec.Affinity
	out := fmt.Sprintf("%q %v %v", s.pod.Namespace, p.all, s.pod.Spec.NodeSelector)
	for i := range p.constraints {
		c := &p.constraints[i]
		out += fmt.Sprintf("\n%q %d %q %t %v %v", c.TopologyKey, c.MaxSkew, c.selector, labels.MatchesNothing(c.selector), honours(c.NodeAffinityPolicy, true), honours(c.NodeTaintsPolicy, false))
		if honours(c.NodeTaintsPolicy, false) {
			out += fmt.Sprint(tolerationsOf(s.pod), s.pod.UID == "")
		}
	}
	if affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		out += fmt.Sprint(affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

// honours reports whether a policy wants only those nodes to count on which the pod could be. unsaid is what
// holds without one.
func honours(policy *corev1.NodeInclusionPolicy, unsaid bool) bool {
	if policy == nil {
		return unsaid
	}
	return *policy == corev1.NodeInclusionPolicyHonor
}

func (p *podTopologySpread) count(s *Scorer) {
	for range p.constraints {
		p.counts = append(p.counts, make([]int32, len(s.nodes)))
		p.domains = append(p.domains, make([]spreadNode, len(s.nodes)))
		p.number = append(p.number, map[string]int32{})
	}
	every := make([]int, len(s.nodes))
	for i := range every {
		every[i] = i
	}
	p.countOn(s, every)
}

// takeOver takes over what another part knows of nodes that have not changed.
func (p *podTopologySpread) takeOver(s *Scorer, like *podTopologySpread) {
	p.counts, p.domains, p.number = like.counts, like.domains, like.number
	if len(s.changed) == 0 {
		return
	}
	p.counts, p.domains, p.number = slices.Clone(p.counts), slices.Clone(p.domains), slices.Clone(p.number)
	for i := range p.constraints {
		p.counts[i], p.domains[i] = slices.Clone(p.counts[i]), slices.Clone(p.domains[i])
		number := make(map[string]int32, len(p.number[i]))
		for value, n := range p.number[i] {
			number[value] = n
		}
		p.number[i] = number
	}
	p.countOn(s, s.changed)
}

func (p *podTopologySpread) countOn(s *Scorer, nodes []int) {
	required := nodeaffinity.GetRequiredNodeAffinity(s.pod)
	for _, at := range nodes {
		n := s.nodes[at]
		all := !p.all || p.labelled(n.Object())
		match, _ := required.Match(n.Object())
		for i := range p.constraints {
			c := &p.constraints[i]
			value, ok := n.Object().Labels[c.TopologyKey]
			p.domains[i][at] = spreadNode{
				domain: p.numberOf(i, value), labelled: ok, all: all,
				counts: all && (match || !honours(c.NodeAffinityPolicy, true)) && (!honours(c.NodeTaintsPolicy, false) || s.toleratesTaints(n.Object())),
			}
			if p.counts[i][at] = 0; !s.index.CountsNone(c.selector) {
				p.counts[i][at] = countOn(n, c.selector, s.pod.Namespace)
			}
		}
	}
}

func (p *podTopologySpread) labelled(node *corev1.Node) bool {
	for i := range p.constraints {
		if _, ok := node.Labels[p.constraints[i].TopologyKey]; !ok {
			return false
		}
	}
	return true
}

func (p *podTopologySpread) numberOf(constraint int, value string) int32 {
	n, ok := p.number[constraint][value]
	if !ok {
		n = int32(len(p.number[constraint])) //nolint:gosec // no more than there are nodes
		p.number[constraint][value] = n
	}
	return n
}

// toleratesTaints reports whether the pod tolerates all taints that keep pods off a node.
func (s *Scorer) toleratesTaints(node *corev1.Node) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !s.index.Tolerates(s.pod, taint) {
			return false
		}
	}
	return true
}

// countOn counts the pods of a namespace on a node that a selector selects. Those that are being deleted do
// not count.
func countOn(n filters.Node, selector labels.Selector, namespace string) int32 {
	var out int32
	for pod := range n.Pods() {
		if pod.Namespace == namespace && pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels)) {
			out++
		}
	}
	return out
}

// ignored stands for a node that gets nothing because it has not all the labels.
const ignored = -1

func (p *podTopologySpread) raw(nodes *field, out []int64) {
	sums := make([]float64, len(out))
	for i := range p.constraints {
		p.add(i, nodes, sums)
	}
	for k, at := range nodes.at {
		out[k] = int64(math.Round(sums[k]))
		if !p.domains[0][at].all {
			out[k] = ignored
		}
	}
}

// add adds what a constraint makes of the nodes. The pods of a domain count the more, the more domains there
// are.
func (p *podTopologySpread) add(i int, nodes *field, sums []float64) {
	c := &p.constraints[i]
	inDomain, size := p.inDomains(i, nodes)
	weight := math.Log(float64(size + 2))
	for k, at := range nodes.at {
		d := &p.domains[i][at]
		if !d.labelled || !d.all {
			continue
		}
		count := int64(p.counts[i][at])
		if !c.perNode() {
			count = inDomain[d.domain]
		}
		sums[k] += float64(count)*weight + float64(c.MaxSkew-1)
	}
}

// inDomains counts the pods in each domain that one of the nodes is in, and these domains. A node without the
// label is in one too.
func (p *podTopologySpread) inDomains(i int, nodes *field) (pods []int64, size int) {
	domains := p.domains[i]
	if p.constraints[i].perNode() {
		for _, at := range nodes.at {
			if domains[at].all {
				size++
			}
		}
		return nil, size
	}
	there := make([]bool, len(p.number[i]))
	for _, at := range nodes.at {
		if d := &domains[at]; d.all && !there[d.domain] {
			there[d.domain] = true
			size++
		}
	}
	pods = make([]int64, len(there))
	for at := range domains {
		if d := &domains[at]; d.counts {
			pods[d.domain] += int64(p.counts[i][at])
		}
	}
	return pods, size
}

func (p *podTopologySpread) normalize(scores []int64) {
	least, largest := int64(math.MaxInt64), int64(0)
	for _, score := range scores {
		if score != ignored {
			least, largest = min(least, score), max(largest, score)
		}
	}
	for i, score := range scores {
		switch {
		case score == ignored:
			scores[i] = 0
		case largest == 0:
			scores[i] = most
		default:
			scores[i] = most * (largest + least - score) / largest
		}
	}
}
