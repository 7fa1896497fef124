package shapes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// smallNode is a node with some devices of each model.
func smallNode(name string, cpus int, models ...string) (*corev1.Node, *resourcev1.ResourceSlice) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}},
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
	}}
	for i, model := range models {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name: fmt.Sprint("gpu-", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To(model)}},
		})
	}
	return node, slice
}

var models = []string{"a", "b"}

func someModels(r *rand.Rand, most int) []string {
	var out []string
	for range r.IntN(most + 1) {
		out = append(out, models[r.IntN(len(models))])
	}
	slices.Sort(out)
	return out
}

// smallProblem is a few nodes, pods and shapes. Some pods prefer one model and take the other.
func smallProblem(r *rand.Rand) (*inspect.Objects, []*corev1.Pod, []nodeshape.Shape) {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	add := func(node *corev1.Node, slice *resourcev1.ResourceSlice) {
		o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
	}
	for i := range 1 + r.IntN(2) {
		add(smallNode(fmt.Sprint("node-", i), 1+r.IntN(3), someModels(r, 2)...))
	}
	var shapes []nodeshape.Shape
	for i := range 1 + r.IntN(2) {
		node, slice := smallNode(fmt.Sprint("shape-", i), 1+r.IntN(3), someModels(r, 3)...)
		shape := nodeshape.Shape{Name: node.Name, Source: nodeshape.Manifest, Node: node}
		shape.Company.Slices = []*resourcev1.ResourceSlice{slice}
		shapes = append(shapes, shape)
	}
	for i := range 1 + r.IntN(2) {
		o.Templates = append(o.Templates, randomTemplate(r, fmt.Sprint("t", i)))
	}
	var pods []*corev1.Pod
	for i := range 2 + r.IntN(3) {
		pod := explaintest.Worker(fmt.Sprintf("pod-%d", i), o.Templates[r.IntN(len(o.Templates))].Name)
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewQuantity(int64(1+r.IntN(2)), resource.DecimalSI)
		pod.Spec.Priority = ptr.To(int32(r.IntN(2)))
		pod.UID, pod.CreationTimestamp = types.UID(pod.Name), metav1.Unix(int64(i), 0)
		pods = append(pods, pod)
	}
	return o, pods, shapes
}

func randomTemplate(r *rand.Rand, name string) *resourcev1.ResourceClaimTemplate {
	selector := func(model string) string {
		return fmt.Sprintf(`device.attributes["gpu.example.com"].model == %q`, model)
	}
	switch r.IntN(3) {
	case 0:
		return explaintest.Template(name, int64(1+r.IntN(2)), "")
	case 1:
		return explaintest.Template(name, int64(1+r.IntN(2)), selector(models[r.IntN(2)]))
	}
	out := explaintest.Template(name, 1, "")
	choice := func(name string, count int64, model string) resourcev1.DeviceSubRequest {
		return resourcev1.DeviceSubRequest{Name: name, DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector(model)}}}}
	}
	out.Spec.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{Name: "gpus", FirstAvailable: []resourcev1.DeviceSubRequest{choice("best", 2, "a"), choice("other", 1, "b")}}
	return out
}

// plainCheck places pods by trying everything, each time in a cluster that is made anew.
type plainCheck struct {
	t    testing.TB
	seen map[string]bool
}

// fitting are the objects after a pod was placed on each node on which it fits.
func (p *plainCheck) fitting(o *inspect.Objects, pod *corev1.Pod) []*inspect.Objects {
	var out []*inspect.Objects
	for _, node := range o.Nodes {
		c := explaintest.NewCluster(*o)
		d, err := question.Decide(context.Background(), c, pod, question.Options{Hypothetical: true, Node: inspect.NodeName(node.Name)})
		if err != nil {
			p.t.Fatal(err)
		}
		if d.Took != nil {
			out = append(out, replay.With(c, d.Took).Snapshot().Objects())
		}
	}
	return out
}

// state is the same where pods have the same.
func state(o *inspect.Objects, left []*corev1.Pod) string {
	var parts []string
	for _, pod := range o.Pods {
		parts = append(parts, pod.Name+"@"+pod.Spec.NodeName)
	}
	for _, claim := range o.Claims {
		if claim.Status.Allocation != nil {
			for _, d := range claim.Status.Allocation.Devices.Results {
				parts = append(parts, claim.Name+"="+d.Pool+"/"+d.Device)
			}
		}
	}
	sort.Strings(parts)
	return fmt.Sprint(parts, len(left))
}

// can reports whether some order and some nodes place all.
func (p *plainCheck) can(o *inspect.Objects, left []*corev1.Pod) bool {
	if len(left) == 0 {
		return true
	}
	key := state(o, left)
	if p.seen[key] {
		return false
	}
	p.seen[key] = true
	for i, pod := range left {
		for _, next := range p.fitting(o, pod) {
			if p.can(next, slices.Delete(slices.Clone(left), i, i+1)) {
				return true
			}
		}
	}
	return false
}

// must reports whether in this order all are placed on whatever nodes.
func (p *plainCheck) must(o *inspect.Objects, left []*corev1.Pod) bool {
	if len(left) == 0 {
		return true
	}
	key := state(o, left)
	if p.seen[key] {
		return true
	}
	p.seen[key] = true
	nexts := p.fitting(o, left[0])
	return len(nexts) > 0 && !slices.ContainsFunc(nexts, func(next *inspect.Objects) bool { return !p.must(next, left[1:]) })
}

// counts are how many nodes of each shape are added, by its index.
type counts map[int]int

func withNodes(o *inspect.Objects, shapes []nodeshape.Shape, n counts) *inspect.Objects {
	out := *o
	out.Nodes, out.Slices = slices.Clone(o.Nodes), slices.Clone(o.Slices)
	for i := range shapes {
		for k := range n[i] {
			shapes[i].Add(&out, k)
		}
	}
	return &out
}

func objects(pods []*corev1.Pod) []metav1.Object {
	out := make([]metav1.Object, len(pods))
	for i, pod := range pods {
		out[i] = pod
	}
	return out
}

func queued(o *inspect.Objects, pods []*corev1.Pod) []*corev1.Pod {
	s := inspect.New(*o, inspect.Config{})
	out := make([]*corev1.Pod, 0, len(pods))
	for _, i := range cycle.QueueOrder(s, objects(pods)) {
		out = append(out, pods[i])
	}
	return out
}

// TestShapesAgainstAllWays holds the numbers of nodes against those that are found by trying every order,
// every choice and every number.
func TestShapesAgainstAllWays(t *testing.T) {
	problems := effort.Of(500, 12)
	seen := map[string]int{}
	for seed := range problems {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		o, pods, shapes := smallProblem(r)
		got := shapesOf(t, o, pods, shapes, Options{})
		checkShapes(t, seed, o, pods, shapes, got, seen)
		if t.Failed() {
			return
		}
	}
	t.Log(seen)
	for _, what := range []string{"Fits", "Fails", "stuck", "more than at best", "nothing to do"} {
		if seen[what] == 0 {
			t.Errorf("no problem had: %s", what)
		}
	}
	if unknown := seen["Unknown"] + seen["may, and does"]; unknown*50 > problems {
		t.Errorf("%d answers are not known", unknown)
	}
}

// TestEnoughNodes tries out, with all choices of nodes, numbers of nodes that are said to be enough without
// trying.
func TestEnoughNodes(t *testing.T) {
	problems := effort.Of(600, 50)
	told, least := 0, 0
	for seed := range problems {
		r := rand.New(rand.NewPCG(uint64(seed), 18))
		o, pods, shapes := smallProblem(r)
		c := explaintest.NewCluster(*o)
		s := newFinder(c, shapes, Options{})
		if err := s.begin(t.Context(), pods); err != nil {
			t.Fatal(err)
		}
		if !s.local {
			continue
		}
		for i := range shapes {
			crowd, err := s.crowdOn(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(s.pods) + 1 {
				if !crowd.enough(n) {
					continue
				}
				told++
				if !(&plainCheck{t: t, seen: map[string]bool{}}).must(withNodes(o, shapes, counts{i: n}), queued(o, s.pods)) {
					t.Errorf("seed %d: %d nodes like %s are not enough", seed, n, shapes[i].Name)
				}
				least += words.Btoi(n > 0 && !(&plainCheck{t: t, seen: map[string]bool{}}).must(withNodes(o, shapes, counts{i: n - 1}), queued(o, s.pods)))
				break
			}
		}
	}
	if t.Logf("%d numbers are enough, %d of them the least", told, least); least < problems/10 {
		t.Errorf("only %d of %d numbers are the least", least, told)
	}
}

func shapesOf(t testing.TB, o *inspect.Objects, pods []*corev1.Pod, shapes []nodeshape.Shape, opts Options) *explain.ShapePlan {
	t.Helper()
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	if len(o.PodGroups) > 0 {
		features = features.With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})
	}
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: features}), scheduler.Options{Library: explaintest.Expressions})
	got, err := Find(t.Context(), c, pods, shapes, opts)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// checkShapes holds an answer against trying everything. seen counts what there was.
func checkShapes(t *testing.T, seed int, o *inspect.Objects, pods []*corev1.Pod, shapes []nodeshape.Shape, got *explain.ShapePlan, seen map[string]int) {
	t.Helper()
	fresh := func() *plainCheck { return &plainCheck{t: t, seen: map[string]bool{}} }
	stuck := map[string]bool{}
	for i := range got.Stuck {
		stuck[got.Stuck[i].Subject.Name] = true
	}
	var rest []*corev1.Pod
	for _, pod := range queued(o, pods) {
		each := counts{}
		for i := range shapes {
			each[i] = 1
		}
		if alone := len(fresh().fitting(withNodes(o, shapes, each), pod)) > 0; alone == stuck[pod.Name] {
			t.Errorf("seed %d: pod %s fits alone: %v, and is said to be stuck: %v", seed, pod.Name, alone, stuck[pod.Name])
		}
		if !stuck[pod.Name] {
			rest = append(rest, pod)
		}
	}
	if len(stuck) > 0 {
		seen["stuck"]++
	}
	if fits := fresh().must(o, rest); fits != got.Fits {
		t.Errorf("seed %d: everything fits: %v, and is said to: %v", seed, fits, got.Fits)
	}
	if got.Fits {
		seen["nothing to do"]++
		return
	}
	singles := 0
	for i := range got.Shapes {
		a := &got.Shapes[i]
		seen[string(a.Verdict)]++
		singles++
		at := slices.IndexFunc(shapes, func(s nodeshape.Shape) bool { return s.Name == a.Name })
		checkSingle(t, seed, o, rest, shapes, at, a, seen)
	}
	if singles != len(shapes) {
		t.Errorf("seed %d: %d answers for %d shapes", seed, singles, len(shapes))
	}
}

func checkSingle(t *testing.T, seed int, o *inspect.Objects, pods []*corev1.Pod, shapes []nodeshape.Shape, at int, a *explain.ShapeAnswer, seen map[string]int) {
	t.Helper()
	best, certain := -1, -1
	for n := 0; n <= len(pods) && certain < 0; n++ {
		with := withNodes(o, shapes, counts{at: n})
		if best < 0 && (&plainCheck{t: t, seen: map[string]bool{}}).can(with, pods) {
			best = n
		}
		if n > 0 && (&plainCheck{t: t, seen: map[string]bool{}}).must(with, pods) {
			certain = n
		}
	}
	switch a.Verdict {
	case explain.ShapeFits:
		if a.Count != certain {
			t.Errorf("seed %d: %s: %d nodes, and %d are the fewest with which all are placed for certain", seed, a.Name, a.Count, certain)
		}
		if !a.Minimal {
			seen["not proven"]++
		}
		if best < certain {
			seen["more than at best"]++
		}
		if best == 0 {
			seen["at best without"]++
		}
	case explain.ShapeFails:
		if best >= 0 {
			t.Errorf("seed %d: %s is said to fail (%s), and %d nodes do at best", seed, a.Name, a.Why, best)
		}
		if strings.TrimSpace(a.Why) == "" {
			t.Errorf("seed %d: %s is said to fail without a reason", seed, a.Name)
		}
	case explain.ShapeMayFit:
		if certain > 0 {
			seen["may, and does"]++
			t.Logf("seed %d: %s: %d nodes do, and it is only said that %d may: %s", seed, a.Name, certain, a.Count, a.Why)
		}
	case explain.ShapeUnknown:
	}
}
