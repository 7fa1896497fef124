package kueue

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// FlavorUsage is the quota of a resource in a flavor, at a ClusterQueue or Cohort.
type FlavorUsage struct {
	Flavor   string
	Resource corev1.ResourceName
	// Devices says that devices of DRA count for the resource, as far as the Configuration is known.
	Devices bool
	// Nominal is its own quota, Total of a Cohort that of all below it too.
	Nominal, Total Amount
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
		var order []quota.FlavorResource
		for i := range n.spec.ResourceGroups {
			order = appendOrder(order, &n.spec.ResourceGroups[i])
		}
		out = append(out, s.usageOf(u, n.Node, order, []*quota.Node{n.Node}))
	}
	below := map[*quota.Node][]*quota.Node{}
	add := func(n *quota.Node) {
		for at := n.Parent; at != nil; at = at.Parent {
			below[at] = append(below[at], n)
		}
	}
	for _, n := range s.queues {
		add(n.Node)
	}
	for _, n := range s.cohorts {
		add(n)
	}
	for _, name := range sortedKeys(s.cohorts) {
		n := s.cohorts[name]
		var order []quota.FlavorResource
		for fr := range n.Subtree {
			order = append(order, fr)
		}
		slices.SortFunc(order, func(a, b quota.FlavorResource) int {
			_, ownA := n.Quotas[a]
			_, ownB := n.Quotas[b]
			if ownA != ownB {
				if ownA {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
		})
		out = append(out, s.usageOf(Usage{Name: name, Cohort: true}, n, order, append(below[n], n)))
	}
	return out
}

// forDevices reports whether devices of DRA count for a resource.
func (s *State) forDevices(name corev1.ResourceName) bool {
	_, mapped := s.binary[name]
	return mapped || s.extended[name] != nil || strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
}

// QueueOf is the ClusterQueue of which a workload has quota, or else the one that its LocalQueue is of; ""
// if there is no such LocalQueue. Whether the ClusterQueue exists is another question.
func (s *State) QueueOf(w *kueuev1beta2.Workload) string {
	if holdsQuota(w) {
		return string(w.Status.Admission.ClusterQueue)
	}
	if lq := s.localQueues[Ref{w.Namespace, string(w.Spec.QueueName)}]; lq != nil {
		return string(lq.Spec.ClusterQueue)
	}
	return ""
}

func appendOrder(to []quota.FlavorResource, g *kueuev1beta2.ResourceGroup) []quota.FlavorResource {
	for i := range g.Flavors {
		for j := range g.Flavors[i].Resources {
			to = append(to, quota.FlavorResource{Flavor: string(g.Flavors[i].Name), Resource: g.Flavors[i].Resources[j].Name})
		}
	}
	return to
}

func (s *State) usageOf(u Usage, n *quota.Node, order []quota.FlavorResource, nodes []*quota.Node) Usage {
	if n.Parent != nil {
		u.Parent = n.Parent.Name
	}
	holders, used, admitted := map[quota.FlavorResource][]Holder{}, quota.Amounts{}, quota.Amounts{}
	total := quota.Amounts{}
	for _, queue := range nodes {
		for fr, q := range queue.Quotas {
			total[fr] = total[fr].Add(q.Nominal)
		}
		for w := range queue.Held {
			for fr, a := range w.Used {
				runs := isTrue(w.Object, kueuev1beta2.WorkloadAdmitted)
				holders[fr] = append(holders[fr], Holder{Workload: refOf(w), ClusterQueue: queue.Name, Amount: a, Admitted: runs})
				used[fr] = used[fr].Add(a)
				if runs {
					admitted[fr] = admitted[fr].Add(a)
				}
			}
		}
	}
	for _, fr := range order {
		q := n.Quotas[fr]
		f := FlavorUsage{Flavor: fr.Flavor, Resource: fr.Resource, Devices: s.forDevices(fr.Resource),
			Nominal: q.Nominal, Total: total[fr], BorrowingLimit: q.Borrow, LendingLimit: q.Lend,
			Used: used[fr], Admitted: admitted[fr], Available: max(0, n.Free(fr)), Holders: holders[fr]}
		f.Borrowed, f.Lent = n.Borrowed(fr), n.Lent(fr)
		slices.SortFunc(f.Holders, func(a, b Holder) int {
			return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.Workload.Namespace, b.Workload.Namespace), cmp.Compare(a.Workload.Name, b.Workload.Name))
		})
		u.Flavors = append(u.Flavors, f)
	}
	return u
}
