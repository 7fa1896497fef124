package question_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestPoolGone: of a driver that publishes on one node and no longer on another, whose devices a claim holds,
// a claim that is refused is told so, with the command that looks for the driver's pods there. As long as the
// pool is published, nothing is said.
func TestPoolGone(t *testing.T) {
	for gone, want := range map[bool]string{
		false: "",
		true:  "see whether the driver " + explaintest.Driver + " runs on n1: it no longer publishes its pool n1, of which 1 claim still holds 2 devices",
	} {
		o := explaintest.NodesWithDevices(2, 2)
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{
			ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(`device.driver == "` + explaintest.Driver + `"`)},
		})
		o.Claims = append(o.Claims, explaintest.AllocatedClaim("held", "n1", 0))
		o.Claims[0].Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: explaintest.Driver, Pool: "n1", Device: "d0"}, {Request: "gpu", Driver: explaintest.Driver, Pool: "n1", Device: "d1"},
		}
		if gone {
			o.Slices = o.Slices[:1]
		}
		e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), explaintest.GPUClaim(5, "gpu"), question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, command := "", ""
		if len(e.Advice) > 0 {
			got, command = e.Advice[0].Message, e.Advice[0].Commands[0]
		}
		if got != want || gone && command != "kubectl get pods -A -o wide --field-selector spec.nodeName=n1 | grep -i gpu" {
			t.Errorf("gone %t: %q, %q, want %q", gone, got, command, want)
		}
	}
}
