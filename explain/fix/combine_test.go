package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestFixesOfClaimsTogether asks for a pod with two claims. Each fits on two nodes, but both do not fit on
// either.
func TestFixesOfClaimsTogether(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	s := cluster.Snapshot().With(func(o *inspect.Objects) {
		at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == "train-1" })
		second := o.Claims[at].DeepCopy()
		second.Name = "train-2"
		o.Claims = append(o.Claims, second)
	})
	e, err := question.PodObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), podWith("train-1", "train-2"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
		t.Fatal(e.Message)
	}
	claims := map[string]bool{}
	for _, r := range e.Conflict.Requirements {
		claims[r.Claim.Name] = true
	}
	if !claims["train-1"] || !claims["train-2"] {
		t.Errorf("the conflict is not between the claims: %+v", e.Conflict.Requirements)
	}
	// gpu-b-04 has six free: four for one, two for the other.
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool {
		return f.Kind == explain.ReduceCount && strings.HasPrefix(f.Message, "in claim train-2: ask for 2 devices instead of 4")
	}) {
		t.Errorf("fixes %+v", e.Fixes)
	}
}

// TestFixOfSeveralChanges asks for nine devices of a model that no node has, so two changes are needed. The
// fix is for gpu-b-04, which has most to give, six of its eight, and not for a node without a GPU, where it
// would help not to ask at all.
func TestFixOfSeveralChanges(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	claim, _ := cluster.Snapshot().Claim(inspect.ClaimRef{Namespace: "ml", Name: "pretrain-2"})
	claim = claim.DeepCopy()
	claim.Spec.Devices.Requests[0].Exactly.Count = 9
	claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(explaintest.Attribute + `model == "zzz"`)
	e, err := question.ClaimObject(context.Background(), cluster, claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "ReduceCount gpu-b-04 1 replace "+exactly+"count 6 replace "+exactly+
		`selectors/0/cel/expression "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'"`)
	if c := e.Conflict; c.Node != "gpu-b-04" || len(c.Requirements) != 1 || c.Requirements[0].Kind != explain.CountRequired {
		t.Errorf("conflict %+v", c)
	}
	if len(e.Fixes) == 0 {
		t.Fatal("no fix")
	}
	if b := e.Fixes[0].OtherBlockers; len(b) != 1 || b[0].Kind != explain.TermRequired {
		t.Errorf("other blockers %+v", b)
	}
}

// TestNoSuperfluousChange: r0 needs the device with links, which another claim holds, and r1 two of the only
// other device. To ask for one of it and to release the claim is enough. On the way there dropping the
// class's term looks needed: before r1 asks for less, it would take the device without it.
func TestNoSuperfluousChange(t *testing.T) {
	o := explaintest.NodesWithAttributes("model")
	devices := &o.Slices[0].Spec.Devices
	*devices = append(*devices, resourcev1.Device{Name: "links-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"links": {StringValue: ptr.To("z")}}})
	class := o.Classes[0].DeepCopy()
	class.Name, class.Spec.Selectors = "gpu-a", explaintest.CELSelectors(`device.driver == "gpu.example.com" && `+explaintest.Attribute+"model == 4")
	o.Classes = append(o.Classes, class)
	held := explaintest.GPUClaim(1, "any")
	held.Name = "held"
	held.Status.Allocation = &resourcev1.AllocationResult{}
	held.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: explaintest.Driver, Pool: "n0", Device: "links-0"}}
	o.Claims = append(o.Claims, held)
	links := resourcev1.FullyQualifiedName(explaintest.Driver + "/links")
	claim := explaintest.GPUClaim(1, "any", resourcev1.DeviceConstraint{DistinctAttribute: &links, Requests: []string{"gpu"}})
	second := *explaintest.GPUClaim(2, "gpu-a").Spec.Devices.Requests[0].DeepCopy()
	second.Name = "second"
	claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, second)
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil || e.Verdict != explain.Unsatisfiable || len(e.Fixes) == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	if got, want := describeFix(&e.Fixes[0]), "ReleaseClaim n0 1 replace /spec/devices/requests/1/exactly/count 1 ml/held"; got != want || len(e.Fixes[0].Also) != 1 {
		t.Errorf("fix %s and also %v; want %s", got, e.Fixes[0].Also, want)
	}
}
