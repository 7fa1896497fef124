package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// stuckYAML is what waits for three devices of a driver where there are two, or names what does not exist.
const stuckYAML = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: NAME}
spec: {selectors: [{cel: {expression: device.driver == "NAME.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: NAME, count: 3}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME-small}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: NAME}}]}}}
---
`

const stuckTemplateYAML = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: NAME, count: 3}}]}}}
---
`

const stuckPodYAML = `
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  resourceClaims: [{name: gpu, CLAIM}]
  containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}]}}]
`

const stuckDeploymentYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      resourceClaims: [{name: gpu, CLAIM}]
      containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}]}}]
`

// TestFixesCarriedOut runs the commands of fixes in a shell, with kubectl, and waits for the scheduler to
// place the pods.
func TestFixesCarriedOut(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller", "deployment-controller", "replicaset-controller"}})
	c.AddNode(t, "n1", nil)
	for _, tt := range []struct {
		name, yaml, claim string
		// ask is what is asked; POD stands for the name of the pod.
		ask  []string
		kind string
	}{
		{"claim", stuckPodYAML, "resourceClaimName: claim", []string{"claim", "claim"}, "ReduceCount"},
		{"podclaim", stuckPodYAML, "resourceClaimName: podclaim", []string{"pod", "POD"}, "ReduceCount"},
		{"template", stuckPodYAML, "resourceClaimTemplateName: template", []string{"pod", "POD"}, "ReduceCount"},
		{"deployed", stuckDeploymentYAML, "resourceClaimTemplateName: deployed", []string{"pod", "POD"}, "ReduceCount"},
		{"misspelt", stuckPodYAML, "resourceClaimTemplateName: mispelt-small", []string{"pod", "POD"}, "UseClaim"},
		{"rollout", stuckDeploymentYAML, "resourceClaimTemplateName: rolout-small", []string{"pod", "POD"}, "UseClaim"},
		{"file", stuckPodYAML, "resourceClaimTemplateName: file", []string{"-f", "FILE"}, "ReduceCount"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			named := func(text string) string { return strings.NewReplacer("NAME", tt.name, "CLAIM", tt.claim).Replace(text) }
			text := named(stuckYAML + stuckTemplateYAML + tt.yaml)
			c.ApplyText(t, sliceYAML(tt.name+".example.com", "n1", 2)+"---\n"+text)
			pod := podBeginningWith(t, c, tt.name, tt.kind != "UseClaim")
			ask := slices.Clone(tt.ask)
			for i := range ask {
				ask[i] = strings.ReplaceAll(ask[i], "POD", pod)
			}
			if ask[0] == "-f" {
				ask = []string{"-f", filepath.Join(t.TempDir(), "stuck things.yaml")}
				if err := os.WriteFile(ask[1], []byte("# with a comment\n"+named(stuckTemplateYAML)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			type fix struct {
				Kind     string
				Commands []string
			}
			var answer struct{ Fixes []fix }
			result := c.Plugin(t, cluster.Admin, append(append([]string{"explain"}, ask...), "-o", "json")...)
			result.JSON(t, &answer)
			at := slices.IndexFunc(answer.Fixes, func(f fix) bool { return f.Kind == tt.kind })
			if at < 0 || len(answer.Fixes[at].Commands) == 0 {
				t.Fatalf("no commands for %s\n%v", tt.kind, result)
			}
			for _, command := range answer.Fixes[at].Commands {
				runInShell(t, c, command)
			}
			placed(t, c, tt.name)
		})
	}
}

const manyYAML = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: many, count: 3}}]}}
---
`

// TestFixForAllCarriedOut runs the commands of a fix that is made in the claims of several pods.
func TestFixForAllCarriedOut(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	c.AddNode(t, "n1", nil)
	text := sliceYAML("many.example.com", "n1", 2) + "---\n" + strings.ReplaceAll(stuckYAML, "NAME", "many")
	for _, name := range []string{"many-a", "many-b"} {
		text += strings.NewReplacer("NAME", name, "CLAIM", "resourceClaimName: "+name).Replace(manyYAML+stuckPodYAML) + "---\n"
	}
	c.ApplyText(t, text)
	podBeginningWith(t, c, "many-a", true)
	podBeginningWith(t, c, "many-b", true)
	type fix struct {
		Kind     string
		Message  string
		Commands []string
	}
	var answer struct{ Causes []struct{ Fixes []fix } }
	result := c.Plugin(t, cluster.Admin, "explain", "pods", "-n", "default", "-o", "json")
	result.JSON(t, &answer)
	for _, cause := range answer.Causes {
		for _, f := range cause.Fixes {
			if f.Kind != "ReduceCount" || !strings.Contains(f.Message, " and 1 alike: ") {
				continue
			}
			for _, command := range f.Commands {
				runInShell(t, c, command)
			}
			placed(t, c, "many-")
			for _, name := range []string{"many-a", "many-b"} {
				claim, err := c.Client().ResourceV1().ResourceClaims("default").Get(t.Context(), name, metav1.GetOptions{})
				if err != nil || claim.Spec.Devices.Requests[0].Exactly.Count != 2 {
					t.Errorf("claim %s: %v, %v", name, claim.Spec, err)
				}
			}
			return
		}
	}
	t.Fatalf("no fix for both\n%v", result)
}

// runInShell runs a command as it is pasted.
func runInShell(t *testing.T, c *cluster.Cluster, command string) {
	t.Helper()
	plugin := c.Command(t, cluster.Admin)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = plugin.Dir, slices.Clone(plugin.Env)
	for i, variable := range cmd.Env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			cmd.Env[i] = "PATH=" + filepath.Dir(plugin.Path) + string(os.PathListSeparator) + path
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	t.Logf("$ %s\n%s", command, out.String())
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// podBeginningWith waits for a pod whose name begins with another and, if it is to be refused, for the
// scheduler to do so: it does not look at pods that name a template which does not exist.
func podBeginningWith(t *testing.T, c *cluster.Cluster, prefix string, refused bool) string {
	t.Helper()
	var name string
	cluster.Eventually(t, func(ctx context.Context) error {
		pods, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if strings.HasPrefix(pod.Name, prefix) && (!refused || looked(pod)) {
				name = pod.Name
				return nil
			}
		}
		return fmt.Errorf("no pod %s…, or the scheduler has not looked at it", prefix)
	})
	return name
}

// looked reports whether the scheduler has looked at a pod whose claims exist.
func looked(pod *corev1.Pod) bool {
	made := func(c corev1.PodResourceClaim) bool {
		return c.ResourceClaimName != nil || slices.ContainsFunc(pod.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == c.Name })
	}
	return len(pod.Status.Conditions) > 0 && !slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return !made(c) })
}

// placed waits until a pod whose name begins with another is on the node.
func placed(t *testing.T, c *cluster.Cluster, prefix string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		pods, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; strings.HasPrefix(pod.Name, prefix) && pod.Spec.NodeName == "n1" {
				return nil
			}
		}
		return fmt.Errorf("no pod %s… is on the node", prefix)
	})
}
