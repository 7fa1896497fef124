package allocator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

const smallCluster = `A node with a device.

-- cluster.yaml --
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: d
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - {name: d1}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec: {devices: {requests: [{name: r0, exactly: {deviceClassName: any}}]}}
`

// oneQuestion parses the cluster with one question and the given answer to it.
func oneQuestion(t *testing.T, want string) (*scenario.Scenario, *scenario.Question) {
	t.Helper()
	s, err := scenario.Parse("s", []byte(smallCluster+"-- question --\nn1: a\n-- want --\n"+want), fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	return s, &s.Questions[0]
}

// Each case wants one thing that the answer, which has everything, does not have.
func TestCheckFindsEachDifference(t *testing.T) {
	yes := true
	full := func() *answer {
		return &answer{Outcome: scenario.Allocated, Allocations: []resourcev1.AllocationResult{{
			NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields:      []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}},
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: "Exists"}},
			}}},
			Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{
					Request: "r0", Driver: "d", Pool: "p", Device: "d1", AdminAccess: &yes,
					Tolerations: []resourcev1.DeviceToleration{
						{Key: "k", Operator: "Equal", Value: "v", Effect: "NoSchedule"}, {Operator: "Exists"},
					},
					BindingConditions: []string{"ready"}, BindingFailureConditions: []string{"broken"},
					SkipNodeOperations: []resourcev1.SkipNodeOperation{"*"},
					ConsumedCapacity:   map[resourcev1.QualifiedName]resource.Quantity{"m": resource.MustParse("1000m")},
				}},
				Config: []resourcev1.DeviceAllocationConfiguration{{
					Source: resourcev1.AllocationConfigSourceClass, Requests: []string{"r0", "r1"},
					DeviceConfiguration: resourcev1.DeviceConfiguration{Opaque: &resourcev1.OpaqueDeviceConfiguration{
						Driver: "d", Parameters: runtime.RawExtension{Raw: []byte(`{ "id": 1 }`)},
					}},
				}},
			},
		}}}
	}
	const right = `n1: allocated
  claim a
    r0 = d/p/d1; admin; consumes m=1; tolerates k=v:NoSchedule, *; binds ready; fails broken; skips *
    nodes where field metadata.name In n1; zone Exists
    config class r0,r1 d {"id":1}
`
	_, q := oneQuestion(t, right)
	if got := check(q, full()); len(got) > 0 {
		t.Fatalf("the right answer is refused: %v", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{"n1: allocated\n  claim a", "n1: unsatisfiable\n#", "outcome: got allocated, want unsatisfiable"},
		{"r0 = d/p/d1", "r0 = d/p/d2", "devices:"},
		{"r0 = d/p/d1", "r1 = d/p/d1", "devices:"},
		{"; admin", "", "admin access: got true, want false"},
		{"m=1", "m=2", "consumes: got m=1"},
		{"m=1", "m=1, x=1", "consumes:"},
		{"consumes m=1", "consumes none", "consumes:"},
		{"k=v:NoSchedule", "k=w:NoSchedule", "tolerates:"},
		{"tolerates k=v:NoSchedule, *", "tolerates none", "tolerates:"},
		{"binds ready", "binds none", "binds:"},
		{"fails broken", "fails other", "fails:"},
		{"skips *", "skips none", "skips:"},
		{"zone Exists", "zone DoesNotExist", "nodes:"},
		{"nodes where field metadata.name In n1; zone Exists", "nodes everywhere", "nodes:"},
		{"nodes where field metadata.name In n1; zone Exists", "nodes n1", "nodes:"},
		{`{"id":1}`, `{"id":2}`, "config:"},
		{`class r0,r1`, `class all`, "config:"},
		{`config class r0,r1 d {"id":1}`, "config none", "config:"},
		{"skips *", "shines *", "shines:"},
	} {
		t.Run(c.to, func(t *testing.T) {
			text := strings.Replace(right, c.from, c.to, 1)
			if strings.Contains(c.to, "#") {
				text = "n1: unsatisfiable\n"
			}
			_, q := oneQuestion(t, text)
			got := check(q, full())
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("differences: %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestAskAndCheckRejections(t *testing.T) {
	s, q := oneQuestion(t, "n1: unsatisfiable\n  rejected r0 d/p/d1 DeviceTainted\n  rejected b:r0 d/p/d1 DeviceInUse\n")
	a, err := ask(t.Context(), s, q)
	if err != nil {
		t.Fatal(err)
	}
	if a.Outcome != scenario.Allocated || fmt.Sprint(deviceTexts(&a.Allocations[0])) != "[r0 = d/p/d1]" {
		t.Fatalf("got %+v, want d1", a)
	}
	if got := checkRejections(q, a); len(got) != 2 {
		t.Errorf("got %q, want both rejections reported as not seen", got)
	}
	a.Rejections = []rejection{{Claim: "a", Request: "r0", Device: inspect.DeviceID{Driver: "d", Pool: "p", Device: "d1"}, Code: allocator.DeviceTainted}}
	if got := checkRejections(q, a); len(got) != 1 || !strings.Contains(got[0], "DeviceInUse") {
		t.Errorf("got %q, want only the rejection of claim b reported", got)
	}
}

func TestCheckSays(t *testing.T) {
	if got := checkSays(errors.New("no such key: x"), []string{"such key", "x"}); len(got) > 0 {
		t.Errorf("got %q, want nothing", got)
	}
	if got := checkSays(nil, []string{"x"}); len(got) != 1 {
		t.Errorf("got %q, want a complaint about the missing error", got)
	}
}

func TestFilesAndTemplates(t *testing.T) {
	testdata := fstest.MapFS{"drivers/x/t.yaml": &fstest.MapFile{Data: []byte(`
{apiVersion: v1, kind: Namespace, metadata: {name: ml}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: ml}
spec: {spec: {devices: {requests: [{name: r1, exactly: {deviceClassName: any}}]}}}
`)}}
	text := smallCluster + "-- files --\ndrivers/x/*.yaml\n-- question --\nn1: template:ml/t\n" +
		"-- want --\nn1: allocated\n  claim template:ml/t\n    r1 = d/p/d1\n"
	s, err := scenario.Parse("s", []byte(text), testdata)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ask(t.Context(), s, &s.Questions[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := check(&s.Questions[0], a); len(got) > 0 {
		t.Errorf("differences: %q", got)
	}
}
