package cycle

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Of a pool whose slices disagree about how many they are it is chance whether the scheduler takes its
// devices. If an answer is another one with the pool and without it, it is not known.

// AddDisagreeing adds what it means for the answer to a question that slices disagree.
func (l *Limits) AddDisagreeing(ctx context.Context, q *whatif.Question) error {
	pools := q.Cluster.Snapshot().DisagreeingPools()
	if len(pools) == 0 {
		return nil
	}
	most := 0
	for _, pool := range pools {
		most = max(most, len(pool.Announced))
	}
	var first Tally
	for at := range min(most, maxAnnounced) {
		o, err := announcing(ctx, q, pools, at)
		switch {
		case err != nil:
			return err
		case at == 0:
			first = o
		case (o.Abort == nil) != (first.Abort == nil) || (o.First == nil) != (first.First == nil):
			l.MayBeMore, l.MayBeTaken, l.MayGoOn = true, true, true
			l.AddDisagreements(q.Cluster.Snapshot())
			return nil
		}
	}
	return nil
}

// maxAnnounced bounds how many of the numbers that slices announce are tried.
const maxAnnounced = 5

// announcing is what comes of a question if all slices of each pool announce the same of the numbers that
// they announce.
func announcing(ctx context.Context, q *whatif.Question, pools []inspect.DisagreeingPool, which int) (Tally, error) {
	changed := q.Cluster.Snapshot().With(func(o *inspect.Objects) {
		for i, slice := range o.Slices {
			pool := slice.Spec.Pool
			at := slices.IndexFunc(pools, func(d inspect.DisagreeingPool) bool {
				return d.ID == inspect.PoolID{Driver: slice.Spec.Driver, Pool: pool.Name} && d.Generation == pool.Generation
			})
			if at >= 0 {
				announced := pools[at].Announced
				o.Slices[i] = announce(slice, announced[min(which, len(announced)-1)])
			}
		}
	})
	asked := &whatif.Question{
		Cluster: scheduler.NewCluster(changed, scheduler.Options{Like: q.Cluster}), Claims: q.Claims, Nodes: q.Nodes, Templates: q.Templates, Own: q.Own,
		Supposed: q.Supposed, SupposedPods: q.SupposedPods, Unsuitable: q.Unsuitable, UnsuitableWith: q.UnsuitableWith, Pod: q.Pod, Grouped: q.Grouped, PerNode: q.PerNode,
		Subject: q.Subject, Partial: q.Partial,
	}
	answers, err := asked.Ask(ctx)
	return TallyOf(answers), err
}

func announce(slice *resourcev1.ResourceSlice, count int64) *resourcev1.ResourceSlice {
	out := *slice
	out.Spec.Pool.ResourceSliceCount = count
	return &out
}

// AddDisagreements says which slices disagree.
func (l *Limits) AddDisagreements(s *inspect.Snapshot) {
	for _, pool := range s.DisagreeingPools() {
		l.Remarks = append(l.Remarks, pool.String())
	}
}
