package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// plainYAML lets a user allocate, but not make DeviceTaintRules.
const plainYAML = `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: plain}, rules: [
  {apiGroups: ["", resource.k8s.io], resources: ["*"], verbs: [get, list, watch]},
  {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaims/status, resourceclaims/binding], verbs: [update, patch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: plain},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: plain},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: plain}]}
`

// TestTakeBack stops allocate while it watches what it wrote: another claim gets its device, or it is
// interrupted.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Users: []string{"plain"}})
	c.ApplyText(t, plainYAML)
	plain, err := kubernetes.NewForConfig(c.Config("plain"))
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(ctx context.Context) error { // the authorizer learns of roles a moment later
		_, err := plain.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
		return err
	})
	t.Run("without fence the device is given away twice", func(t *testing.T) { giveAwayTwice(t, c) })
	t.Run("with a fence it is not", func(t *testing.T) { fenceOff(t, c) })
	t.Run("interrupted", func(t *testing.T) { interrupt(t, c) })
	t.Run("admin access that the namespace does not permit", func(t *testing.T) { forbidAdmin(t, c) })
}

// giveAwayTwice shows the limit of kube-scheduler that fences are for: it forgets a device when one of two
// claims that hold it is cleared. Should it fail because the pod is not scheduled, then kube-scheduler has
// learned to count, and fences are no longer needed.
func giveAwayTwice(t *testing.T, c *cluster.Cluster) {
	stderr := collide(t, c, "plain")
	for _, part := range []string{"optional: you may not create devicetaintrules (resource.k8s.io) at cluster scope, nor delete devicetaintrules",
		"kube-scheduler may give gpu.example.com/n1/gpu-0 away once more although default/theirs holds it"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("want %q in\n%s", part, stderr)
		}
	}
	c.ApplyText(t, anywherePod("third", "next"))
	bound(t, c, "third", "n1")
	if a, b := getClaim(t, c, "next"), getClaim(t, c, "theirs"); deviceOf(a) != deviceOf(b) {
		t.Errorf("the third claim has device %s, the second one %s", deviceOf(a), deviceOf(b))
	}
}

func fenceOff(t *testing.T, c *cluster.Cluster) {
	stderr, condition, node := "", corev1.PodCondition{}, ""
	for range 3 {
		stderr = collide(t, c, cluster.Admin)
		c.ApplyText(t, anywherePod("third", "next"))
		// A scheduler that hears of the claim earlier than of the rule may give the device away.
		if condition, node = c.PodScheduled(t, "default", "third", cluster.Unplaced); node == "" {
			break
		}
	}
	if part := "gpu.example.com/n1/gpu-0 stays tainted by DeviceTaintRule kubectl-dra-fence-"; !strings.Contains(stderr, part) {
		t.Errorf("want %q in\n%s", part, stderr)
	}
	if node != "" || condition.Reason != corev1.PodReasonUnschedulable {
		t.Fatalf("the third pod is on node %q: %s", node, condition.Message)
	}
	rules, err := c.Client().ResourceV1().DeviceTaintRules().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(rules.Items) != 1 || !strings.Contains(fmt.Sprint(rules.Items[0].Annotations), `"holder":"default/theirs"`) {
		t.Errorf("want a rule that names the holder: %v, %v", rules, err)
	}
	result := c.Plugin(t, cluster.Admin, "deallocate", "claim", "theirs", "--yes")
	answer{stdout: "theirs", stderr: "is removed: no claim holds gpu.example.com/n1/gpu-0 any more"}.check(t, result)
	bound(t, c, "third", "n1")
}

// collide has a user allocate the only device, gives it to another claim as well while the run watches, and
// returns what the run says when it has taken its allocation back.
func collide(t *testing.T, c *cluster.Cluster, user string) string {
	t.Helper()
	wait := watching(t, c, user)
	mine, claims := getClaim(t, c, "mine"), c.Client().ResourceV1().ResourceClaims("default")
	theirs := c.Claim(t, "default", "theirs")
	theirs.Finalizers = []string{resourcev1.Finalizer}
	theirs, err := claims.Update(t.Context(), theirs, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	theirs.Status.Allocation = mine.Status.Allocation.DeepCopy()
	if _, err := claims.UpdateStatus(t.Context(), theirs, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	result := wait()
	if result.Code != 3 || !strings.Contains(result.Stderr, "default/mine: the allocation is taken back") {
		t.Fatalf("want that the allocation is taken back, and that no device is left\n%v", result)
	}
	nothingOf(t, c, "mine")
	return result.Stderr
}

func interrupt(t *testing.T, c *cluster.Cluster) {
	wait := watching(t, c, cluster.Admin, syscall.SIGINT)
	answer{code: 130, stderr: "default/mine: the allocation is taken back"}.check(t, wait())
	nothingOf(t, c, "mine")
	rules, err := c.Client().ResourceV1().DeviceTaintRules().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(rules.Items) > 0 {
		t.Errorf("nobody else held the device, but there are rules: %v, %v", rules, err)
	}
}

// watching sets up one device and three claims, and has a user allocate the first one. It returns when the
// allocation is written; signals are sent then. The function that it returns waits for the end of the run.
func watching(t *testing.T, c *cluster.Cluster, user string, signals ...syscall.Signal) func() cluster.Result {
	t.Helper()
	c.Clear(t)
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 1)+"---\n"+classYAML)
	for _, name := range []string{"mine", "theirs", "next"} {
		c.ApplyText(t, claimYAML(name))
	}
	args := []string{"allocate", "claim", "mine", "--yes", "--settle", "3m"}
	cmd := c.Command(t, user, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(context.Context) error {
		if c.Claim(t, "default", "mine").Status.Allocation == nil {
			return errors.New("nothing is allocated yet")
		}
		return nil
	})
	for _, signal := range signals {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Error(err)
		}
	}
	return func() cluster.Result {
		t.Helper()
		if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return cluster.Result{Args: args, Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	}
}

// nothingOf makes sure that nothing of a run is left on a claim.
func nothingOf(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	if claim := c.Claim(t, "default", name); claim.Status.Allocation != nil || len(claim.Finalizers)+len(claim.Annotations) > 0 {
		t.Errorf("claim %s still has finalizers %v, annotations %v, status %+v", name, claim.Finalizers, claim.Annotations, claim.Status)
	}
}

func deviceOf(claim *resourcev1.ResourceClaim) string {
	return claim.Status.Allocation.Devices.Results[0].Device
}

// forbidAdmin takes the label off a namespace after a claim with admin access was made in it.
func forbidAdmin(t *testing.T, c *cluster.Cluster) {
	c.Clear(t)
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 1)+"---\n"+classYAML)
	label := func(value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, resourcev1.DRAAdminNamespaceLabelKey, value)
		if _, err := c.Client().CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	label(`"true"`)
	c.ApplyText(t, strings.Replace(claimYAML("monitor"), "deviceClassName: gpu", "deviceClassName: gpu, adminAccess: true", 1))
	label("null")
	before := c.Claim(t, "default", "monitor").ResourceVersion
	result := c.Plugin(t, cluster.Admin, "allocate", "claim", "monitor", "--yes", "--settle", noSettle)
	answer{code: 1, stderr: `nothing is written: claim default/monitor asks for admin access, and its namespace lacks the label ` + resourcev1.DRAAdminNamespaceLabelKey + `: "true"`}.check(t, result)
	if c.Claim(t, "default", "monitor").ResourceVersion != before {
		t.Error("the claim has changed")
	}
	label(`"true"`)
	answer{stdout: "monitor"}.check(t, c.Plugin(t, cluster.Admin, "allocate", "claim", "monitor", "--yes", "--settle", noSettle, "-o", "name"))
}
