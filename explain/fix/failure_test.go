package fix_test

import (
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestFailure checks that a selector that fails is explained: which term fails, what the device lacks, and
// what it has instead.
func TestFailure(t *testing.T) {
	for _, tt := range []struct {
		name, term string
		class      bool
		want       string
		near       string
	}{
		{"nothing is close", explaintest.Attribute + `size == 4`, false,
			"gpu wants size == 4; gpu-0 has no size, but generation 4, pcieRoot 4", ""},
		{"a misspelling", explaintest.Attribute + `genration >= 4`, false,
			"gpu wants genration >= 4; gpu-0 has no genration, but generation 4, pcieRoot 4; did you mean generation?", explaintest.Attribute + "generation"},
		{"another domain", `device.attributes["resource.kubernetes.io"].pcieRoot == 4`, false,
			"gpu wants pcieRoot == 4; gpu-0 has no pcieRoot, nor other attributes of resource.kubernetes.io; did you mean " + explaintest.Attribute + "pcieRoot?", explaintest.Attribute + "pcieRoot"},
		{"a capacity", explaintest.Attribute + `memory >= 4`, false,
			`gpu wants memory >= 4; gpu-0 has no memory, but generation 4, pcieRoot 4; did you mean device.capacity["gpu.example.com"].memory?`,
			`device.capacity["gpu.example.com"].memory`},
		{"of the class", explaintest.Attribute + `size == 4`, true,
			"class any wants size == 4; gpu-0 has no size, but generation 4, pcieRoot 4", ""},
		{"no field at all", `1 / (` + explaintest.Attribute + `generation - 4) == 1`, false, "gpu wants 1 / (generation - 4) == 1", ""},
		{"the second term", explaintest.Attribute + `generation == 4 && ` + explaintest.Attribute + `size == 4`, false,
			"gpu wants size == 4; gpu-0 has no size, but generation 4, pcieRoot 4", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithAttributes("generation pcieRoot")
			o.Slices[0].Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}}
			claim := explaintest.GPUClaim(1, "any")
			path := "spec.devices.requests[0].exactly.selectors[0].cel.expression"
			if tt.class {
				o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(tt.term)}}}
				path = "deviceclass/any spec.selectors[0].cel.expression"
			} else {
				claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(tt.term)
			}
			c := explaintest.NewCluster(o)
			e, err := question.ClaimObject(context.Background(), c, claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Invalid || e.Failure == nil {
				t.Fatalf("%s: %+v", e.Message, e.Failure)
			}
			if got := e.Failure.Sentence(); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
			if e.Failure.Near != tt.near || e.Failure.Path != path || e.Failure.Device.Device != "gpu-0" {
				t.Errorf("near %s, path %s, device %s", e.Failure.Near, e.Failure.Path, e.Failure.Device)
			}
			reads := strings.Contains(e.Failure.Message, "generation - 4")
			if (len(e.Failure.Lacks) == 1) == reads {
				t.Errorf("lacks %v", e.Failure.Lacks)
			}
		})
	}
}

// TestNoFailure checks that only a selector that fails for a device has a failure.
func TestNoFailure(t *testing.T) {
	if e := explainOdd(t, explaintest.Attribute+`model == "A100"`); e.Failure != nil {
		t.Errorf("%+v", e.Failure)
	}
	e := explainOdd(t, `device.attributes[`) // does not compile
	if e.Failure != nil || e.Verdict != explain.Invalid {
		t.Errorf("%s: %+v", e.Verdict, e.Failure)
	}
}
