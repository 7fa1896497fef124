package output_test

import (
	"bytes"
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestExplanationOnTheWire(t *testing.T) {
	device := inspect.DeviceID{Driver: "gpu.example.com", Pool: "n1", Device: "gpu-0"}
	holder := explain.Holder{
		Claim: inspect.ClaimRef{Namespace: "ml", Name: "other"}, State: inspect.ClaimReserved, Age: "5m",
		Pods: []inspect.PodRef{{Namespace: "ml", Name: "p"}}, Devices: []inspect.DeviceID{device},
	}
	e := &explain.Explanation{
		Subject: explain.Subject{Kind: "ResourceClaim", Namespace: "ml", Name: "train-0"},
		Verdict: explain.Unsatisfiable, Message: "one sentence", Nodes: explain.NodeCount{Total: 2},
		Allocation: &explain.Allocation{Node: "n1", Devices: []explain.Device{{
			Claim: inspect.ClaimRef{Namespace: "ml", Name: "train-0"}, Request: "gpus", ID: device,
			Consumed: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("10Gi")},
		}}},
		Groups: []explain.Group{{
			Nodes: []inspect.NodeName{"n1", "n2"},
			Reasons: []explain.Reason{{
				Code: allocator.DeviceInUse, Request: "gpus", Path: "spec.devices.requests[0]", Claims: []explain.Holder{holder},
				Devices: []inspect.DeviceID{device}, Message: "it is in use",
			}},
			Funnels: []explain.Funnel{{Request: "gpus", Needed: 1, Steps: []explain.Step{
				{Name: "seen", Left: 1, Most: 2},
				{Name: "free", Left: 0, Lost: []explain.Loss{{Code: allocator.DeviceInUse, Count: 1, Most: 2, Text: "in use", Claims: []explain.Holder{holder}}}},
			}}},
		}},
		Failure: &explain.Failure{
			Requirement: explain.Requirement{
				Kind: explain.TermRequired, Request: "gpus", Path: "spec.devices.requests[0].exactly.selectors[0].cel.expression",
				Message: "gpus wants size == 4", Actual: "gpu-0 has no size, but model", Term: "the whole term",
			},
			Device: device, Lacks: []string{"a field"}, Has: []string{"model"}, Near: "another field",
		},
		Fixes: []explain.Fix{{
			Kind: explain.RelaxSelector, Also: []explain.FixKind{explain.ReleaseClaim}, Node: "n1", Nodes: 1, Message: "change two things",
			OtherBlockers: []explain.Requirement{{Kind: explain.HeldRequired, Path: "resourceclaim ml/other", Message: "holds 1 device here: gpu-0", Holder: &holder, Fails: true}},
			Claims:        []explain.Holder{holder},
			Changes: []explain.ObjectChange{
				{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaim", Namespace: "ml", Name: "c", Patch: []explain.PatchOperation{{Op: "remove", Path: "/spec/x"}}},
				{APIVersion: "resource.k8s.io/v1", Kind: "DeviceClass", Name: "gpu", Creates: true},
			},
			Replaces: true, Commands: []string{"kubectl delete pod p -n ml"}, Remarks: []string{"r"},
		}, {Kind: explain.AddNode, Like: "n1", Nodes: 1, Message: "add a node like n1"}},
		Waits: []explain.Note{{Kind: "Pod", Namespace: "ml", Name: "p", Message: "it is gated"}},
		Basis: explain.Basis{Version: "1.37", Variant: allocator.Incubating, Source: "defaults", Revision: 1, Remarks: []string{"r"}},
	}
	pod := *e
	pod.Subject.Kind = "Pod"
	for name, value := range map[string]any{
		"explanation.json":     explanations.Explanations([]*explain.Explanation{e}),
		"explanationlist.json": explanations.Explanations([]*explain.Explanation{{Verdict: explain.Unknown, Basis: explain.Basis{Variant: allocator.Stable}}, &pod}),
	} {
		var b bytes.Buffer
		if err := (output.Format{Name: "json"}).PrintValue(&b, value); err != nil {
			t.Fatal(err)
		}
		output.Golden(t, name, b.Bytes())
	}
}

func testFit(nodes int) *explain.Fit {
	f := &explain.Fit{
		Subject: explain.Subject{Kind: "ResourceClaimTemplate", Namespace: "ml", Name: "trainer"},
		Partial: []string{"pods could not be read"}, Basis: explain.Basis{Version: "1.37", Variant: allocator.Incubating, Source: "defaults"},
	}
	for i := range nodes {
		n := explain.NodeFit{
			Node: inspect.NodeName(fmt.Sprintf("n%02d", i)), Copies: 4 - i/4,
			Limit: explain.Reason{Code: allocator.DeviceInUse, Request: "gpus", Message: "held by other claims"},
		}
		if i == 0 {
			n.AtLeast, n.Copies = true, 1024
		}
		if n.Copies <= 0 {
			n.Copies = 0
			n.Limit = explain.Reason{Code: allocator.NoDevices, Found: fmt.Sprint(i), Message: fmt.Sprintf("no devices on n%02d\x1b[2J", i)}
		}
		f.Nodes = append(f.Nodes, n)
		f.Total += n.Copies
		f.AtLeast = f.AtLeast || n.AtLeast
	}
	return f
}

func TestFit(t *testing.T) {
	var b bytes.Buffer
	if err := (output.Format{Name: "json"}).PrintValue(&b, explanations.Fits([]*explain.Fit{testFit(2)})); err != nil {
		t.Fatal(err)
	}
	output.Golden(t, "fit.json", b.Bytes())
	b.Reset()
	shared := testFit(3)
	shared.Total, shared.AtLeast, shared.Partial = 1, false, nil
	for _, f := range []*explain.Fit{testFit(12), testFit(20), shared} {
		if err := explanations.PrintFit(&b, f, text.Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
	}
	output.Golden(t, "fit.txt", b.Bytes())
}
