package kueue

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// flavorResource is what quota is for.
type flavorResource struct {
	flavor   string
	resource corev1.ResourceName
}

type amounts map[flavorResource]Amount

// quota is what a spec gives.
type quota struct {
	nominal      Amount
	borrow, lend *Amount
}

// node is a ClusterQueue or a Cohort in the tree of cohorts.
//
// What workloads use counts at the node as far as the node keeps quota from its parent (a lending limit); the
// rest also counts at the parent, and so on.
type node struct {
	name    string
	parent  *node
	cohorts []*node
	queues  []*node
	quotas  map[flavorResource]quota
	// subtree is the quota of the node and what those below it lend.
	subtree amounts
	usage   amounts
	weight  float64
	// circular says that a cohort is in a circle of cohorts or below one.
	circular bool
	// held are the workloads that hold quota of a ClusterQueue. It is nil of a Cohort.
	held map[*workload]bool
	// preemption is whom a ClusterQueue may evict.
	preemption kueuev1beta2.ClusterQueuePreemption
}

func newNode(name string) *node {
	return &node{name: name, quotas: map[flavorResource]quota{}, subtree: amounts{}, usage: amounts{}, weight: 1}
}

// newQueue is the node of a ClusterQueue, without a parent.
func newQueue(c *kueuev1beta2.ClusterQueue) *node {
	n := newNode(c.Name)
	n.setQuotas(c.Spec.ResourceGroups)
	n.weight = weight(c.Spec.FairSharing)
	for fr, q := range n.quotas {
		n.subtree[fr] = q.nominal
	}
	n.held = map[*workload]bool{}
	if p := c.Spec.Preemption; p != nil {
		n.preemption = *p
	}
	return n
}

func (n *node) isQueue() bool { return n.held != nil }

func (n *node) setQuotas(groups []kueuev1beta2.ResourceGroup) {
	for i := range groups {
		for j := range groups[i].Flavors {
			flavor := &groups[i].Flavors[j]
			for k := range flavor.Resources {
				r := &flavor.Resources[k]
				q := quota{nominal: quotaAmount(r.Name, r.NominalQuota)}
				if r.BorrowingLimit != nil {
					q.borrow = new(quotaAmount(r.Name, *r.BorrowingLimit))
				}
				if r.LendingLimit != nil {
					q.lend = new(quotaAmount(r.Name, *r.LendingLimit))
				}
				n.quotas[flavorResource{string(flavor.Name), r.Name}] = q
			}
		}
	}
}

func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// local is the quota that the node does not lend.
func (n *node) local(fr flavorResource) Amount {
	if lend := n.quotas[fr].lend; lend != nil {
		return max(0, n.subtree[fr].sub(*lend))
	}
	return 0
}

// localFree is how much of that nobody uses.
func (n *node) localFree(fr flavorResource) Amount { return max(0, n.local(fr).sub(n.usage[fr])) }

// free is how much more can be used at the node; negative if more is used than there is.
func (n *node) free(fr flavorResource) Amount {
	if n.parent == nil {
		return n.subtree[fr].sub(n.usage[fr])
	}
	above := n.parent.free(fr)
	if limit := n.quotas[fr].borrow; limit != nil {
		local := n.local(fr)
		used := max(0, n.usage[fr].sub(local))
		above = min(n.subtree[fr].sub(local).sub(used).add(*limit), above)
	}
	return n.localFree(fr).add(above)
}

// most is how much could be used at the node if nobody used anything.
func (n *node) most(fr flavorResource) Amount {
	if n.parent == nil {
		return n.subtree[fr]
	}
	all := n.local(fr).add(n.parent.most(fr))
	if limit := n.quotas[fr].borrow; limit != nil {
		all = min(n.subtree[fr].add(*limit), all)
	}
	return all
}

func (n *node) use(fr flavorResource, a Amount) {
	free := n.localFree(fr)
	n.usage[fr] = n.usage[fr].add(a)
	if n.parent != nil && a > free {
		n.parent.use(fr, a.sub(free))
	}
}

func (n *node) release(fr flavorResource, a Amount) {
	above := n.usage[fr].sub(n.local(fr))
	n.usage[fr] = n.usage[fr].sub(a)
	if above > 0 && n.parent != nil {
		n.parent.release(fr, min(a, above))
	}
}

func (n *node) useAll(of amounts) {
	for fr, a := range of {
		n.use(fr, a)
	}
}

func (n *node) releaseAll(of amounts) {
	for fr, a := range of {
		n.release(fr, a)
	}
}

// over reports whether the node with so much more used would use more than its subtree has. For a
// ClusterQueue that is borrowing.
func (n *node) over(fr flavorResource, more Amount) bool {
	return n.subtree[fr] < n.usage[fr].add(more)
}

// within reports whether the node uses no more than its subtree has, of all of these.
func (n *node) within(of map[flavorResource]bool) bool {
	for fr := range of {
		if n.over(fr, 0) {
			return false
		}
	}
	return true
}

// sum computes the quota and the usage of a cohort from what is below it.
func (n *node) sum() {
	n.subtree, n.usage = amounts{}, amounts{}
	for fr, q := range n.quotas {
		n.subtree[fr] = q.nominal
	}
	for _, child := range n.cohorts {
		child.sum()
		n.addChild(child)
	}
	for _, child := range n.queues {
		n.addChild(child)
	}
}

func (n *node) addChild(child *node) {
	for fr, a := range child.subtree {
		n.subtree[fr] = n.subtree[fr].add(a.sub(child.local(fr)))
	}
	for fr, a := range child.usage {
		n.usage[fr] = n.usage[fr].add(max(0, a.sub(child.local(fr))))
	}
}

// height is the distance to the farthest ClusterQueue below a cohort.
func (n *node) height() int {
	height := min(1, len(n.cohorts)+len(n.queues))
	for _, child := range n.cohorts {
		height = max(height, child.height()+1)
	}
	return height
}

// level is the height of the lowest subtree around a ClusterQueue that has quota for so much more; 0 is the
// queue itself. It also reports whether that subtree is a part of the tree only.
func (n *node) level(fr flavorResource, more Amount) (height int, part bool) {
	if !n.over(fr, more) || n.parent == nil {
		return 0, n.parent != nil
	}
	rest := more.sub(n.localFree(fr))
	top := n.parent
	for at := n.parent; at != nil; at = at.parent {
		if !at.over(fr, rest) {
			return at.height(), at.parent != nil
		}
		rest = rest.sub(at.localFree(fr))
		top = at
	}
	return top.height(), false
}

// subtreeQueues appends the ClusterQueues below a cohort.
func (n *node) subtreeQueues(to []*node) []*node {
	to = append(to, n.queues...)
	for _, child := range n.cohorts {
		to = child.subtreeQueues(to)
	}
	return to
}

// usages is a copy of what all nodes of a tree use.
type usages map[*node]amounts

func (n *node) save(to usages) {
	to[n] = maps.Clone(n.usage)
	for _, child := range n.cohorts {
		child.save(to)
	}
	for _, child := range n.queues {
		child.save(to)
	}
}

func (u usages) restore() {
	for n, usage := range u {
		n.usage = usage
	}
}
