package fix_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// oddNode is a cluster of one node with two GPUs of model H100, which have the numbers 1 and 3.
func oddNode() inspect.Objects {
	o := explaintest.NodesWithAttributes("-")
	o.Slices[0].Spec.Devices = nil
	for n, name := range []string{"gpu-0", "gpu-1"} {
		o.Slices[0].Spec.Devices = append(o.Slices[0].Spec.Devices, resourcev1.Device{
			Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model":  {StringValue: ptr.To("H100")},
				"number": {IntValue: ptr.To(int64(2*n + 1))},
			},
		})
	}
	return o
}

// explainOdd explains, for oddNode, a claim with selectors.
func explainOdd(t *testing.T, expressions ...string) *explain.Explanation {
	t.Helper()
	claim := explaintest.GPUClaim(1, "any")
	claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(expressions...)
	c := explaintest.NewCluster(oddNode())
	e, err := question.ClaimObject(context.Background(), c, claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestActualOfTerms checks what is said of the devices for a term that is no plain comparison.
func TestActualOfTerms(t *testing.T) {
	for _, tt := range []struct{ name, term, want string }{
		{"a call", explaintest.Attribute + `model.lowerAscii().matches("a100")`,
			`model.lowerAscii().matches("a100"); devices here have model H100`},
		{"values that differ", explaintest.Attribute + `number % 2 == 0`,
			`number % 2 == 0; devices here have number 1, 3`},
		{"two fields", explaintest.Attribute + `number > 5 || ` + explaintest.Attribute + `model.startsWith("A")`,
			`number > 5 || model.startsWith("A"); devices here have number 1, 3 and model H100`},
		{"a field that is asked for first", `has(` + explaintest.Attribute + `gone) && ` + explaintest.Attribute + `gone == 1`,
			`has(gone); devices here have no gone`},
		{"an optional field", `device.attributes["gpu.example.com"].?gone.orValue(0) > 4`,
			`gone.orValue(0) > 4; devices here have no gone`},
		{"the same name in two domains", explaintest.Attribute + `model == device.attributes["other.example.com"].?model.orValue("") || ` + explaintest.Attribute + `model == "A"`,
			explaintest.Attribute + `model == device.attributes["other.example.com"].?model.orValue("") || ` + explaintest.Attribute + `model == "A"; devices here have device.attributes["gpu.example.com"].model H100 and no device.attributes["other.example.com"].model`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := explainOdd(t, tt.term)
			if e.Conflict == nil {
				t.Fatalf("no conflict: %s", e.Message)
			}
			if got := e.Conflict.Requirements[0].Sentence(); got != "gpu wants "+tt.want {
				t.Errorf("%s\nwant gpu wants %s", got, tt.want)
			}
		})
	}
}

// TestOtherBlockers checks that a fix that changes more than the conflict is about says why.
func TestOtherBlockers(t *testing.T) {
	for _, tt := range []struct {
		name      string
		selectors []string
		blocker   string
		fails     bool
	}{
		{"a second term that no device meets", []string{explaintest.Attribute + `model == "A100"`, explaintest.Attribute + `number % 2 == 0`},
			"gpu wants model == A100; devices here have H100", false},
		{"a second term that fails", []string{explaintest.Attribute + `model == "A100" && ` + explaintest.Attribute + `gone % 2 == 0`},
			"gpu wants gone % 2 == 0; devices here have no gone, without which it fails", true},
		{"a second plain comparison", []string{explaintest.Attribute + `number == 2`, explaintest.Attribute + `model == "A100"`},
			"gpu wants number == 2; devices here have 3, 1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := explainOdd(t, tt.selectors...)
			if e.Conflict == nil || e.Conflict.Sole || len(e.Fixes) == 0 {
				t.Fatalf("%s: conflict %+v, fixes %+v", e.Message, e.Conflict, e.Fixes)
			}
			f := e.Fixes[0]
			if len(f.OtherBlockers) != 1 {
				t.Fatalf("%+v", f)
			}
			if got := f.OtherBlockers[0].Sentence(); got != tt.blocker || f.OtherBlockers[0].Fails != tt.fails {
				t.Errorf("%s, fails %t; want %s, %t", got, f.OtherBlockers[0].Fails, tt.blocker, tt.fails)
			}
		})
	}
}

// TestNoOtherBlockers checks that there are none where each change helps alone.
func TestNoOtherBlockers(t *testing.T) {
	for _, f := range explainOdd(t, explaintest.Attribute+`model == "A100"`).Fixes {
		if len(f.OtherBlockers) > 0 {
			t.Errorf("%+v", f)
		}
	}
}
