package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestKubelets runs pods on three real kubelets whose DRA driver publishes its own devices. The claim of
// one pod is allocated and reserved by the plugin, the others' by the scheduler; what the kubelet tells the
// container runtime must be the device of the claim either way.
func TestKubelets(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	c.ApplyText(t, `{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}
`)
	nodes := map[string]*cluster.Node{}
	for _, name := range []string{"k1", "k2", "k3"} {
		nodes[name] = c.StartNode(t, name, 2)
	}
	for i := range 3 {
		c.ApplyText(t, kubeletPod(fmt.Sprint("scheduled-", i), ""))
	}
	c.ApplyText(t, kubeletPod("by-hand", "schedulingGates: [{name: example.com/wait}]"))
	podClaims(t, c, "by-hand", 1)
	result := c.Plugin(t, cluster.Admin, "allocate", "pod", "by-hand", "--node", "k2", "--reserve", "--yes", "--settle", "1s")
	if result.Code != 0 {
		t.Fatalf("%v", result)
	}
	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), "by-hand", types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"by-hand", "scheduled-0", "scheduled-1", "scheduled-2"} {
		node := running(t, c, name)
		if name == "by-hand" && node != "k2" {
			t.Errorf("pod %s runs on %s, but its claim was allocated for k2", name, node)
		}
		device := getClaim(t, c, podClaims(t, c, name, 1)[0]).Status.Allocation.Devices.Results[0]
		want := fmt.Sprintf("default/%s main gpu.example.com/device=%s-%s", name, device.Pool, device.Device)
		if got := nodes[node].CDIDevices(t); !slices.Contains(got, want) {
			t.Errorf("the container runtime of %s was asked for %q, want %q among them", node, got, want)
		}
	}
	released(t, c, "by-hand")
}

// released deletes a pod and waits until the controller has taken its claim away and the device is free.
func released(t *testing.T, c *cluster.Cluster, pod string) {
	t.Helper()
	claim := podClaims(t, c, pod, 1)[0]
	device := getClaim(t, c, claim).Status.Allocation.Devices.Results[0]
	if err := c.Client().CoreV1().Pods("default").Delete(t.Context(), pod, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, 60*time.Second, func(ctx context.Context) error {
		var list struct {
			Items []struct{ Pool, Device, State string }
		}
		c.Plugin(t, cluster.Admin, "get", "devices", "-o", "json").JSON(t, &list)
		for _, d := range list.Items {
			if d.Pool == device.Pool && d.Device == device.Device && d.State == "Free" {
				return ctx.Err()
			}
		}
		return fmt.Errorf("device %s/%s is not free: %v", device.Pool, device.Device, list)
	})
}

// kubeletPod is a pod with a claim from the template and a device of the device plugin.
func kubeletPod(name, spec string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  %s
  terminationGracePeriodSeconds: 1
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}], limits: {example.com/widget: 1}}}]
`, name, spec)
}

// running waits until a pod runs and returns its node.
func running(t *testing.T, c *cluster.Cluster, name string) (node string) {
	t.Helper()
	cluster.Eventually(t, 60*time.Second, func(ctx context.Context) error {
		pod, err := c.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s is %s on node %q: %v %v", name, pod.Status.Phase, pod.Spec.NodeName, pod.Status.Conditions, pod.Status.ContainerStatuses)
		}
		node = pod.Spec.NodeName
		return nil
	})
	return node
}
