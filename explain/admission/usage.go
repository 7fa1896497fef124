package admission

import (
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// Usage is who holds how many devices, by ClusterQueue or by Cohort, beside the quota that devices count for.
type Usage struct {
	*usage.Report
	// Quotas are by the names of the rows. They are nil where only some claims were counted: beside them, the
	// quota of a queue would say nothing.
	Quotas map[string][]explain.Quota
	// Partial says why what devices count for is not known for certain, a sentence each.
	Partial []string
}

// UsageOf counts the claims that counts accepts, all of them if it is nil, by [usage.Queue] or
// [usage.Cohort].
func UsageOf(s *inspect.Snapshot, inventory *inspect.Inventory, by usage.By,
	counts func(*resourcev1.ResourceClaim) bool) *Usage {
	state := kueue.New(s.Objects(), config.State(s), s.Time())
	out := &Usage{}
	if Here(s) {
		out.Partial = partial(s.Kueue())
	}
	if counts == nil {
		out.Quotas = map[string][]explain.Quota{}
	}
	queues, cohorts := map[string]string{}, map[string]string{} // and the cohorts above them
	var all []string
	for _, u := range state.Usage() {
		if u.Cohort {
			cohorts[u.Name] = u.Parent
		} else {
			queues[u.Name] = u.Parent
		}
		if counts == nil && u.Cohort == (by == usage.Cohort) {
			all = append(all, u.Name)
			out.Quotas[u.Name] = quotasOf(state, &u, func(f *kueue.FlavorUsage) bool { return f.Devices })
		}
	}
	f := target.NewFinder(s, nil, false)
	out.Report = usage.In(s, inventory, by, counts, all, func(claim *resourcev1.ResourceClaim) []string {
		var names []string
		for _, queue := range queuesOf(s, f, state, claim) {
			if by == usage.Queue {
				names = append(names, queue)
				continue
			}
			for cohort := queues[queue]; cohort != ""; cohort = cohorts[cohort] {
				names = append(names, cohort)
			}
		}
		return names
	})
	return out
}

// queuesOf are the ClusterQueues of the pods that use a claim, or of the pod that it was made for.
func queuesOf(s *inspect.Snapshot, f *target.Finder, state *kueue.State, claim *resourcev1.ResourceClaim) []string {
	var out []string
	refs := s.PodsOf(inspect.RefOf(claim))
	if owner := metav1.GetControllerOf(claim); len(refs) == 0 && owner != nil && owner.Kind == "Pod" {
		refs = []inspect.PodRef{{Namespace: claim.Namespace, Name: owner.Name}}
	}
	for _, ref := range refs {
		w := f.OfOwner(ref.Namespace, "Pod", ref.Name)
		if pod, ok := s.Pod(ref); ok {
			w = f.WorkloadOf(pod)
		}
		if w != nil {
			if queue := state.QueueOf(w); queue != "" {
				out = append(out, queue)
			}
		}
	}
	return out
}

// quotasOf is the quota of a queue or cohort, of what keep accepts.
func quotasOf(state *kueue.State, u *kueue.Usage, keep func(*kueue.FlavorUsage) bool) []explain.Quota {
	out := []explain.Quota{}
	for i := range u.Flavors {
		f := &u.Flavors[i]
		if !keep(f) {
			continue
		}
		text := func(a kueue.Amount) string { return state.Text(f.Resource, a) }
		quota := explain.Quota{
			Flavor: f.Flavor, Resource: string(f.Resource), Nominal: text(f.Total), Used: text(f.Used),
			Borrowed: text(f.Borrowed), Lent: text(f.Lent), Available: text(f.Available),
		}
		if f.BorrowingLimit != nil {
			quota.BorrowingLimit = text(*f.BorrowingLimit)
		}
		if f.LendingLimit != nil {
			quota.LendingLimit = text(*f.LendingLimit)
		}
		out = append(out, quota)
	}
	return out
}
