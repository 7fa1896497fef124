package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareInterPodAffinity is the plugin InterPodAffinity: the pod must be near other pods, or must not be;
// and pods that are on nodes may not want it near them.
func prepareInterPodAffinity(p *Prepared) (check, Outcome) {
	c := &interPodAffinity{Prepared: p, hostLocal: p.snapshot.Features().Enabled(inspect.GateInterPodAffinityHostnameFastPath)}
	if r := c.read(); r != nil {
		return nil, refuse(*r)
	}
	everywhere := p.unseen(InterPodAffinity, "one of the others could keep this pod away")
	switch rules := len(c.near) + len(c.apart); {
	case !c.findRepellent() && rules == 0:
		return nil, everywhere
	case p.snapshot.NodesAssumed():
		everywhere.and(doubt(Doubt{Plugin: InterPodAffinity, Resource: inspect.Nodes, Key: "nodes", Message: "nodes were not read: which pods are near each other on them is not known"}))
		return nil, everywhere
	case rules > 0:
		c.count()
	}
	return c, everywhere
}

// interPodAffinity is what is known of a pod and of the pods that it has to do with.
type interPodAffinity struct {
	*Prepared
	// hostLocal: rules about the same host look at the pods on the node itself, not at those on all nodes
	// with that label (gate InterPodAffinityHostnameFastPath).
	hostLocal bool

	near    []*podTerm // the pod must be near pods that all of these select
	apart   []*podTerm // the pod must not be near pods that one of these selects
	company company
	// avoided are, for each of apart, the pods that it selects.
	avoided []crowds

	// repellent are the pods that do not want this one near them, in each domain of the keys, which are
	// sorted.
	keys      []string
	repellent crowds
}

// company are the pods that a pod has to be near.
type company struct {
	keys    []string // of the terms, sorted
	local   bool     // all terms are about the same host, and hostLocal
	which   string   // pods, in words
	crowds  crowds
	domains map[string][]string // where there are such pods, by key, sorted
	// known is whether there is such a pod at all, and itself whether the pod is one: if it is, and there is
	// no other, then it is the first of its group and may be anywhere.
	known, itself truth
	unread        bool // there may be more such pods than is known
}

// add adds a pod of which it is known, or not, that it counts.
func (c *crowd) add(pod *podInfo, counts truth) {
	switch counts {
	case yes:
		c.pods = append(c.pods, pod)
	case unknown:
		c.maybe++
	}
}

// read reads the pod's terms. Those that the scheduler would only like to be met are read as well: if it
// cannot read one of them, it refuses the pod.
func (c *interPodAffinity) read() *Refusal {
	var r *Refusal
	if c.near, r = c.readTerms(affinityTerms(c.Pod), PodAffinity); r != nil {
		return r
	}
	if c.apart, r = c.readTerms(antiAffinityTerms(c.Pod), PodAntiAffinity); r != nil {
		return r
	}
	for _, preferred := range preferredTerms(c.Pod) {
		if _, err := newPodTerm(c.Pod, &preferred.PodAffinityTerm); err != nil {
			return unreadable(PodAffinity, -1, "a preferred term of the pod's affinity to others", err)
		}
	}
	return nil
}

func (c *interPodAffinity) readTerms(raw []corev1.PodAffinityTerm, code Code) ([]*podTerm, *Refusal) {
	out := make([]*podTerm, len(raw))
	for i := range raw {
		t, err := newPodTerm(c.Pod, &raw[i])
		if err != nil {
			return nil, unreadable(code, i, termName(code, i), err)
		}
		out[i] = t
	}
	return out, nil
}

func unreadable(code Code, i int, what string, err error) *Refusal {
	return &Refusal{Plugin: InterPodAffinity, Code: code, Key: what + " selector", Unresolvable: true, Index: i, Message: fmt.Sprintf("the selector of %s cannot be read: %v", what, err)}
}

// domainOf returns the domain of a node for a key. local: only the node itself is on its host.
func domainOf(key string, node *corev1.Node, local bool) (domain, bool) {
	value, ok := node.Labels[key]
	if local && key == corev1.LabelHostname {
		value = node.Name
	}
	return domain{key, value}, ok
}

// findRepellent finds the pods on nodes that do not want this one near them, and reports whether there are
// any. The scheduler does not ask pods that are only expected on a node where it has found no rule that
// matters without them.
func (c *interPodAffinity) findRepellent() bool {
	asked := false
	c.repellent = newCrowds()
	for _, r := range c.neighbours.repelling(c.Index) {
		local := c.hostLocal && r.topologyKey == corev1.LabelHostname
		minds := r.selects(c.Pod, c.takes(&r.podTerm, c.Pod.Namespace, true))
		if minds == no && !local {
			continue
		}
		for _, p := range r.pods {
			asked = asked || local && p.pod.Spec.NodeName != ""
			if p.node == nil { // on a node that is not known
				asked = asked || minds != no
			} else if d, ok := domainOf(r.topologyKey, p.node, c.hostLocal); ok && minds != no {
				asked = asked || p.pod.Spec.NodeName != ""
				c.repellent.in(d).add(p.pod, minds)
			}
		}
		if minds != no && !slices.Contains(c.keys, r.topologyKey) {
			c.keys = append(c.keys, r.topologyKey)
		}
	}
	slices.Sort(c.keys)
	return asked
}

// count finds the pods on nodes that the pod's own terms select.
func (c *interPodAffinity) count() {
	c.company.prepare(c)
	c.avoided = make([]crowds, len(c.apart))
	for i := range c.avoided {
		c.avoided[i] = newCrowds()
	}
	var near, apart []truth // whether each term takes the namespace that it is about now
	c.eachPlaced(func(namespace string) bool {
		near, apart = c.taken(near[:0], c.near, namespace), c.taken(apart[:0], c.apart, namespace)
		return len(near) > 0 && slices.Min(near) > no || len(apart) > 0 && slices.Max(apart) > no
	}, func(pod *podInfo, node string) {
		if counts := allSelect(c.near, near, pod.Pod); counts != no {
			c.company.add(pod, c.node(node), counts)
		}
		for i, t := range c.apart {
			if counts := t.selects(pod.Pod, apart[i]); counts != no {
				c.avoid(i, pod, c.node(node), counts)
			}
		}
	})
	c.company.findDomains()
}

// avoid adds a pod on a node that a term of anti-affinity selects.
func (c *interPodAffinity) avoid(i int, pod *podInfo, n *nodeInfo, counts truth) {
	if n == nil {
		return
	}
	if d, ok := domainOf(c.apart[i].topologyKey, n.Node, c.hostLocal); ok {
		c.avoided[i].in(d).add(pod, counts)
	}
}

// taken appends whether terms of the pod take the pods of a namespace.
func (c *interPodAffinity) taken(to []truth, terms []*podTerm, namespace string) []truth {
	for _, t := range terms {
		to = append(to, c.takes(t, namespace, false))
	}
	return to
}

// allSelect reports whether there are terms and all of them select a pod, of whose namespace it is known
// whether they take it.
func allSelect(terms []*podTerm, namespace []truth, pod *corev1.Pod) truth {
	out := truthOf(len(terms) > 0)
	for i, t := range terms {
		if out = min(out, t.selects(pod, namespace[i])); out == no {
			break
		}
	}
	return out
}

func (o *company) prepare(c *interPodAffinity) {
	o.crowds, o.local, o.which = newCrowds(), c.hostLocal, c.which()
	for _, t := range c.near {
		o.keys = append(o.keys, t.topologyKey)
		o.local = o.local && t.topologyKey == corev1.LabelHostname
		in := t.namespaces
		if t.chosen != nil {
			in = nil // any
		}
		o.unread = o.unread || !c.unseen(InterPodAffinity, "", in...).Passes()
	}
	slices.Sort(o.keys)
	o.keys = slices.Compact(o.keys)
	o.itself = allSelect(c.near, c.taken(nil, c.near, c.Pod.Namespace), c.Pod)
}

// add adds a pod that counts on a node. A pod on a node without any of the labels is near nobody, and is as
// if it were not there.
func (o *company) add(pod *podInfo, n *nodeInfo, counts truth) {
	if n == nil {
		return
	}
	somewhere := o.local
	for _, key := range o.keys {
		if d, ok := domainOf(key, n.Node, o.local); ok {
			o.crowds.in(d).add(pod, counts)
			somewhere = true
		}
	}
	if somewhere {
		o.known = max(o.known, counts)
	}
}

func (o *company) findDomains() {
	o.domains = map[string][]string{}
	for d, crowd := range o.crowds.all {
		if len(crowd.pods) > 0 {
			o.domains[d.key] = append(o.domains[d.key], d.value)
		}
	}
	for _, values := range o.domains {
		slices.Sort(values)
	}
}

func (c *interPodAffinity) without(p *Prepared, gone []*podInfo) (check, bool) {
	out := *c
	out.Prepared, out.avoided = p, slices.Clone(c.avoided)
	var same, ok bool
	for _, key := range c.company.keys {
		if _, same, ok = c.company.crowds.without(p, gone, key, c.company.local); !same || !ok {
			return nil, false
		}
	}
	for i, t := range c.apart {
		if out.avoided[i], _, ok = out.avoided[i].without(p, gone, t.topologyKey, c.hostLocal); !ok {
			return nil, false
		}
	}
	for _, key := range c.keys {
		if out.repellent, _, ok = out.repellent.without(p, gone, key, c.hostLocal); !ok {
			return nil, false
		}
	}
	return &out, true
}

func (c *interPodAffinity) on(n *nodeInfo) Outcome {
	out := c.company.on(c, n)
	for i, t := range c.apart {
		d, ok := domainOf(t.topologyKey, n.Node, c.hostLocal)
		in := c.avoided[i].at(d)
		switch {
		case !ok || in == nil:
		case len(in.pods) > 0:
			out.Refusals = joined(out.Refusals, c.avoids(i, n, in))
		default:
			out.Doubts = append(out.Doubts, namespacesUnread(termName(PodAntiAffinity, i)))
		}
	}
	for _, key := range c.keys {
		d, ok := domainOf(key, n.Node, c.hostLocal)
		in := c.repellent.at(d)
		switch {
		case !ok || in == nil:
		case len(in.pods) > 0:
			out.Refusals = joined(out.Refusals, repelled(key, n, in))
		default:
			out.Doubts = append(out.Doubts, namespacesUnread("the podAntiAffinity of pods that are there"))
		}
	}
	return out
}

// on says whether the pods are there that the pod has to be near.
func (o *company) on(c *interPodAffinity, n *nodeInfo) Outcome {
	var out Outcome
	var lonely []int // terms for which no pod is there
	doubtful := false
	for i, t := range c.near {
		d, ok := domainOf(t.topologyKey, n.Node, o.local)
		in := o.crowds.at(d)
		switch {
		case !ok:
			out.Refusals = append(out.Refusals, c.unlabelled(i))
		case in == nil:
			lonely = append(lonely, i)
		case len(in.pods) == 0:
			doubtful = true
		}
	}
	first := min(o.itself, yes-o.known) // whether the pod may be the first of its group
	switch {
	case o.unread: // a doubt everywhere
	case len(lonely) > 0 && first == no:
		for _, i := range lonely {
			out.Refusals = append(out.Refusals, c.lonely(i, n))
		}
	case len(lonely) > 0 && first == unknown, len(lonely) == 0 && doubtful:
		out.Doubts = append(out.Doubts, namespacesUnread("podAffinity"))
	}
	return out
}

func namespacesUnread(what string) Doubt {
	return Doubt{Plugin: InterPodAffinity, Resource: inspect.Namespaces, Key: what, Message: "the labels of namespaces were not read, by which " + what + " selects"}
}

// unlabelled is the refusal of a node without the label of a term.
func (c *interPodAffinity) unlabelled(i int) Refusal {
	return topologyRefusal(Refusal{
		Plugin: InterPodAffinity, Code: PodAffinity, Key: termName(PodAffinity, i) + " label", Unresolvable: true, Index: i,
		Topology: &Topology{Key: c.near[i].topologyKey},
	})
}

// lonely is the refusal of a node where no pod is that a term selects.
func (c *interPodAffinity) lonely(i int, n *nodeInfo) Refusal {
	key := c.near[i].topologyKey
	return topologyRefusal(Refusal{
		Plugin: InterPodAffinity, Code: PodAffinity, Key: termName(PodAffinity, i), Unresolvable: true, Index: i,
		Topology: &Topology{Key: key, Value: n.Labels[key], Labelled: true, Which: c.company.which, Elsewhere: c.company.domains[key]},
	})
}

// which says which pods the pod has to be near: those that all terms select.
func (c *interPodAffinity) which() string {
	var out []string
	for _, t := range c.near {
		if text := t.inWords(c.Pod); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " and")
}

// avoids is the refusal of a node near pods that the pod must not be near.
func (c *interPodAffinity) avoids(i int, n *nodeInfo, in *crowd) []Refusal {
	return in.refuse(func() Refusal {
		t, pods := c.apart[i], in.sorted()
		return topologyRefusal(Refusal{
			Plugin: InterPodAffinity, Code: PodAntiAffinity, Key: termName(PodAntiAffinity, i), Index: i, Pods: pods,
			Topology: &Topology{Key: t.topologyKey, Value: n.Labels[t.topologyKey], Labelled: true, Which: t.inWords(c.Pod), Pods: len(pods)},
		})
	})
}

// repelled is the refusal of a node near pods that do not want the pod near them.
func repelled(key string, n *nodeInfo, in *crowd) []Refusal {
	return in.refuse(func() Refusal {
		pods := in.sorted()
		return topologyRefusal(Refusal{
			Plugin: InterPodAffinity, Code: PodAntiAffinity, Key: "podAntiAffinity of others, " + key, Index: -1, Pods: pods,
			Topology: &Topology{Key: key, Value: n.Labels[key], Labelled: true, Pods: len(pods)},
		})
	})
}
