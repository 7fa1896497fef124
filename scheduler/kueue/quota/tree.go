package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// FlavorResource is what quota is for.
type FlavorResource struct {
	Flavor   string
	Resource corev1.ResourceName
}

// Amounts are amounts by flavor and resource.
type Amounts map[FlavorResource]Amount

// Quota is what a spec gives.
type Quota struct {
	Nominal      Amount
	Borrow, Lend *Amount
}

// Node is a ClusterQueue or a Cohort in the tree of cohorts.
//
// What workloads use counts at the node as far as the node keeps quota from its parent (a lending limit); the
// rest also counts at the parent, and so on.
type Node struct {
	Name    string
	Parent  *Node
	Cohorts []*Node
	Queues  []*Node
	Quotas  map[FlavorResource]Quota
	// Subtree is the quota of the node and what those below it lend.
	Subtree Amounts
	Usage   Amounts
	weight  float64
	// Circular says that a cohort is in a circle of cohorts or below one.
	Circular bool
	// Held are the workloads that hold quota of a ClusterQueue. It is nil of a Cohort.
	Held map[*Workload]bool
	// Preemption is whom a ClusterQueue may evict.
	Preemption kueuev1beta2.ClusterQueuePreemption
}

func newNode(name string) *Node {
	return &Node{Name: name, Quotas: map[FlavorResource]Quota{}, Subtree: Amounts{}, Usage: Amounts{}, weight: 1}
}

// NewQueue is the node of a ClusterQueue, without a parent.
func NewQueue(c *kueuev1beta2.ClusterQueue) *Node {
	n := newNode(c.Name)
	n.setQuotas(c.Spec.ResourceGroups)
	n.weight = weight(c.Spec.FairSharing)
	for fr, q := range n.Quotas {
		n.Subtree[fr] = q.Nominal
	}
	n.Held = map[*Workload]bool{}
	if p := c.Spec.Preemption; p != nil {
		n.Preemption = *p
	}
	return n
}

// IsQueue reports whether the node is a ClusterQueue.
func (n *Node) IsQueue() bool { return n.Held != nil }

func (n *Node) setQuotas(groups []kueuev1beta2.ResourceGroup) {
	for i := range groups {
		for j := range groups[i].Flavors {
			flavor := &groups[i].Flavors[j]
			for k := range flavor.Resources {
				r := &flavor.Resources[k]
				q := Quota{Nominal: quotaAmount(r.Name, r.NominalQuota)}
				if r.BorrowingLimit != nil {
					q.Borrow = new(quotaAmount(r.Name, *r.BorrowingLimit))
				}
				if r.LendingLimit != nil {
					q.Lend = new(quotaAmount(r.Name, *r.LendingLimit))
				}
				n.Quotas[FlavorResource{string(flavor.Name), r.Name}] = q
			}
		}
	}
}

// Root is the top of the tree.
func (n *Node) Root() *Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// Local is the quota that the node does not lend.
func (n *Node) Local(fr FlavorResource) Amount {
	if lend := n.Quotas[fr].Lend; lend != nil {
		return max(0, n.Subtree[fr].Sub(*lend))
	}
	return 0
}

// localFree is how much of that nobody uses.
func (n *Node) localFree(fr FlavorResource) Amount { return max(0, n.Local(fr).Sub(n.Usage[fr])) }

// Free is how much more can be used at the node; negative if more is used than there is.
func (n *Node) Free(fr FlavorResource) Amount {
	if n.Parent == nil {
		return n.Subtree[fr].Sub(n.Usage[fr])
	}
	above := n.Parent.Free(fr)
	if limit := n.Quotas[fr].Borrow; limit != nil {
		local := n.Local(fr)
		used := max(0, n.Usage[fr].Sub(local))
		above = min(n.Subtree[fr].Sub(local).Sub(used).Add(*limit), above)
	}
	return n.localFree(fr).Add(above)
}

// Most is how much could be used at the node if nobody used anything.
func (n *Node) Most(fr FlavorResource) Amount {
	if n.Parent == nil {
		return n.Subtree[fr]
	}
	all := n.Local(fr).Add(n.Parent.Most(fr))
	if limit := n.Quotas[fr].Borrow; limit != nil {
		all = min(n.Subtree[fr].Add(*limit), all)
	}
	return all
}

func (n *Node) use(fr FlavorResource, a Amount) {
	free := n.localFree(fr)
	n.Usage[fr] = n.Usage[fr].Add(a)
	if n.Parent != nil && a > free {
		n.Parent.use(fr, a.Sub(free))
	}
}

func (n *Node) release(fr FlavorResource, a Amount) {
	above := n.Usage[fr].Sub(n.Local(fr))
	n.Usage[fr] = n.Usage[fr].Sub(a)
	if above > 0 && n.Parent != nil {
		n.Parent.release(fr, min(a, above))
	}
}

// UseAll counts what a workload uses.
func (n *Node) UseAll(of Amounts) {
	for fr, a := range of {
		n.use(fr, a)
	}
}

// ReleaseAll takes back what a workload uses.
func (n *Node) ReleaseAll(of Amounts) {
	for fr, a := range of {
		n.release(fr, a)
	}
}

// over reports whether the node with so much more used would use more than its subtree has. For a
// ClusterQueue that is borrowing.
func (n *Node) over(fr FlavorResource, more Amount) bool {
	return n.Subtree[fr] < n.Usage[fr].Add(more)
}

// within reports whether the node uses no more than its subtree has, of all of these.
func (n *Node) within(of []FlavorResource) bool {
	for _, fr := range of {
		if n.over(fr, 0) {
			return false
		}
	}
	return true
}

// Sum computes the quota and the usage of a cohort from what is below it.
func (n *Node) Sum() {
	n.Subtree, n.Usage = Amounts{}, Amounts{}
	for fr, q := range n.Quotas {
		n.Subtree[fr] = q.Nominal
	}
	for _, child := range n.Cohorts {
		child.Sum()
		n.addChild(child)
	}
	for _, child := range n.Queues {
		n.addChild(child)
	}
}

func (n *Node) addChild(child *Node) {
	for fr, a := range child.Subtree {
		n.Subtree[fr] = n.Subtree[fr].Add(a.Sub(child.Local(fr)))
	}
	for fr, a := range child.Usage {
		n.Usage[fr] = n.Usage[fr].Add(max(0, a.Sub(child.Local(fr))))
	}
}

// height is the distance to the farthest ClusterQueue below a cohort.
func (n *Node) height() int {
	height := min(1, len(n.Cohorts)+len(n.Queues))
	for _, child := range n.Cohorts {
		height = max(height, child.height()+1)
	}
	return height
}

// Level is the height of the lowest subtree around a ClusterQueue that has quota for so much more; 0 is the
// queue itself. It also reports whether that subtree is a part of the tree only.
func (n *Node) Level(fr FlavorResource, more Amount) (height int, part bool) {
	if !n.over(fr, more) || n.Parent == nil {
		return 0, n.Parent != nil
	}
	rest := more.Sub(n.localFree(fr))
	top := n.Parent
	for at := n.Parent; at != nil; at = at.Parent {
		if !at.over(fr, rest) {
			return at.height(), at.Parent != nil
		}
		rest = rest.Sub(at.localFree(fr))
		top = at
	}
	return top.height(), false
}

// FitsWithout reports whether so much is free at a ClusterQueue once some workloads are gone.
func (n *Node) FitsWithout(gone map[*Workload]bool, asked Amounts) bool {
	for w := range gone {
		w.Queue.ReleaseAll(w.Used)
	}
	fits := true
	for fr, a := range asked {
		fits = fits && max(0, n.Free(fr)) >= a
	}
	for w := range gone {
		w.Queue.UseAll(w.Used)
	}
	return fits
}

// Reserve is what Kueue keeps free in the rest of a cycle for a workload that waits for others to end, and
// that borrows or not.
func (n *Node) Reserve(asked Amounts, borrows bool) Amounts {
	out := Amounts{}
	for fr, a := range asked {
		q := n.Quotas[fr]
		switch {
		case !borrows:
			out[fr] = max(0, min(a, q.Nominal.Sub(n.Usage[fr])))
		case q.Borrow == nil:
			out[fr] = a
		default:
			out[fr] = min(a, q.Nominal.Add(*q.Borrow).Sub(n.Usage[fr]))
		}
	}
	return out
}

// Borrowed is how much the node uses above what it has itself.
func (n *Node) Borrowed(fr FlavorResource) Amount {
	if n.Parent == nil {
		return 0
	}
	return max(0, n.Usage[fr].Sub(n.Subtree[fr]))
}

// Lent is how much of its own unused quota others right below the same cohort may hold.
func (n *Node) Lent(fr FlavorResource) Amount {
	if n.Parent == nil {
		return 0
	}
	var borrowed Amount
	for _, other := range slices.Concat(n.Parent.Cohorts, n.Parent.Queues) {
		if other != n {
			borrowed = borrowed.Add(other.Borrowed(fr))
		}
	}
	unused := max(0, n.Subtree[fr].Sub(n.Local(fr)).Sub(max(0, n.Usage[fr].Sub(n.Local(fr)))))
	return min(unused, borrowed)
}

// SubtreeQueues are the ClusterQueues below a cohort.
func (n *Node) SubtreeQueues() []*Node {
	out := slices.Clone(n.Queues)
	for _, child := range n.Cohorts {
		out = append(out, child.SubtreeQueues()...)
	}
	return out
}

// usages is a copy of what all nodes of a tree use.
type usages map[*Node]Amounts

// Save remembers what all nodes of a tree use, until that is restored.
func (n *Node) Save() (restore func()) {
	saved := usages{}
	n.save(saved)
	return saved.restore
}

func (n *Node) save(to usages) {
	to[n] = maps.Clone(n.Usage)
	for _, child := range n.Cohorts {
		child.save(to)
	}
	for _, child := range n.Queues {
		child.save(to)
	}
}

func (u usages) restore() {
	for n, usage := range u {
		n.Usage = usage
	}
}
