package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// local is one node with all that can decide about it and nothing else: the pools that reach it, whole,
// and the claims that hold devices of these. What-if questions are asked of it, so that their cost does
// not depend on the size of the cluster.
type local struct {
	q        *question
	node     *corev1.Node
	snapshot *inspect.Snapshot
	// holders are the claims that hold devices of the pools other than by admin access, sorted; not those that
	// the pod in question needs itself.
	holders  []inspect.ClaimRef
	devices  map[inspect.ClaimRef][]inspect.DeviceID
	clusters map[string]*allocator.Cluster

	// examined and required remember what examination and requirements return; known tells that they do.
	examined      *allocator.Examination
	required      []atom
	examinedKnown bool
	requiredKnown bool
}

// localOf returns the surroundings of a node, made when first asked for. nil: there are none.
func (q *question) localOf(name inspect.NodeName) *local {
	l, ok := q.locals[name]
	if !ok {
		if node, found := q.cluster.Snapshot().Node(name); found {
			l = q.newLocal(node)
		}
		if q.locals == nil {
			q.locals = map[inspect.NodeName]*local{}
		}
		q.locals[name] = l
	}
	return l
}

// newLocal cuts the surroundings of a node out of the snapshot. nil when its pools cannot be told,
// which makes the scheduler give up.
func (q *question) newLocal(node *corev1.Node) *local {
	s := q.cluster.Snapshot()
	pools, err := s.PoolsOn(node)
	if err != nil {
		return nil
	}
	l := &local{q: q, node: node, clusters: map[string]*allocator.Cluster{}, devices: map[inspect.ClaimRef][]inspect.DeviceID{}}
	ids := map[inspect.PoolID]bool{}
	for _, p := range pools {
		ids[p.ID] = true
	}
	objects := inspect.Objects{
		Nodes:   []*corev1.Node{node},
		Classes: append(slices.Clone(s.Objects().Classes), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: anyClass}}),
	}
	for id := range ids {
		objects.Slices = append(objects.Slices, s.SlicesIn(id)...)
	}
	slices.SortFunc(objects.Slices, func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(a.Name, b.Name) })
	for _, slice := range objects.Slices {
		l.findHolders(s, slice)
	}
	for ref := range l.devices {
		if !q.own[ref] {
			l.holders = append(l.holders, ref)
		}
		if claim, ok := s.Claim(ref); ok {
			objects.Claims = append(objects.Claims, claim)
		}
	}
	slices.SortFunc(l.holders, compareRefs)
	// The slices carry the taints of DeviceTaintRules already, so the rules stay out.
	l.snapshot = inspect.New(objects, inspect.Config{
		Revision: s.Revision(), Time: s.Time(), Features: s.Features(), ServerVersion: s.ServerVersion(),
	})
	return l
}

// examination is what each check says of each device of the node. nil: the scheduler gives up.
func (l *local) examination(ctx context.Context) (*allocator.Examination, error) {
	if l.examinedKnown {
		return l.examined, nil
	}
	exam, err := l.world(nil).Examine(ctx, l.node, l.q.claims)
	if err = ignoreAbort(err); err != nil {
		return nil, err
	}
	l.examined, l.examinedKnown = exam, true
	return exam, nil
}

func (l *local) findHolders(s *inspect.Snapshot, slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		id := inspect.DeviceIDOf(slice, i)
		for _, h := range s.Holders(id) {
			if !h.Admin() && !slices.Contains(l.devices[h.Claim], id) {
				l.devices[h.Claim] = append(l.devices[h.Claim], id)
			}
		}
	}
}

// outcome is how a what-if question ended.
type outcome int

const (
	refused   outcome = iota // proved impossible
	fits                     // the scheduler would find devices
	aborted                  // the scheduler would give up with an error
	undecided                // not known: never counted as a proof
)

// try asks for the claims on the node with the edits made.
func (l *local) try(ctx context.Context, edits []edit) (outcome, error) {
	return l.q.whatIf(ctx, l.world(edits), l.node, l.q.apply(ctx, edits))
}

// remedySteps bounds the search steps that a question may spend on its conflict and fixes in all, a few
// seconds. What is not answered by then is not known.
const remedySteps = 1_000_000

// whatIf asks another question about a node, as long as there are steps to spend.
func (q *question) whatIf(ctx context.Context, c *allocator.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (outcome, error) {
	if q.spent > remedySteps {
		return undecided, nil
	}
	o, steps, err := outcomeOf(ctx, c, node, claims)
	q.spent += steps
	return o, err
}

// outcomeOf asks whether the claims can be allocated on the node, and tells the steps that took.
func outcomeOf(ctx context.Context, c *allocator.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (outcome, int64, error) {
	result, err := c.Allocate(ctx, node, claims, nil)
	var abort *allocator.AbortError
	switch {
	case errors.As(err, &abort):
		return aborted, 0, nil
	case err != nil:
		return undecided, 0, err
	case result.Outcome == allocator.Allocated:
		return fits, result.Steps, nil
	case result.Outcome == allocator.Unsatisfiable:
		return refused, result.Steps, nil
	}
	return undecided, result.Steps, nil
}

// world returns the cluster that the edits make of the surroundings of the node.
func (l *local) world(edits []edit) *allocator.Cluster {
	key := worldKey(edits)
	if c, ok := l.clusters[key]; ok {
		return c
	}
	c := clusterWith(l.snapshot, edits, l.q.cluster)
	l.clusters[key] = c
	return c
}

// clusterWith builds the cluster of a snapshot with the edits made that are about the world. What
// is known already of expressions and devices is shared with a like cluster.
func clusterWith(s *inspect.Snapshot, edits []edit, like *allocator.Cluster) *allocator.Cluster {
	w := worldOf(edits)
	if len(w.pools) > 0 {
		s = s.With(func(o *inspect.Objects) { completePools(o, w.pools) })
	}
	if len(w.counters) > 0 {
		s = s.With(func(o *inspect.Objects) { raisePools(o, w.counters) })
	}
	if len(w.gates) > 0 {
		s = s.WithFeatures(s.Features().With(w.gates))
	}
	return allocator.NewCluster(s, allocator.Options{Ignore: w.released, StepLimit: probeSteps, Like: like})
}

// completePools makes pools complete with the slices of their newest generation that are published.
func completePools(o *inspect.Objects, pools map[inspect.PoolID]bool) {
	newest, count := map[inspect.PoolID]int64{}, map[inspect.PoolID]int64{}
	for _, slice := range o.Slices {
		id, generation := inspect.PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}, slice.Spec.Pool.Generation
		if count[id] == 0 || generation > newest[id] {
			newest[id], count[id] = generation, 0
		}
		if generation == newest[id] {
			count[id]++
		}
	}
	for i, slice := range o.Slices {
		id := inspect.PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}
		if pools[id] && slice.Spec.Pool.Generation == newest[id] {
			out := slice.DeepCopy()
			out.Spec.Pool.ResourceSliceCount = count[id]
			o.Slices[i] = out
		}
	}
	for id := range pools {
		repairPool(o, id, newest[id])
	}
}

// repairPool takes out of a pool what makes it invalid: second devices of a name on the same nodes, second
// counter sets of a name, and devices that consume counters that do not exist. The slices of that
// generation are copies already.
func repairPool(o *inspect.Objects, id inspect.PoolID, generation int64) {
	counters := map[string]map[string]resourcev1.Counter{}
	var devices []*resourcev1.ResourceSlice
	for _, slice := range o.Slices {
		if slice.Spec.Driver != id.Driver || slice.Spec.Pool.Name != id.Pool || slice.Spec.Pool.Generation != generation {
			continue
		}
		slice.Spec.SharedCounters = slices.DeleteFunc(slice.Spec.SharedCounters, func(set resourcev1.CounterSet) bool {
			_, twice := counters[set.Name]
			if !twice {
				counters[set.Name] = set.Counters
			}
			return twice
		})
		devices = append(devices, slice)
	}
	type place struct{ node, name string }
	seen := map[place]bool{}
	for _, slice := range devices {
		node := ""
		if slice.Spec.NodeName != nil {
			node = *slice.Spec.NodeName
		}
		slice.Spec.Devices = slices.DeleteFunc(slice.Spec.Devices, func(d resourcev1.Device) bool {
			at := place{node, d.Name}
			bad := seen[at] || slices.ContainsFunc(d.ConsumesCounters, func(use resourcev1.DeviceCounterConsumption) bool {
				return consumesUnknown(use, counters)
			})
			seen[at] = true
			return bad
		})
	}
}

func consumesUnknown(use resourcev1.DeviceCounterConsumption, counters map[string]map[string]resourcev1.Counter) bool {
	for name := range use.Counters {
		if _, ok := counters[use.CounterSet][name]; !ok {
			return true
		}
	}
	return counters[use.CounterSet] == nil
}
