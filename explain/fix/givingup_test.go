package fix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"

	corev1 "k8s.io/api/core/v1"
)

// exact is the first request of a claim.
func exact(c *resourcev1.ResourceClaim) *resourcev1.ExactDeviceRequest {
	return c.Spec.Devices.Requests[0].Exactly
}

// TestFixesWhereTheSchedulerGivesUp: the scheduler gives up for another reason than a selector. Each change
// that is written down as a patch is made and put to the scheduler's own allocator.
func TestFixesWhereTheSchedulerGivesUp(t *testing.T) {
	all := func(c *resourcev1.ResourceClaim) {
		exact(c).AllocationMode, exact(c).Count = resourcev1.DeviceAllocationModeAll, 0
	}
	another := func(c *resourcev1.ResourceClaim, count int64) {
		r := *c.Spec.Devices.Requests[0].DeepCopy()
		r.Name, r.Exactly.Count = "more", count
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
	}
	tests := []struct {
		name    string
		devices []int
		off     inspect.Gate
		change  func(o *inspect.Objects, c *resourcev1.ResourceClaim)
		want    []string // as describeFix prints them
	}{
		{"more devices than a claim may have", []int{40}, "", func(_ *inspect.Objects, c *resourcev1.ResourceClaim) { exact(c).Count = 33 },
			[]string{"ReduceCount n0 1 replace /spec/devices/requests/0/exactly/count 32"}},
		{"the same, and fewer devices", []int{2, 7, 7}, "", func(_ *inspect.Objects, c *resourcev1.ResourceClaim) { exact(c).Count = 33 },
			[]string{"ReduceCount n1 2 replace /spec/devices/requests/0/exactly/count 7"}},
		{"in two requests", []int{40}, "", func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			exact(c).Count = 20
			another(c, 15)
		}, []string{"ReduceCount n0 1 replace /spec/devices/requests/0/exactly/count 17", "ReduceCount n0 1 replace /spec/devices/requests/1/exactly/count 12"}},
		{"too many, and a term of no device", []int{40}, "", func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			exact(c).Count, exact(c).Selectors = 33, explaintest.CELSelectors("false")
		}, nil},
		{"all of an incomplete pool", []int{2}, "", func(o *inspect.Objects, c *resourcev1.ResourceClaim) {
			o.Slices[0].Spec.Pool.ResourceSliceCount = 2
			all(c)
		}, []string{"AddDevices n0 1"}},
		{"all of an invalid pool", []int{2}, "", func(o *inspect.Objects, c *resourcev1.ResourceClaim) {
			o.Slices[0].Spec.Devices[1].Name = "d00"
			all(c)
		}, []string{"AddDevices n0 1"}},
		{"all, one of which is in no group", []int{2}, "", func(o *inspect.Objects, c *resourcev1.ResourceClaim) {
			o.Slices[0].Spec.Devices[0].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numa": {IntValue: ptr.To(int64(0))}}
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(explaintest.Driver + "/numa"))}}
			all(c)
		}, []string{"DropConstraint n0 1 remove /spec/devices/constraints/0", `ReduceCount n0 1 replace /spec/devices/requests/0/exactly/allocationMode "ExactCount" add /spec/devices/requests/0/exactly/count 1`}},
		{"a feature that is off", []int{2}, inspect.GateAdminAccess, func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			exact(c).AdminAccess = ptr.To(true)
		}, []string{"EnableFeature n0 1"}},
		{"capacity while the feature is off", []int{2}, inspect.GateConsumableCapacity, func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			exact(c).Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("1")}}
		}, []string{"ReduceCapacity n0 1 remove /spec/devices/requests/0/exactly/capacity"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, claim := explaintest.NodesWithDevices(tt.devices...), explaintest.GPUClaim(1, "any")
			tt.change(&o, claim)
			features := inspect.DefaultFeatures(inspect.NewestMinor)
			if tt.off != "" {
				features = features.With(map[inspect.Gate]bool{tt.off: false})
			}
			c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: features}), scheduler.Options{})
			e, err := question.ClaimObject(t.Context(), c, claim, question.Options{})
			if err != nil || e.Verdict != explain.Invalid {
				t.Fatalf("%+v, %v", e, err)
			}
			var got []string
			for i := range e.Fixes {
				f := &e.Fixes[i]
				got = append(got, describeFix(f))
				if len(f.Patch) == 0 {
					continue
				}
				changed := patched(t, claim, f.Patch)
				if a := askUpstream(t, o, features, []*resourcev1.ResourceClaim{changed}, f.Node); a != upstreamFits {
					t.Errorf("%s: the scheduler's allocator %s", f.Message, a)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("fixes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestFixThatMakesAnotherNodeFail: without the term about the model, gpu-0 of the first node would do, but
// the other term fails on the second node. Then the scheduler gives up the pod, so that is no fix.
func TestFixThatMakesAnotherNodeFail(t *testing.T) {
	o := explaintest.NodesWithAttributes("model x", "model")
	claim := explaintest.GPUClaim(1, "any")
	exact(claim).Selectors = explaintest.CELSelectors(explaintest.Attribute + "model == 5 && " + explaintest.Attribute + "x == 4")
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil || e.Verdict != explain.Unsatisfiable {
		t.Fatalf("%+v, %v", e, err)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	for i := range e.Fixes {
		f := &e.Fixes[i]
		if len(f.Patch) == 0 {
			continue
		}
		changed := []*resourcev1.ResourceClaim{patched(t, claim, f.Patch)}
		for _, node := range o.Nodes {
			if askUpstream(t, o, features, changed, inspect.NodeName(node.Name)) == upstreamAborts {
				t.Errorf("%s: the scheduler gives up because of node %s", f.Message, node.Name)
			}
		}
	}
}

// numaNode has one node with some devices on NUMA node 0 and then some on NUMA node 1.
func numaNode(zero, one int) inspect.Objects {
	o := explaintest.NodesWithDevices(zero + one)
	for i := range o.Slices[0].Spec.Devices {
		numa := int64(0)
		if i >= zero {
			numa = 1
		}
		o.Slices[0].Spec.Devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numa": {IntValue: &numa}}
	}
	return o
}

// TestFixesThatTheSchedulerHasTimeFor asks for devices on one NUMA node. Before the scheduler comes to the
// second half, it tries every set of the first: 2 to the power of their number.
func TestFixesThatTheSchedulerHasTimeFor(t *testing.T) {
	for _, tt := range []struct {
		zero, one int
		count     int64
		verdict   explain.Verdict
		fixes     string // the counts that are proposed, in order, with ? if time may not suffice
	}{
		{10, 11, 12, explain.Unsatisfiable, "11"},
		{22, 23, 24, explain.Unsatisfiable, "22 23?"},
		{28, 29, 30, explain.Unsatisfiable, "28"},
		{22, 23, 23, explain.Unknown, ""},
		{28, 29, 29, explain.Invalid, "28"},
	} {
		claim := explaintest.GPUClaim(tt.count, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(explaintest.Driver + "/numa"))})
		e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(numaNode(tt.zero, tt.one)), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range e.Fixes {
			at := slices.IndexFunc(f.Patch, func(p explain.PatchOperation) bool { return strings.HasSuffix(p.Path, "/count") })
			if at < 0 {
				continue
			}
			text := fmt.Sprint(f.Patch[at].Value)
			if f.Timeout == explain.MayTimeOut {
				text += "?"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != tt.fixes || e.Verdict != tt.verdict {
			t.Errorf("%d of %d and %d: %s, fixes %v; want %s, fixes %s", tt.count, tt.zero, tt.one, e.Verdict, got, tt.verdict, tt.fixes)
		}
		if tt.verdict == explain.Unsatisfiable && strings.Contains(tt.fixes, "?") && e.Fixes[len(e.Fixes)-1].Timeout != explain.MayTimeOut {
			t.Errorf("%d of %d and %d: what may take too long is not last", tt.count, tt.zero, tt.one)
		}
	}
}

// TestRepairedSelectorAndFilters: a filter that refuses a node keeps the scheduler from a selector that fails
// there.
func TestRepairedSelectorAndFilters(t *testing.T) {
	o := explaintest.NodesWithAttributes("a", "b")
	claim := explaintest.GPUClaim(1, "any")
	exact(claim).Selectors = explaintest.CELSelectors(explaintest.Attribute + "a == 4")
	c := explaintest.NewCluster(o)
	here, elsewhere := podWith("question"), podWith("question")
	elsewhere.Spec.NodeName = "elsewhere"
	for _, tt := range []struct {
		pod   *corev1.Pod
		fixes bool
	}{{nil, true}, {here, true}, {elsewhere, false}} {
		q := &whatif.Question{
			Cluster: c, Claims: []*resourcev1.ResourceClaim{claim}, Nodes: c.Snapshot().Nodes(), Pod: tt.pod,
			Subject: explain.Subject{Kind: "ResourceClaim", Namespace: "ml", Name: "question"},
		}
		answers, err := q.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q.Answers = answers
		at := slices.IndexFunc(answers, func(a whatif.Answer) bool { return a.Abort != nil })
		if (at >= 0) != tt.fixes {
			t.Fatalf("pod %v: answers %+v", tt.pod, answers)
		}
		if at < 0 {
			continue // the scheduler never gets to the selector
		}
		e := &explain.Explanation{Verdict: explain.Invalid}
		if err := fix.FindForAbort(t.Context(), q, e, answers[at].Abort); err != nil {
			t.Fatal(err)
		}
		if len(e.Fixes) == 0 {
			t.Errorf("pod %v: no fixes", tt.pod)
		}
	}
}

// TestSweepTellsOfAborts: a node fits, and another makes the scheduler give up.
func TestSweepTellsOfAborts(t *testing.T) {
	o := explaintest.NodesWithAttributes("a", "b")
	claim := explaintest.GPUClaim(1, "any")
	exact(claim).Selectors = explaintest.CELSelectors(explaintest.Attribute + "a == 4")
	c := explaintest.NewCluster(o)
	w := (&whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{claim}}).Real(t.Context(), nil)
	raw, abort := w.Sweep(t.Context(), c.Snapshot().Nodes())
	if abort == nil || raw.Len() != 1 {
		t.Errorf("sweep: %d nodes, abort %v; want one node and an abort", raw.Len(), abort)
	}
	if fitting := w.Fitting(t.Context(), c.Snapshot().Nodes()); fitting.Len() != 0 {
		t.Errorf("%d nodes fit; the scheduler gives up", fitting.Len())
	}
}

// TestSelectorOfAnotherType: a selector that is no CEL makes the scheduler give up. It stays with every
// change, so none that leaves it there helps.
func TestSelectorOfAnotherType(t *testing.T) {
	claim := explaintest.GPUClaim(2, "any")
	claim.Spec.Devices.Requests[0].Exactly.Selectors = []resourcev1.DeviceSelector{{}}
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(explaintest.NodesWithDevices(1)), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Invalid || len(e.Fixes) > 0 {
		t.Errorf("%s: %s: %+v", e.Verdict, e.Message, e.Fixes)
	}
}
