package fit_test

import (
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestFitUntilTheSchedulerGivesUp: copies that fit count, also where one more makes the scheduler give up.
func TestFitUntilTheSchedulerGivesUp(t *testing.T) {
	for _, test := range []struct {
		nodes   []string // devices with the attribute, by node; "-" is one without
		total   int
		atLeast bool
	}{{[]string{"numa -"}, 1, false}, {[]string{"numa numa -"}, 2, false}, {[]string{"numa -", "numa numa numa"}, 1, true}} {
		o := explaintest.NodesWithDevices(make([]int, len(test.nodes))...)
		for n, list := range test.nodes {
			o.Slices[n].Spec.Devices = devicesWith(list)
		}
		claim := explaintest.GPUClaim(1, "any")
		claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(explaintest.Attribute + "numa >= 0")
		f, err := fit.Claim(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
		if err != nil || f.Total != test.total || f.AtLeast != test.atLeast {
			t.Errorf("%v: %+v, %v", test.nodes, f, err)
			continue
		}
		gives := 0
		for _, n := range f.Nodes {
			if n.GivesUp && strings.Contains(n.Limit.Message, "makes the scheduler give up") {
				gives++
			}
		}
		if gives != 1 {
			t.Errorf("%v: %+v", test.nodes, f.Nodes)
		}
	}
}

// devicesWith are devices with an attribute each, or none.
func devicesWith(list string) []resourcev1.Device {
	var out []resourcev1.Device
	for i, name := range strings.Fields(list) {
		d := resourcev1.Device{Name: fmt.Sprint("d", i)}
		if name != "-" {
			d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{resourcev1.QualifiedName(name): {IntValue: ptr.To(int64(i))}}
		}
		out = append(out, d)
	}
	return out
}
