package get

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestPendingIsBounded: beyond the bound on different questions a claim gets what its pods tell, and the
// same question is asked once, however many claims have it.
func TestPendingIsBounded(t *testing.T) {
	var objects inspect.Objects
	for i := range maxQuestions + 20 {
		name := fmt.Sprintf("claim-%04d", i)
		objects.Claims = append(objects.Claims, claimFor(name, int64(i+1)))
	}
	for i := range 300 {
		objects.Claims = append(objects.Claims, claimFor(fmt.Sprintf("same-%04d", i), 1))
	}
	objects.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}
	s := inspect.New(objects, inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor),
		Health:   map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Synced}},
	})
	list := output.Claims(s, "")
	if err := explainPending(context.Background(), s, list); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, item := range list.Items {
		c := item.(*output.Claim)
		byAllocator := strings.Contains(c.Reason, `device class "gpu" does not exist`)
		if !byAllocator && c.Reason != "no pod uses it" {
			t.Errorf("%s: %q", c.Name, c.Reason)
		}
		if strings.HasPrefix(c.Name, "same-") && !byAllocator {
			t.Errorf("%s wants what an earlier claim wants, but has reason %q", c.Name, c.Reason)
		}
		if strings.HasPrefix(c.Name, "claim-") && byAllocator {
			asked++
		}
	}
	if asked != maxQuestions {
		t.Errorf("asked about %d different specs, want %d", asked, maxQuestions)
	}
}

func claimFor(name string, count int64) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
			},
		}}}},
	}
}
