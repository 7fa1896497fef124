package inspect_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// sequence makes random changes to a small cluster. Names are few, so that objects come and go and meet
// each other: pools of several generations, duplicates, claims that share devices.
type sequence struct {
	*rand.Rand
	inspect.Objects
}

func (q *sequence) name(kind string, n int) string { return fmt.Sprintf("%s-%d", kind, q.IntN(n)) }

func (q *sequence) slice() *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: q.name("slice", 12)}}
	s.Spec.Driver = q.name("driver", 2)
	s.Spec.Pool = resourcev1.ResourcePool{Name: q.name("pool", 4), Generation: q.Int64N(2), ResourceSliceCount: 1 + q.Int64N(2)}
	switch q.IntN(8) {
	case 0:
		s.Spec.AllNodes = ptr.To(true)
	case 1:
		s.Spec.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{q.name("zone", 2)}}}}}}
	default:
		s.Spec.NodeName = ptr.To(q.name("node", 5))
	}
	for range q.IntN(4) {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: q.name("device", 6)})
	}
	return s
}

func (q *sequence) claim() *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: q.name("ns", 2), Name: q.name("claim", 10)}}
	if q.IntN(4) == 0 {
		return c
	}
	c.Status.Allocation = &resourcev1.AllocationResult{}
	for range 1 + q.IntN(3) {
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Driver: q.name("driver", 2), Pool: q.name("pool", 6), Device: q.name("device", 6)})
	}
	return c
}

func (q *sequence) pod() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: q.name("ns", 2), Name: q.name("pod", 5)}}
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: ptr.To(q.name("claim", 10))}}
	return p
}

func (q *sequence) node() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: q.name("node", 5), Labels: map[string]string{"zone": q.name("zone", 2)}}}
}

func (q *sequence) rule() *resourcev1.DeviceTaintRule {
	return &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: q.name("rule", 3)}, Spec: resourcev1.DeviceTaintRuleSpec{
		DeviceSelector: &resourcev1.DeviceTaintSelector{Pool: ptr.To(q.name("pool", 4))},
		Taint:          resourcev1.DeviceTaint{Key: q.name("key", 2), Effect: resourcev1.DeviceTaintEffectNoSchedule}}}
}

// change adds, replaces or removes an object. The lists that it changes are copies.
func (q *sequence) change() {
	remove := q.IntN(3) == 0
	switch q.IntN(8) {
	case 0:
		q.Nodes = changed(q, q.Nodes, q.node(), remove)
	case 1, 2, 3:
		q.Slices = changed(q, q.Slices, q.slice(), remove)
	case 4:
		q.Pods = changed(q, q.Pods, q.pod(), remove)
	case 5:
		q.TaintRules = changed(q, q.TaintRules, q.rule(), remove)
	default:
		q.Claims = changed(q, q.Claims, q.claim(), remove)
	}
}

// changed puts an object into a copy of a list, or takes out the one of its name. In one of 30 cases it is
// added beside one of its name.
func changed[T metav1.Object](q *sequence, list []T, o T, remove bool) []T {
	list = slices.Clone(list)
	at := slices.IndexFunc(list, func(other T) bool {
		return other.GetName() == o.GetName() && other.GetNamespace() == o.GetNamespace()
	})
	switch {
	case at >= 0 && remove:
		return slices.Delete(list, at, at+1)
	case at >= 0 && q.IntN(30) > 0:
		list[at] = o
		return list
	case remove:
		return list
	}
	return append(list, o)
}

// answers is everything that a Snapshot says.
func answers(s *inspect.Snapshot) map[string]any {
	out := map[string]any{
		"objects": *s.Objects(), "slices": s.Slices(), "devices": s.Devices(), "pools": s.PoolStatuses(), "assumed": s.NodesAssumed(),
		"idle": s.IdleHolders(),
	}
	for i, node := range s.Nodes() {
		pools, err := s.PoolsAt(i)
		out["node "+node.Name] = []any{pools, err}
		if on, onErr := s.PoolsOn(node); !reflect.DeepEqual([]any{on, onErr}, []any{pools, err}) {
			out["node "+node.Name] = "PoolsOn and PoolsAt differ"
		}
	}
	for id, holders := range s.AllHolders {
		out["holders "+id.String()] = holders
	}
	for ns := range 2 {
		for i := range 10 {
			ref := inspect.ClaimRef{Namespace: fmt.Sprintf("ns-%d", ns), Name: fmt.Sprintf("claim-%d", i)}
			claim, ok := s.Claim(ref)
			out["claim "+ref.String()] = []any{claim, ok, s.PodsOf(ref)}
			pod, ok := s.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: fmt.Sprintf("pod-%d", i)})
			out["pod "+ref.String()] = []any{pod, ok}
		}
	}
	return out
}

// TestNext makes sequences of random changes and compares the Snapshot that follows from the one before
// with one that is built from nothing.
func TestNext(t *testing.T) {
	for seed := range uint64(effort.Of(300, 40)) {
		q := &sequence{Rand: rand.New(rand.NewPCG(seed, 1))}
		config := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}
		s := inspect.New(inspect.Objects{}, config)
		var all []*inspect.Snapshot
		for step := range 40 {
			q.Objects = *s.Objects()
			for range q.IntN(4) {
				q.change()
			}
			config.Revision++
			// What New sorts in place must not be what the Snapshot before holds.
			fresh := q.Objects
			fresh.Claims, fresh.Slices = slices.Clone(fresh.Claims), slices.Clone(fresh.Slices)
			if s.NodesAssumed() && slices.Equal(fresh.Nodes, s.Nodes()) {
				fresh.Nodes = nil
			}
			before := answers(s)
			var next *inspect.Snapshot
			if q.IntN(3) > 0 {
				if q.IntN(15) == 0 {
					gate := inspect.Gates()[q.IntN(len(inspect.Gates()))]
					config.Features = config.Features.With(map[inspect.Gate]bool{gate: q.IntN(2) == 0})
				}
				next = s.Next(q.Objects, config)
			} else {
				next, fresh = q.place(s, fresh)
				config.Revision = s.Revision()
			}
			if q.IntN(2) == 0 {
				answers(next) // the one after it finds its caches filled, or not
			}
			compareAnswers(t, fmt.Sprintf("seed %d step %d", seed, step), answers(next), answers(inspect.New(fresh, config)))
			compareAnswers(t, fmt.Sprintf("seed %d step %d, of the snapshot before", seed, step), answers(s), before)
			for _, earlier := range append(all, next) {
				compareChangedPods(t, fmt.Sprintf("seed %d step %d", seed, step), earlier, next)
				compareChangedPods(t, fmt.Sprintf("seed %d step %d, backwards", seed, step), next, earlier)
			}
			all = append(all, next)
			if t.Failed() {
				return
			}
			s = next
		}
	}
}

// place places some claims and pods, and does the same with a list of all objects.
func (q *sequence) place(s *inspect.Snapshot, all inspect.Objects) (*inspect.Snapshot, inspect.Objects) {
	var claims []*resourcev1.ResourceClaim
	var pods []*corev1.Pod
	all = *s.Objects()
	for range q.IntN(4) {
		claims = append(claims, q.claim())
		all.Claims = placed(all.Claims, claims[len(claims)-1])
	}
	for range q.IntN(4) {
		pods = append(pods, q.pod())
		all.Pods = placed(all.Pods, pods[len(pods)-1])
	}
	if s.NodesAssumed() {
		all.Nodes = nil
	}
	all.Slices = slices.Clone(all.Slices)
	return s.WithPlaced(claims, pods), all
}

// placed is a copy of a list with an object in place of the first of its name, or more.
func placed[T metav1.Object](list []T, o T) []T {
	list = slices.Clone(list)
	at := slices.IndexFunc(list, func(other T) bool {
		return other.GetName() == o.GetName() && other.GetNamespace() == o.GetNamespace()
	})
	if at < 0 {
		return append(list, o)
	}
	list[at] = o
	return list
}

// compareChangedPods looks at pointers in the lists of all pods. Of several pods of one name, those that are
// in both may be among the changed.
func compareChangedPods(t *testing.T, what string, before, after *inspect.Snapshot) {
	t.Helper()
	less := func(pods, others []*corev1.Pod) []*corev1.Pod {
		return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return slices.Contains(others, p) })
	}
	gone, come := after.ChangedPods(before)
	a, b := before.Objects().Pods, after.Objects().Pods
	if !slices.Equal(less(gone, come), less(a, b)) || !slices.Equal(less(come, gone), less(b, a)) {
		t.Errorf("%s: of %d and %d pods, %d are gone and %d have come", what, len(a), len(b), len(gone), len(come))
	}
}

func compareAnswers(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for key, w := range want {
		if !reflect.DeepEqual(got[key], w) {
			t.Errorf("%s: %s:\n got %v\nwant %v", what, key, got[key], w)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %s: %v, want none", what, key, got[key])
		}
	}
}

// TestNextShares holds the Snapshot to what it promises: what did not change is the same pointer.
func TestNextShares(t *testing.T) {
	slice := func(node string) *resourcev1.ResourceSlice {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "a"}}}
		return s
	}
	claim := func(pool string) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: pool, UID: types.UID(pool)}}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: pool, Device: "a"}}}}
		return c
	}
	var o inspect.Objects
	for i := range 9 {
		name := fmt.Sprintf("node-%d", i)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		o.Slices = append(o.Slices, slice(name))
		o.Claims = append(o.Claims, claim(name))
	}
	config := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}
	before := inspect.New(o, config)
	for _, node := range before.Nodes() {
		_, _ = before.PoolsOn(node)
	}
	next := *before.Objects()
	next.Slices, next.Claims = slices.Clone(next.Slices), slices.Clone(next.Claims)
	next.Slices[1], next.Claims[2] = slice("node-1"), claim("node-2")
	after := before.Next(next, config)
	for i := range 9 {
		a, _ := before.PoolsAt(i)
		b, _ := after.PoolsAt(i)
		if shared := a[0] == b[0]; shared != (i != 1) {
			t.Errorf("the pools of node %d are shared: %t", i, shared)
		}
		id := a[0].ID
		if shared := before.HoldersIn(id) == after.HoldersIn(id); shared != (i != 2) {
			t.Errorf("the holders of pool %s are shared: %t", id, shared)
		}
	}
}
