package kueue_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// TestWith holds what a state answers that took over from another one, and what is decided about a workload
// alone, against what a new state decides about all, in random states that are changed.
func TestWith(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		objects, config := randomqueue.State(seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		state := kueue.New(objects, config, randomqueue.Now)
		for step := range 6 {
			if step > 0 {
				changed := *objects
				changeOne(rng, &changed)
				objects, state = &changed, state.With(&changed)
			}
			fresh := kueue.New(objects, config, randomqueue.Now)
			order := rng.Perm(len(objects.KueueWorkloads))
			for _, at := range order {
				w := objects.KueueWorkloads[at]
				want := fresh.Decide(w.Namespace, w.Name)
				if diff := cmp.Diff(want, state.DecideAlone(w.Namespace, w.Name)); diff != "" {
					t.Fatalf("seed %d, step %d, %s alone (-new +taken over):\n%s", seed, step, w.Name, diff)
				}
			}
			for _, at := range order {
				w := objects.KueueWorkloads[at]
				if diff := cmp.Diff(fresh.Decide(w.Namespace, w.Name), state.Decide(w.Namespace, w.Name)); diff != "" {
					t.Fatalf("seed %d, step %d, %s (-new +taken over):\n%s", seed, step, w.Name, diff)
				}
			}
		}
	}
}

// changeOne changes one thing, in copies: a workload, a template, a quota, the devices or the classes.
func changeOne(rng *rand.Rand, o *inspect.Objects) {
	switch n := rng.IntN(6); {
	case n == 0 && len(o.KueueWorkloads) > 0:
		at := rng.IntN(len(o.KueueWorkloads))
		o.KueueWorkloads = slices.Delete(slices.Clone(o.KueueWorkloads), at, at+1)
	case n == 1 && len(o.KueueWorkloads) > 0:
		o.KueueWorkloads = slices.Clone(o.KueueWorkloads)
		w := &o.KueueWorkloads[rng.IntN(len(o.KueueWorkloads))]
		*w = (*w).DeepCopy()
		for i := range (*w).Spec.PodSets {
			(*w).Spec.PodSets[i].Count++
		}
	case n == 2 && len(o.Templates) > 0:
		o.Templates = slices.Clone(o.Templates)
		template := &o.Templates[rng.IntN(len(o.Templates))]
		*template = (*template).DeepCopy()
		for i := range (*template).Spec.Spec.Devices.Requests {
			if r := (*template).Spec.Spec.Devices.Requests[i].Exactly; r != nil && r.AllocationMode == resourcev1.DeviceAllocationModeExactCount {
				r.Count++
			}
		}
	case n == 3 && len(o.ClusterQueues) > 0:
		o.ClusterQueues = slices.Clone(o.ClusterQueues)
		q := &o.ClusterQueues[rng.IntN(len(o.ClusterQueues))]
		*q = (*q).DeepCopy()
		(*q).Spec.QueueingStrategy = kueuev1beta2.StrictFIFO
	case n == 4 && len(o.Slices) > 0:
		o.Slices = slices.Clone(o.Slices)[1:]
	case n == 5 && len(o.Classes) > 0:
		o.Classes = slices.Clone(o.Classes)[1:]
	}
}
