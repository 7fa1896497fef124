package filters

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// preparePodTopologySpread is the plugin PodTopologySpread: with the pod, no zone, node or other domain may
// have too many pods of a kind compared to the domain with the fewest. Constraints that the scheduler would
// only like to be met refuse nothing. A pod without any may have those of its profile.
func preparePodTopologySpread(p *Prepared) (check, Outcome) {
	constraints, err := p.spreadConstraints()
	defaults, selector, known := p.snapshot.DefaultSpread(p.Pod)
	for i := range defaults {
		constraints = append(constraints, p.spreadConstraint(&defaults[i], -1-i, selector))
	}
	switch {
	case !known:
		return nil, doubt(Doubt{Plugin: PodTopologySpread, Key: "defaults", Message: "the profile of kube-scheduler spreads the pods of one Service, ReplicaSet or StatefulSet, and which pods those are is not known"})
	case err != nil:
		return nil, refuse(*err)
	case len(constraints) == 0:
		return nil, Outcome{}
	case p.snapshot.NodesAssumed():
		return nil, doubt(Doubt{Plugin: PodTopologySpread, Resource: inspect.Nodes, Key: "nodes", Message: "nodes were not read: how pods are spread over them is not known"})
	}
	c := &podTopologySpread{constraints: constraints}
	unseen := p.unseen(PodTopologySpread, "how they are spread is not known", p.Pod.Namespace)
	if unseen.Passes() {
		c.count(p)
	}
	return c, unseen
}

// podTopologySpread are the constraints of a pod, with the pods that they count.
type podTopologySpread struct {
	constraints []*spreadConstraint // at least one. If not all pods are known, nothing was counted.
}

// spreadConstraint is a constraint with the pods in each domain that a pod with it could be in.
type spreadConstraint struct {
	*corev1.TopologySpreadConstraint
	index      int // in the spec of the pod, or -1, -2, … for those of the profile
	selector   labels.Selector
	self       bool // the selector selects the pod that has the constraint
	none       bool // no pod on a node counts
	minDomains int
	domains    map[string]*crowd // by the value of the label
	of         []*crowd          // of each node that counts
	fewest     int
	fewestAt   string
	nowhere    *crowd // for nodes that are in no domain
	// fewer has the domains that have lost pods since, and moved says that the fewest are others for that.
	fewer map[string]*crowd
	moved bool
}

// spreadConstraints are the constraints of the pod that have to be met, or a refusal if one of them cannot be
// read.
func (p *Prepared) spreadConstraints() ([]*spreadConstraint, *Refusal) {
	var out []*spreadConstraint
	for i := range p.Pod.Spec.TopologySpreadConstraints {
		raw := &p.Pod.Spec.TopologySpreadConstraints[i]
		if raw.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := p.SpreadSelector(p.Pod, raw)
		if err != nil {
			name := constraintName(i)
			return nil, &Refusal{Plugin: PodTopologySpread, Code: SpreadConstraint, Key: name + " selector", Unresolvable: true, Index: i, Message: fmt.Sprintf("the selector of %s cannot be read: %v", name, err)}
		}
		out = append(out, p.spreadConstraint(raw, i, selector))
	}
	return out, nil
}

func (p *Prepared) spreadConstraint(raw *corev1.TopologySpreadConstraint, index int, selector labels.Selector) *spreadConstraint {
	c := &spreadConstraint{TopologySpreadConstraint: raw, index: index, selector: selector, minDomains: 1, domains: map[string]*crowd{}, nowhere: &crowd{}}
	if selector != nil {
		c.self, c.none = selector.Matches(labels.Set(p.Pod.Labels)), p.CountsNone(selector)
	}
	if raw.MinDomains != nil {
		c.minDomains = int(*raw.MinDomains)
	}
	return c
}

// SpreadSelector reads which pods a constraint of a pod counts.
func (x *Index) SpreadSelector(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) (labels.Selector, error) {
	source := c.LabelSelector
	if x.snapshot.Features().Enabled(inspect.GateMatchLabelKeysInPodTopologySpread) {
		source = withLabelKeys(source, c.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
	return metav1.LabelSelectorAsSelector(source)
}

// CountsNone reports whether constraints with a selector count no pod that is on a node: before 1.38 those
// with an empty one, although it selects all pods.
func (x *Index) CountsNone(selector labels.Selector) bool {
	return selector.Empty() && x.snapshot.Release().Modelled().Before(38, 0)
}

// withLabelKeys adds to a selector that labels have the values which the pod has, or other ones, as the API
// server does when it admits a pod. What it has added already is not added again.
func withLabelKeys(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, of map[string]string) *metav1.LabelSelector {
	if selector == nil || len(keys) == 0 {
		return selector // without a selector no pod is selected, whatever is added
	}
	out := *selector
	out.MatchExpressions = slices.Clone(out.MatchExpressions)
	for _, key := range keys {
		value, ok := of[key]
		added := slices.ContainsFunc(out.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == key && e.Operator == operator && len(e.Values) == 1 && e.Values[0] == value
		})
		if ok && !added {
			out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
	return &out
}

// count finds the pods of each domain. Only nodes with the labels of all constraints have a say.
func (c *podTopologySpread) count(p *Prepared) {
	affinity := nodeaffinity.GetRequiredNodeAffinity(p.Pod)
	for i, n := range p.nodes {
		if !c.labelled(n.Node) {
			continue
		}
		for _, constraint := range c.constraints {
			if constraint.honours(p, n.Node, affinity) {
				constraint.addDomain(i, n.Labels[constraint.TopologyKey], len(p.nodes))
			}
		}
	}
	own := func(namespace string) bool { return namespace == p.Pod.Namespace }
	p.eachPlaced(own, func(pod *podInfo, node string) {
		for _, constraint := range c.constraints {
			if constraint.counts(pod.Pod) {
				constraint.add(pod, p, node)
			}
		}
	})
	for _, constraint := range c.constraints {
		constraint.findFewest()
	}
}

func (c *podTopologySpread) labelled(node *corev1.Node) bool {
	for _, constraint := range c.constraints {
		if _, ok := node.Labels[constraint.TopologyKey]; !ok {
			return false
		}
	}
	return true
}

// honours reports whether a node counts: as far as the constraint wants that, only nodes do that the pod
// could run on by its node affinity and its tolerations.
func (c *spreadConstraint) honours(p *Prepared, node *corev1.Node, affinity nodeaffinity.RequiredNodeAffinity) bool {
	if policy := c.NodeAffinityPolicy; policy == nil || *policy == corev1.NodeInclusionPolicyHonor {
		if match, err := affinity.Match(node); err != nil || !match {
			return false
		}
	}
	if policy := c.NodeTaintsPolicy; policy == nil || *policy != corev1.NodeInclusionPolicyHonor {
		return true
	}
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		keepsAway := taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
		if keepsAway && !p.tolerates(taint) && !toleratedOnceCreated(p.Pod, taint) {
			return false
		}
	}
	return true
}

// addDomain adds the domain of a node that counts.
func (c *spreadConstraint) addDomain(node int, value string, nodes int) {
	if c.of == nil {
		c.of = make([]*crowd, nodes)
	}
	in := c.domains[value]
	if in == nil {
		in = &crowd{}
		c.domains[value] = in
	}
	c.of[node] = in
}

// add adds a pod that counts, if its node does.
func (c *spreadConstraint) add(pod *podInfo, p *Prepared, node string) {
	if i, ok := p.position[node]; ok && c.of != nil && c.of[i] != nil {
		c.of[i].pods = append(c.of[i].pods, pod)
	}
}

// counts reports whether a pod on a node counts. Pods that are being deleted do not, nor does any where none
// counts. But neither is asked of pods that are only expected on the node.
func (c *spreadConstraint) counts(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" && (pod.DeletionTimestamp != nil || c.none) {
		return false
	}
	return c.selector.Matches(labels.Set(pod.Labels))
}

func (c *spreadConstraint) findFewest() {
	if len(c.domains) < c.minDomains || len(c.domains) == 0 {
		return // 0, and nowhere
	}
	first := true
	for value, in := range c.domains {
		if n := len(in.pods); first || n < c.fewest || n == c.fewest && value < c.fewestAt {
			c.fewest, c.fewestAt, first = n, value, false
		}
	}
}

func (c *podTopologySpread) without(p *Prepared, gone []*podInfo) (check, bool) {
	out := &podTopologySpread{constraints: make([]*spreadConstraint, len(c.constraints))}
	for i, constraint := range c.constraints {
		out.constraints[i] = constraint.without(p, gone)
	}
	return out, true
}

// without is the constraint without some pods.
func (c *spreadConstraint) without(p *Prepared, gone []*podInfo) *spreadConstraint {
	out := *c
	out.fewer = maps.Clone(c.fewer)
	for _, pod := range gone {
		i, known := p.position[pod.Spec.NodeName]
		if !known || pod.Namespace != p.Pod.Namespace || c.of == nil || c.of[i] == nil {
			continue
		}
		value := p.at(i).Labels[c.TopologyKey]
		switch before := out.in(value); {
		case c.counts(pod.Pod):
			out.lose(value, before.without([]*podInfo{pod}))
		case p.trial != nil && c.selector.Matches(labels.Set(pod.Labels)):
			out.lose(value, &crowd{pods: before.pods, maybe: before.maybe, lacks: before.lacks + 1})
		}
	}
	return &out
}

// lose replaces the pods of a domain by fewer ones.
func (c *spreadConstraint) lose(value string, after *crowd) {
	if c.fewer == nil {
		c.fewer = map[string]*crowd{}
	}
	c.fewer[value] = after
	counted := len(c.domains) > 0 && len(c.domains) >= c.minDomains
	if n := after.size(); counted && (n < c.fewest || n == c.fewest && value < c.fewestAt) {
		c.fewest, c.fewestAt, c.moved = n, value, true
	}
}

// in returns the pods of a domain, or nil.
func (c *spreadConstraint) in(value string) *crowd {
	if out, ok := c.fewer[value]; ok {
		return out
	}
	return c.domains[value]
}

func (c *podTopologySpread) on(n *nodeInfo) Outcome {
	var out Outcome
	for _, constraint := range c.constraints {
		value, ok := n.Labels[constraint.TopologyKey]
		switch {
		case !ok:
			out.Refusals = joined(out.Refusals, constraint.unlabelled())
		case constraint.skew(value) > int(constraint.MaxSkew):
			out.Refusals = joined(out.Refusals, constraint.crowded(value))
		}
	}
	return out
}

// skew is by how much a domain would have more pods than that with the fewest.
func (c *spreadConstraint) skew(value string) int {
	out := -c.fewest
	if in := c.in(value); in != nil {
		out += in.size()
	}
	if c.self {
		out++
	}
	return out
}

func (c *spreadConstraint) unlabelled() []Refusal {
	return c.nowhere.refuse(func() Refusal {
		return topologyRefusal(Refusal{
			Plugin: PodTopologySpread, Code: SpreadConstraint, Key: constraintName(c.index) + " label", Unresolvable: true, Index: c.index,
			Topology: &Topology{Key: c.TopologyKey},
		})
	})
}

// crowded is the refusal of a domain.
func (c *spreadConstraint) crowded(value string) []Refusal {
	in := c.in(value)
	if in == nil || c.moved {
		in = &crowd{pods: in.members()}
	}
	return in.refuse(func() Refusal {
		return topologyRefusal(Refusal{
			Plugin: PodTopologySpread, Code: SpreadConstraint, Key: constraintName(c.index), Index: c.index, Pods: in.sorted(),
			Topology: &Topology{
				Key: c.TopologyKey, Value: value, Labelled: true, Which: selectedBy(c.selector), Pods: len(in.pods),
				Spread: &Spread{MaxSkew: int(c.MaxSkew), Self: c.self, Fewest: c.fewest, FewestValue: c.fewestAt, Domains: len(c.domains), MinDomains: c.minDomains},
			},
		})
	})
}
