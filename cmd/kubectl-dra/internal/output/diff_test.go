package output_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/diffs"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestDiff is a comparison in which claims are allocated, moved, released, made, deleted and refused.
func testDiff(t *testing.T) (*flip.Diff, diffs.Moment, diffs.Moment) {
	t.Helper()
	before := output.Snapshot(t).With(func(o *inspect.Objects) {
		o.Claims = []*resourcev1.ResourceClaim{diffClaim("asks", ""), diffClaim("gets", ""), diffClaim("goes", ""), diffClaim("moves", "gpu-0"), diffClaim("stays", "gpu-1"), diffClaim("yields", "gpu-2")}
		o.Slices = []*resourcev1.ResourceSlice{diffSlice(5)}
		o.Nodes, o.Pods = o.Nodes[:1], nil
		o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
		diffNode(o)
	})
	after := before.With(func(o *inspect.Objects) {
		o.Claims = []*resourcev1.ResourceClaim{diffClaim("asks", ""), diffClaim("comes", ""), diffClaim("gets", "gpu-2"), diffClaim("moves", "gpu-3"), diffClaim("stays", "gpu-1"), diffClaim("yields", "")}
		o.Slices = []*resourcev1.ResourceSlice{diffSlice(4)}
		o.Claims = append(o.Claims, diffClaim("takes", "gpu-0"))
	})
	d, err := flip.Compare(context.Background(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	return d, diffs.Moment{Source: "before.yaml", Time: before.Time()}, diffs.Moment{Source: "after.yaml", Time: after.Time()}
}

func diffNode(o *inspect.Objects) {
	node := o.Nodes[0].DeepCopy()
	node.Name = "n"
	node.Spec.Taints = nil
	o.Nodes[0] = node
}

func diffSlice(devices int) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "d", NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1},
	}}
	for i := range devices {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: "gpu-" + string(rune('0'+i))})
	}
	return s
}

func diffClaim(name, device string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}},
	}}}
	if device != "" {
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "r", Driver: "d", Pool: "n", Device: device},
		}}}
	}
	return c
}

// TestDiff holds the two forms of a comparison.
func TestDiff(t *testing.T) {
	d, from, to := testDiff(t)
	data, err := json.MarshalIndent(diffs.NewDiff(d, from, to), "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	output.Golden(t, "diff.json", append(data, '\n'))
	var b strings.Builder
	for _, line := range diffs.DiffLines(d, from, to, text.Options{Width: 80}) {
		b.WriteString(line.String() + "\n")
	}
	output.Golden(t, "diff.txt", []byte(b.String()))
}

// TestDiffFlips: of what is in the comparison exactly these have flipped.
func TestDiffFlips(t *testing.T) {
	d, _, _ := testDiff(t)
	var got []string
	for _, f := range d.Flips {
		got = append(got, f.Subject.Name+" "+string(f.Before)+" "+string(f.After))
		if len(f.By.Changes) == 0 {
			t.Errorf("%s: nothing did it", f.Subject.Name)
		}
	}
	want := []string{"asks Allocatable Unsatisfiable", "gets Allocatable Allocated", "moves Allocated Allocated", "yields Allocated Unsatisfiable"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPartialDiff: of a view that is partial, no more is said than is known.
func TestPartialDiff(t *testing.T) {
	d, from, to := testDiff(t)
	d.Flips, d.Partial = nil, []string{"cannot list resourceclaims"}
	lines := ""
	for _, line := range diffs.DiffLines(d, from, to, text.Options{Width: 100}) {
		lines += line.String() + "\n"
	}
	if !strings.Contains(lines, "No verdict is known to have flipped\n") {
		t.Errorf("a partial view:\n%s", lines)
	}
}
