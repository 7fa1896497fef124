package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestPodLife follows a pod with a claim from a template and a claim of its own from its creation to its
// node, and asks the plugin at every station.
func TestPodLife(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	for _, node := range []string{"n1", "n2"} {
		c.AddNode(t, node, map[string]string{corev1.LabelHostname: node})
		c.ApplyText(t, sliceYAML("gpu.example.com", node, 4)+"---\n"+sliceYAML("nic.example.com", node, 2))
	}
	c.Apply(t, "testdata/pods.yaml")
	names := podClaims(t, c, "trainer", 2)

	var before explanation
	result := c.Plugin(t, cluster.Admin, "explain", "pod", "trainer", "-o", "json")
	if result.JSON(t, &before); before.Verdict != "Unsatisfiable" || result.Code != 3 {
		t.Errorf("a gated pod: want Unsatisfiable\n%v", result)
	}
	if !strings.Contains(result.Stdout, "example.com/wait") {
		t.Errorf("the gate that the pod waits for is not named\n%v", result)
	}
	var printed resourcev1.ResourceClaimList
	result = c.Plugin(t, cluster.Admin, "allocate", "pod", "trainer", "--node", "n2", "--dry-run=client", "-o", "json")
	result.JSON(t, &printed)

	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), "trainer", types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	bound(t, c, "trainer", "n2")
	if len(printed.Items) != len(names) {
		t.Fatalf("%d claims printed, want %d\n%v", len(printed.Items), len(names), result)
	}
	for i, name := range names {
		written := getClaim(t, c, name)
		if printed.Items[i].Name != name {
			t.Errorf("claim %d printed is %s, want %s", i, printed.Items[i].Name, name)
		}
		if diff := cmp.Diff(normalized(written.Status.Allocation), normalized(printed.Items[i].Status.Allocation)); diff != "" {
			t.Errorf("allocation of %s (-scheduler +plugin):\n%s", name, diff)
		}
	}
	afterScheduling(t, c, names)
	deviceHolders(t, c, names[0])
	extendedResource(t, c)
	ownClaim(t, c)
}

// afterScheduling asks about the pod and its claims when they have what they want.
func afterScheduling(t *testing.T, c *cluster.Cluster, names []string) {
	t.Helper()
	var after explanation
	result := c.Plugin(t, cluster.Admin, "explain", "pod", "trainer", "-o", "json")
	if result.JSON(t, &after); after.Verdict != "Allocated" || result.Code != 0 {
		t.Errorf("a scheduled pod: want Allocated\n%v", result)
	}
	var claims struct {
		Items []struct {
			Name, State, Node string
			Pods              []string
		}
	}
	result = c.Plugin(t, cluster.Admin, "get", "claims", "-o", "json")
	result.JSON(t, &claims)
	reserved := 0
	for _, item := range claims.Items {
		if slices.Contains(names, item.Name) {
			reserved++
			if item.State != "Reserved" || item.Node != "n2" || !slices.Equal(item.Pods, []string{"default/trainer"}) {
				t.Errorf("claim %+v, want Reserved on n2 by default/trainer", item)
			}
		}
	}
	if reserved != len(names) {
		t.Errorf("%d of the claims %v are listed\n%v", reserved, names, result)
	}
}

// deviceHolders asks about a claim that would fit if another did not hold two devices.
func deviceHolders(t *testing.T, c *cluster.Cluster, holder string) {
	t.Helper()
	var answer struct {
		Verdict string
		Groups  []struct {
			Nodes   []string
			Reasons []struct {
				Code   string
				Claims []string
			}
		}
	}
	result := c.Plugin(t, cluster.Admin, "explain", "claim", "four", "--node", "n2", "-o", "json")
	result.JSON(t, &answer)
	held := false
	for _, group := range answer.Groups {
		for _, reason := range group.Reasons {
			held = held || reason.Code == "DeviceInUse" && slices.Contains(reason.Claims, "default/"+holder)
		}
	}
	if answer.Verdict != "Unsatisfiable" || result.Code != 3 || !held {
		t.Errorf("want Unsatisfiable because default/%s holds devices\n%v", holder, result)
	}
	c.ApplyText(t, podYAML("greedy", "n2", "resourceClaims: [{name: gpus, resourceClaimName: four}]", "claims: [{name: gpus}]"))
	if condition, node := c.PodScheduled(t, "default", "greedy", cluster.Unplaced); node != "" || !strings.Contains(condition.Message, "cannot allocate all claims") {
		t.Errorf("the scheduler puts the pod on %q: %s", node, condition.Message)
	}
}

// extendedResource has a pod ask for an extended resource that a class provides. The scheduler makes the
// claim itself, and the plugin must see what it holds.
func extendedResource(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	c.ApplyText(t, podYAML("classic", "n1", "", `limits: {example.com/gpu: "1"}, requests: {example.com/gpu: "1"}`))
	bound(t, c, "classic", "n1")
	pod, err := c.Client().CoreV1().Pods("default").Get(t.Context(), "classic", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Status.ExtendedResourceClaimStatus == nil {
		t.Fatal("the scheduler made no claim for the extended resource")
	}
	name := pod.Status.ExtendedResourceClaimStatus.ResourceClaimName
	want := getClaim(t, c, name).Status.Allocation.Devices.Results[0].Device
	var devices struct {
		Items []struct {
			Driver, Node, Device, State string
			Claims                      []string
		}
	}
	result := c.Plugin(t, cluster.Admin, "get", "devices", "-o", "json")
	result.JSON(t, &devices)
	for _, d := range devices.Items {
		if d.Driver != "gpu.example.com" || d.Node != "n1" {
			continue
		}
		state, claims := "Free", 0
		if d.Device == want {
			state, claims = "Allocated", 1
		}
		if d.State != state || len(d.Claims) != claims || claims == 1 && !strings.Contains(d.Claims[0], name) {
			t.Errorf("device %+v, want %s, held only by claim %s if it is %s", d, state, name, want)
		}
	}
}

// podYAML is a pod for a node. ownClaim has a pod use a claim that has a device on a node where the rest of
// the pod does not fit. The plugin says that the scheduler will clear it, and on which node the pod then
// fits; and so it comes.
func ownClaim(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for name, devices := range map[string]int{"m1": 2, "m2": 4} {
		c.AddNode(t, name, map[string]string{corev1.LabelHostname: name, "row": "m"})
		c.ApplyText(t, sliceYAML("gpu.example.com", name, devices))
	}
	c.ApplyText(t, `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: early}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: late}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 3}}]}}
`)
	if result := c.Plugin(t, cluster.Admin, "allocate", "claim", "early", "--node", "m1", "--yes", "--settle", noSettle); result.Code != 0 {
		t.Fatal(result)
	}
	c.ApplyText(t, `apiVersion: v1
kind: Pod
metadata: {name: mover}
spec:
  nodeSelector: {row: m}
  schedulingGates: [{name: example.com/wait}]
  resourceClaims: [{name: early, resourceClaimName: early}, {name: late, resourceClaimName: late}]
  containers: [{name: main, image: example.com/none, resources: {claims: [{name: early}, {name: late}]}}]
`)
	var answer struct {
		Verdict string
		Fixes   []struct {
			Kind, Node, Message string
			Claims              []string
		}
	}
	result := c.Plugin(t, cluster.Admin, "explain", "pod", "mover", "-o", "json")
	result.JSON(t, &answer)
	if answer.Verdict != "Unsatisfiable" || result.Code != 3 || len(answer.Fixes) == 0 {
		t.Fatalf("want Unsatisfiable with a fix\n%v", result)
	}
	if f := answer.Fixes[0]; f.Kind != "ReleaseClaim" || f.Node != "m2" || !slices.Equal(f.Claims, []string{"default/early"}) || !strings.Contains(f.Message, "kube-scheduler does itself") {
		t.Errorf("fix %+v, want the scheduler to release default/early for m2", f)
	}
	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), "mover", types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	bound(t, c, "mover", "m2")
}

func podYAML(name, node, spec, resources string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeSelector: {kubernetes.io/hostname: %s}
  %s
  containers: [{name: main, image: example.com/none, resources: {%s}}]
`, name, node, spec, resources)
}

// podClaims waits until the claims of a pod exist and returns their names in the order of the pod.
func podClaims(t *testing.T, c *cluster.Cluster, name string, count int) []string {
	t.Helper()
	var names []string
	cluster.Eventually(t, func(ctx context.Context) error {
		pod, err := c.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		names = nil
		for _, wanted := range pod.Spec.ResourceClaims {
			if wanted.ResourceClaimName != nil {
				names = append(names, *wanted.ResourceClaimName)
			}
			for _, made := range pod.Status.ResourceClaimStatuses {
				if made.Name == wanted.Name && made.ResourceClaimName != nil {
					names = append(names, *made.ResourceClaimName)
				}
			}
		}
		if len(names) != count {
			return errors.New("the controller has not made the claims of the pod")
		}
		return nil
	})
	return names
}

// bound waits until a pod has a node, which must be the given one.
func bound(t *testing.T, c *cluster.Cluster, name, node string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		pod, err := c.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Spec.NodeName != node {
			return fmt.Errorf("pod %s is on node %q, want %s: %v", name, pod.Spec.NodeName, node, pod.Status.Conditions)
		}
		return nil
	})
}

func getClaim(t *testing.T, c *cluster.Cluster, name string) *resourcev1.ResourceClaim {
	t.Helper()
	claim, err := c.Client().ResourceV1().ResourceClaims("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if claim.Status.Allocation == nil {
		t.Fatalf("claim %s is not allocated", name)
	}
	return claim
}
