package e2e

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestAllocatedClaims has real pods use claims that the plugin allocated: the scheduler puts them where the
// devices are, a claim in use is not deallocated, and after deallocate the device is free for the next pod.
func TestAllocatedClaims(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	for _, node := range []string{"n1", "n2"} {
		c.AddNode(t, node, nil)
		c.ApplyText(t, sliceYAML("gpu.example.com", node, 1))
	}
	c.ApplyText(t, classYAML+"---\n"+claimYAML("mine"))
	run := func(args ...string) cluster.Result { return c.Plugin(t, cluster.Admin, args...) }

	answer{stdout: "mine", stderr: "watching for 500ms"}.check(t, run("allocate", "claim", "mine", "--node", "n2", "--yes", "--settle", "500ms", "-o", "name"))
	allocated := getClaim(t, c, "mine").Status.Allocation
	c.ApplyText(t, anywherePod("first", "mine"))
	bound(t, c, "first", "n2")
	after := getClaim(t, c, "mine")
	if after.Status.Allocation.Devices.Results[0].Device != allocated.Devices.Results[0].Device || after.Status.Allocation.Devices.Results[0].Pool != "n2" || len(after.Status.ReservedFor) != 1 {
		t.Errorf("the claim is %+v, want the allocation that the plugin wrote, reserved for the pod", after.Status)
	}
	answer{code: 1, stderr: "reserved for pods/first"}.check(t, run("deallocate", "claim", "mine", "--yes"))

	// The other device goes to another claim, so that the next pod needs this one. The scheduler sees claims
	// in the order in which they change: when it sees the next claim, it knows that both devices are taken.
	answer{stdout: "other", stderr: "watching for 500ms"}.check(t, applied(t, c, claimYAML("other"), "allocate", "claim", "other", "--yes", "--settle", "500ms", "-o", "name"))
	c.ApplyText(t, claimYAML("next")+"---\n"+anywherePod("second", "next"))
	if condition, node := c.PodScheduled(t, "default", "second", cluster.Unplaced); node != "" {
		t.Fatalf("the second pod is on %s although no device is free: %s", node, condition.Message)
	}
	result := run("explain", "pod", "second", "-o", "json")
	if result.Code != 3 || !strings.Contains(result.Stdout, "default/other") || !strings.Contains(result.Stdout, "default/mine") {
		t.Errorf("want that the claims mine and other hold the devices\n%v", result)
	}
	if result := run("deallocate", "claim", "other", "--yes"); result.Code != 0 {
		t.Errorf("%v", result)
	}
	bound(t, c, "second", "n1")
}

// applied creates an object and runs the plugin.
func applied(t *testing.T, c *cluster.Cluster, object string, args ...string) cluster.Result {
	t.Helper()
	c.ApplyText(t, object)
	return c.Plugin(t, cluster.Admin, args...)
}

// anywherePod is a pod with a claim that may run on any node.
func anywherePod(name, claim string) string {
	text := podYAML(name, "any", "resourceClaims: [{name: gpu, resourceClaimName: "+claim+"}]", "claims: [{name: gpu}]")
	return strings.Replace(text, "  nodeSelector: {kubernetes.io/hostname: any}\n", "", 1)
}
