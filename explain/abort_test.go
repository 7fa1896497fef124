package explain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// uneven is a node for each list of attributes: one GPU that has them, each with the value 4.
func uneven(attributes ...string) inspect.Objects {
	var o inspect.Objects
	for n, list := range attributes {
		device := resourcev1.Device{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
		for _, name := range strings.Fields(list) {
			device.Attributes[resourcev1.QualifiedName(name)] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(4))}
		}
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(n)}})
		o.Slices = append(o.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: nodeName(n)}, Spec: resourcev1.ResourceSliceSpec{
			Driver: bigDriver, NodeName: ptr.To(nodeName(n)), Pool: resourcev1.ResourcePool{Name: nodeName(n), Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{device},
		}})
	}
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}
	return o
}

const field = `device.attributes["gpu.example.com"].`

// TestFixesOfFailingSelectors: where a selector fails for a device, the fields that it lacks are read under the right
// name or asked for first, or the term goes. Each fix is applied and asked about.
func TestFixesOfFailingSelectors(t *testing.T) {
	for _, tt := range []struct {
		name       string
		attributes []string
		selector   string
		class      string // selector of the class
		want       []string
	}{
		{"one field", []string{"a b", "b"}, field + `a >= 4 && ` + field + `b == 4`, "",
			[]string{"1 has(" + field + "a) && " + field + "a >= 4 && " + field + "b == 4", "2 " + field + "b == 4"}},
		{"another field behind it", []string{"a b", "b", "a"}, field + `a >= 4 && ` + field + `b == 4`, "",
			[]string{"1 has(" + field + "a) && " + field + "a >= 4 && has(" + field + "b) && " + field + "b == 4", "3 –"}},
		{"two fields in a term", []string{"a b", "b", "a"}, field + `a + ` + field + `b == 8`, "",
			[]string{"1 has(" + field + "a) && has(" + field + "b) && " + field + "a + " + field + "b == 8", "3 –"}},
		{"an alternative", []string{"a b", "b"}, field + `a == 3 || ` + field + `a == 4`, "",
			[]string{"1 has(" + field + "a) && (" + field + "a == 3 || " + field + "a == 4)", "2 –"}},
		{"no field at all", []string{"a", "a"}, `1 / (` + field + `a - 4) == 1`, "", []string{"2 –"}},
		{"no device has it", []string{"b", "b"}, field + `a == 4 && ` + field + `b == 4`, "", []string{"2 " + field + "b == 4"}},
		{"a slip", []string{"model", "model"}, field + `modell == 4`, "", []string{"2 " + field + "model == 4", "2 –"}},
		{"a slip in the domain", []string{"model", "model"}, `device.attributes["gpu.example.org"].model == 4`, "",
			[]string{"2 " + field + "model == 4", "2 –"}},
		{"no slip, since others have it", []string{"model", "modell"}, field + `modell == 4`, "",
			[]string{"1 has(" + field + "modell) && " + field + "modell == 4", "2 –"}},
		{"of the class", []string{"a b", "b"}, field + `b == 4`, field + `a == 4`,
			[]string{"1 class has(" + field + "a) && " + field + "a == 4", "2 class –"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := uneven(tt.attributes...)
			if tt.class != "" {
				o.Classes[0].Spec.Selectors = celSelectors(tt.class)
			}
			claim := gpuClaim(1, "any")
			claim.Spec.Devices.Requests[0].Exactly.Selectors = celSelectors(tt.selector)
			e, err := explain.ClaimObject(context.Background(), newest(o), claim, explain.Options{})
			if err != nil || e.Verdict != explain.Invalid {
				t.Fatalf("%+v, %v", e, err)
			}
			var got []string
			for i := range e.Fixes {
				got = append(got, repaired(t, o, claim, &e.Fixes[i]))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("fixes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestFixOfAClassOfAlternatives: alternatives of one class meet its failing term, which is mended once, for all
// the fields that devices lack.
func TestFixOfAClassOfAlternatives(t *testing.T) {
	o := uneven("a b", "b", "a")
	o.Classes[0].Spec.Selectors = celSelectors(field + `a + ` + field + `b == 8`)
	claim := gpuClaim(1, "any")
	claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{Name: "first", FirstAvailable: []resourcev1.DeviceSubRequest{
		{Name: "x", DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Selectors: celSelectors(`false`)},
		{Name: "y", DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
	}}
	e, err := explain.ClaimObject(context.Background(), newest(o), claim, explain.Options{})
	if err != nil || e.Verdict != explain.Invalid || len(e.Fixes) == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	want := "1 class has(" + field + "a) && has(" + field + "b) && " + field + "a + " + field + "b == 8"
	if got := repaired(t, o, claim, &e.Fixes[0]); got != want {
		t.Errorf("fix\n%s\nwant\n%s", got, want)
	}
}

// repaired applies a fix, checks that it helps on as many nodes as it says and that nothing fails any more, and
// returns that number with the selector, or selector of the class, that it leaves.
func repaired(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim, f *explain.Fix) string {
	t.Helper()
	where, left := "", "–"
	if f.Kind != explain.RelaxSelector {
		t.Errorf("fix %+v", f)
	}
	if len(f.Patch) == 0 {
		where = "class "
		class := o.Classes[0].DeepCopy()
		class.Spec.Selectors = nil
		if _, expression, ok := strings.Cut(f.Message, "do not match: "); ok {
			class.Spec.Selectors = celSelectors(expression)
			left = expression
		}
		o.Classes = []*resourcev1.DeviceClass{class}
	} else {
		claim = patched(t, claim, f.Patch)
		if selectors := claim.Spec.Devices.Requests[0].Exactly.Selectors; len(selectors) > 0 {
			left = selectors[0].CEL.Expression
		}
	}
	fits := 0
	c := newest(o)
	for _, node := range o.Nodes {
		result, err := c.Allocate(context.Background(), node, []*resourcev1.ResourceClaim{claim}, nil)
		var abort *allocator.AbortError
		switch {
		case errors.As(err, &abort):
			t.Errorf("with the fix %q the scheduler gives up on %s: %v", f.Message, node.Name, err)
		case err != nil:
			t.Fatal(err)
		case result.Outcome == allocator.Allocated:
			fits++
		}
	}
	if fits != f.Nodes {
		t.Errorf("the fix %q helps on %d nodes, not %d", f.Message, fits, f.Nodes)
	}
	return fmt.Sprintf("%d %s%s", f.Nodes, where, left)
}
