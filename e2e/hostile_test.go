package e2e

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

const hostileYAML = `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: hostile, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, selectors: [
  {cel: {expression: 'quantity("1e-2000000000").isGreaterThan(quantity("1"))'}}]}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: honest, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
`

// TestSchedulerHangsOnASelector holds what explain says of such a selector: the API server accepts it, and
// kube-scheduler schedules nothing any more, not even a pod without claims. Should it fail because the pod is
// scheduled, then kube-scheduler has learned to give up, and allocator/selector should follow.
func TestSchedulerHangsOnASelector(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	c.AddNode(t, "n1", map[string]string{"kubernetes.io/hostname": "n1"})
	c.ApplyText(t, hostileYAML)
	c.ApplyText(t, podYAML("before", "n1", "", ""))
	bound(t, c, "before", "n1")

	c.ApplyText(t, anywherePod("victim", "hostile"))
	time.Sleep(time.Second) // for the scheduler to begin with it
	c.ApplyText(t, podYAML("after", "n1", "", ""))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		pod, err := c.Client().CoreV1().Pods("default").Get(ctx, "after", metav1.GetOptions{})
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if err == nil && pod.Spec.NodeName != "" {
			t.Fatal("the scheduler went on with another pod")
		}
		time.Sleep(500 * time.Millisecond)
	}

	began := time.Now()
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"explain", "claim", "hostile"}, 1, "default/hostile would keep the scheduler busy for hours"},
		{[]string{"explain", "claim", "honest"}, 0, "default/honest can be allocated on node n1"},
		{[]string{"get", "claims", "-A"}, 0, "it would keep the scheduler busy for hours"},
		{[]string{"top", "--once"}, 0, "would keep the scheduler busy"},
		{[]string{"allocate", "claim", "hostile", "--yes"}, 1, "would keep the scheduler busy for hours"},
	} {
		result := c.Plugin(t, cluster.Admin, test.args...)
		if result.Code != test.code || !strings.Contains(strings.Join(strings.Fields(result.Stdout+result.Stderr), " "), test.says) {
			t.Errorf("exit code %d, want %d with %q:\n%s", result.Code, test.code, test.says, result)
		}
	}
	t.Logf("five answers took %v", time.Since(began))
}
