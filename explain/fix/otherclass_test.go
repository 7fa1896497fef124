package fix_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestOtherClass checks that a whole device of the same driver is proposed where no partition is published.
func TestOtherClass(t *testing.T) {
	o := explaintest.NodesWithDevices(2)
	selects := func(name, expression string) *resourcev1.DeviceClass {
		return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(expression)}}
	}
	o.Classes = append(o.Classes,
		selects("whole", `device.driver == "gpu.example.com"`),
		selects("part", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].?type.orValue("gpu") == "mig"`),
		selects("foreign", `device.driver == "nic.example.com"`))
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), explaintest.GPUClaim(1, "part"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, `UseClass n0 1 replace `+exactly+`deviceClassName "whole"`)
	if len(e.Fixes) != 1 {
		t.Errorf("fixes %+v", e.Fixes)
	}
}
