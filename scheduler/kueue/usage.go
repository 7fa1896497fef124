package kueue

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// FlavorUsage is the quota of a resource in a flavor, at a ClusterQueue or Cohort.
type FlavorUsage struct {
	Flavor   string
	Resource corev1.ResourceName
	// Nominal is its own quota.
	Nominal Amount
	// BorrowingLimit and LendingLimit are nil where there is no limit.
	BorrowingLimit, LendingLimit *Amount
	// Used is what workloads hold, of a Cohort those of all ClusterQueues below it. Admitted is the part of
	// those that run; the others have reserved it and wait for admission checks.
	Used, Admitted Amount
	// Borrowed is how much of Used is above what it has itself. Lent is how much of its own unused quota
	// others may hold: they borrow that much of their cohort, to which all lend.
	Borrowed, Lent Amount
	// Available is how much one more workload could get without anybody leaving, borrowing included.
	Available Amount
	// Holders are the workloads that hold it, the largest first.
	Holders []Holder
}

// Holder is a workload that holds quota.
type Holder struct {
	Workload     Ref
	ClusterQueue string
	Amount       Amount
	Admitted     bool
}

// Usage is the quota of a ClusterQueue or a Cohort, and who holds it.
type Usage struct {
	Name string
	// Cohort says that it is a Cohort, not a ClusterQueue.
	Cohort bool
	// Parent is the Cohort above it, or "".
	Parent string
	// Inactive says why a ClusterQueue admits nothing, or is nil.
	Inactive *Reason
	// Pending are the workloads that wait in a ClusterQueue, in the order of the queue.
	Pending []Ref
	// Flavors are in the order of the spec; of a Cohort, those of its ClusterQueues follow by name.
	Flavors []FlavorUsage
}

// Usage is the quota of all ClusterQueues and then of all Cohorts, each by name.
func (s *State) Usage() []Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Usage
	for _, name := range sortedKeys(s.queues) {
		n := s.queues[name]
		s.prepare(n)
		u := Usage{Name: name, Inactive: n.inactive}
		for _, w := range n.pending {
			u.Pending = append(u.Pending, w.ref)
		}
		var order []flavorResource
		for i := range n.spec.ResourceGroups {
			order = appendOrder(order, &n.spec.ResourceGroups[i])
		}
		out = append(out, s.usageOf(u, n.node, order, []*node{n.node}))
	}
	below := map[*node][]*node{}
	for _, n := range s.queues {
		for at := n.parent; at != nil; at = at.parent {
			below[at] = append(below[at], n.node)
		}
	}
	for _, name := range sortedKeys(s.cohorts) {
		n := s.cohorts[name]
		var order []flavorResource
		for fr := range n.subtree {
			order = append(order, fr)
		}
		slices.SortFunc(order, func(a, b flavorResource) int {
			_, ownA := n.quotas[a]
			_, ownB := n.quotas[b]
			if ownA != ownB {
				if ownA {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.flavor, b.flavor), cmp.Compare(a.resource, b.resource))
		})
		out = append(out, s.usageOf(Usage{Name: name, Cohort: true}, n, order, below[n]))
	}
	return out
}

func appendOrder(to []flavorResource, g *kueuev1beta2.ResourceGroup) []flavorResource {
	for i := range g.Flavors {
		for j := range g.Flavors[i].Resources {
			to = append(to, flavorResource{string(g.Flavors[i].Name), g.Flavors[i].Resources[j].Name})
		}
	}
	return to
}

func (s *State) usageOf(u Usage, n *node, order []flavorResource, queues []*node) Usage {
	if n.parent != nil {
		u.Parent = n.parent.name
	}
	holders, used, admitted := map[flavorResource][]Holder{}, amounts{}, amounts{}
	for _, queue := range queues {
		for w := range queue.held {
			for fr, a := range w.used {
				runs := isTrue(w.obj, kueuev1beta2.WorkloadAdmitted)
				holders[fr] = append(holders[fr], Holder{Workload: refOf(w), ClusterQueue: queue.name, Amount: a, Admitted: runs})
				used[fr] = used[fr].add(a)
				if runs {
					admitted[fr] = admitted[fr].add(a)
				}
			}
		}
	}
	for _, fr := range order {
		q := n.quotas[fr]
		f := FlavorUsage{Flavor: fr.flavor, Resource: fr.resource, Nominal: q.nominal, BorrowingLimit: q.borrow, LendingLimit: q.lend,
			Used: used[fr], Admitted: admitted[fr], Available: max(0, n.free(fr)), Holders: holders[fr]}
		if n.parent != nil {
			f.Borrowed = max(0, n.usage[fr].sub(n.subtree[fr]))
			unused := max(0, n.subtree[fr].sub(n.local(fr)).sub(max(0, n.usage[fr].sub(n.local(fr)))))
			f.Lent = min(unused, borrowedOf(n.parent, n, fr))
		}
		slices.SortFunc(f.Holders, func(a, b Holder) int {
			return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
		})
		u.Flavors = append(u.Flavors, f)
	}
	return u
}

// borrowedOf is how much the others right below a cohort borrow.
func borrowedOf(parent, except *node, fr flavorResource) Amount {
	var sum Amount
	for _, child := range slices.Concat(parent.cohorts, parent.queues) {
		if child != except {
			sum = sum.add(max(0, child.usage[fr].sub(child.subtree[fr])))
		}
	}
	return sum
}
