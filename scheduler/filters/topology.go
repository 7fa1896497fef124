package filters

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Topology is where a rule about other pods is not met: on the nodes that have one value of a label, a
// domain.
type Topology struct {
	// Key is the label of nodes, and Value that of the node. Without Labelled the node has no such label,
	// which is what is wrong with it, and nothing else is set.
	Key, Value string
	Labelled   bool
	// Which says, after the word "pod", which ones the rule of the pod is about: " with app=web of namespace
	// db".
	Which string
	// Pods is how many pods the rule counts in the domain, without the pod that is asked about.
	Pods int
	// Elsewhere are the other domains with pods that the rule counts, sorted. It is set for PodAffinity.
	Elsewhere []string
	// Spread is set for SpreadConstraint.
	Spread *Spread
}

// Spread is how pods are spread over domains: with the pod, the domain must not have more than MaxSkew pods
// above the fewest.
type Spread struct {
	MaxSkew int
	// Self: the pod itself is one of those that are counted.
	Self bool
	// Fewest is how many pods the domain with the fewest has, and FewestValue the first of such domains. If
	// there are fewer Domains than MinDomains, Fewest is 0 and no domain has it.
	Fewest      int
	FewestValue string
	// Domains is how many domains the pod could be in by its node affinity and tolerations, as far as the
	// constraint wants these to count.
	Domains, MinDomains int
}

// domain is a topology key with a value.
type domain struct{ key, value string }

// crowd are pods in a domain. It is not written to once it can be asked about.
type crowd struct {
	pods []*podInfo
	// maybe is how many further pods are there of which it is not known whether they count.
	maybe int
	// lacks is how many pods were subtracted that are not among the pods.
	lacks int

	once     sync.Once
	refusals []Refusal // a single one, the same for all nodes of the domain
}

// refuse returns the refusal that a function makes of the crowd.
func (c *crowd) refuse(because func() Refusal) []Refusal {
	c.once.Do(func() { c.refusals = []Refusal{because()} })
	return c.refusals
}

// size is how many pods count.
func (c *crowd) size() int { return len(c.pods) - c.lacks }

// members are the pods of a crowd that need not be there.
func (c *crowd) members() []*podInfo {
	if c == nil {
		return nil
	}
	return c.pods
}

// without returns the crowd without some pods. It is the same one if none of them is in it.
func (c *crowd) without(gone []*podInfo) *crowd {
	if !slices.ContainsFunc(gone, func(pod *podInfo) bool { return slices.Contains(c.pods, pod) }) {
		return c
	}
	return &crowd{maybe: c.maybe, lacks: c.lacks, pods: slices.DeleteFunc(slices.Clone(c.pods), func(pod *podInfo) bool { return slices.Contains(gone, pod) })}
}

// sorted are the pods, each once, sorted by namespace and name.
func (c *crowd) sorted() []inspect.PodRef {
	refs := make([]inspect.PodRef, len(c.pods))
	for i, pod := range c.pods {
		refs[i] = inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	}
	slices.SortFunc(refs, func(a, b inspect.PodRef) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs)
}

// crowds are the pods in each domain. A domain with none need not be there.
type crowds struct {
	all map[domain]*crowd
	// fewer has the domains that have lost pods since. It is nil for one that has none left.
	fewer map[domain]*crowd
}

func newCrowds() crowds { return crowds{all: map[domain]*crowd{}} }

// in returns the crowd of a domain, to add to it.
func (c crowds) in(d domain) *crowd {
	out := c.all[d]
	if out == nil {
		out = &crowd{}
		c.all[d] = out
	}
	return out
}

// at returns the crowd of a domain, or nil.
func (c crowds) at(d domain) *crowd {
	if len(c.fewer) > 0 {
		if out, ok := c.fewer[d]; ok {
			return out
		}
	}
	return c.all[d]
}

// without returns the crowds of the domains of a key without some pods, and whether they are the same. It is
// false if there are others of which it is not known whether they count.
func (c crowds) without(p *Prepared, gone []*podInfo, key string, local bool) (out crowds, same, ok bool) {
	out, same = c, true
	for _, pod := range gone {
		n := p.node(pod.Spec.NodeName)
		if n == nil {
			continue
		}
		d, labelled := domainOf(key, n.Node, local)
		before := out.at(d)
		switch {
		case !labelled || before == nil:
			continue
		case before.maybe > 0:
			return c, false, false
		}
		after := before.without(gone)
		if after == before {
			continue
		}
		if len(after.pods) == 0 {
			after = nil
		}
		if same {
			same, out.fewer = false, maps.Clone(c.fewer)
		}
		if out.fewer == nil {
			out.fewer = map[domain]*crowd{}
		}
		out.fewer[d] = after
	}
	return out, same, true
}

// podsUnread reports whether there may be pods that are not in the snapshot, in any of the namespaces, or, if
// none is named, anywhere.
func (x *Index) podsUnread(namespaces ...string) bool {
	if h := x.snapshot.Health(inspect.Pods); h.State == inspect.Narrowed && len(namespaces) > 0 {
		return slices.ContainsFunc(namespaces, func(n string) bool { return !slices.Contains(h.Namespaces, n) })
	}
	known := 1
	if x.snapshot.NoPods() {
		known = 0
	}
	return x.unread(inspect.Pods, known)
}

// unseen is a doubt if there may be pods on nodes that are not known here, in any of the namespaces, or, if
// none is named, anywhere: they were not read, or their nodes were not. What is a clause: what that means.
func (x *Index) unseen(plugin Plugin, what string, namespaces ...string) Outcome {
	var out Outcome
	if !x.snapshot.NodesAssumed() && x.unread(inspect.Nodes, len(x.nodes)) {
		out.Doubts = append(out.Doubts, Doubt{Plugin: plugin, Resource: inspect.Nodes, Key: "nodes", Message: "not all nodes were read, with the pods on them: " + what})
	}
	if x.podsUnread(namespaces...) {
		out.Doubts = append(out.Doubts, Doubt{Plugin: plugin, Resource: inspect.Pods, Key: "pods", Message: "not all pods were read: " + what})
	}
	return out
}
