package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestExplainOwners asks a real server about objects because of which there are pods: of its own kinds, and
// of those that only its discovery tells of.
func TestExplainOwners(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"podsonly"}})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML)
	c.ApplyText(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec: {containers: [{name: main, image: i}], resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget, namespace: default}, spec: {minAvailable: 1, selector: {matchLabels: {app: serve}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: default}
spec: {containers: [{name: main, image: i}]}
`)
	const owner = `{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"00000000-0000-4000-8000-000000000001","controller":true}]}}`
	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), "waits", types.MergePatchType, []byte(owner), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	allow(t, c, "podsonly", "", "", "pods", "nodes")
	allow(t, c, "podsonly", "", "resource.k8s.io", "resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules")
	const about = "jsonpath={.subject.kind}/{.subject.name} {.workload.kind} {.workload.pods}"
	for _, tt := range []struct{ user, args, want string }{
		{cluster.Admin, "deploy/serve", "Pod/serve Deployment 3"},
		{cluster.Admin, "deployments.apps serve", "Pod/serve Deployment 3"},
		{cluster.Admin, "job train", "Pod/waits  \nwarning: job default/train was not found; answering for its pods that exist"},
		{cluster.Admin, "pdb/budget", "error: poddisruptionbudget default/budget has no pods, and says nothing of those that it would have"},
		{cluster.Admin, "nonsense/x", `error: unknown type "nonsense"; there are claim, pod, template, pvc, job and 7 more`},
		{"podsonly", "deploy/serve", "error: cannot get deployments.apps in namespace default"},
		{"podsonly", "job/train", "Pod/waits  \nwarning: cannot get jobs.batch in namespace default: answering for the pods of job default/train that exist"},
	} {
		result := c.Plugin(t, tt.user, append(append([]string{"explain"}, strings.Fields(tt.args)...), "-o", about)...)
		if got := strings.TrimSpace(result.Stdout + "\n" + result.Stderr); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.args, got, tt.want)
		}
	}
	for line, want := range map[string]string{
		"explain deploy/": "deploy/serve", "plan drain ": "n1", "cel --driver ": "gpu.example.com", "plan lose pool ": "n1", "explain pod ": "waits", "get claims -n ": "default",
	} {
		cluster.Eventually(t, func(context.Context) error { // it offers nothing where a busy machine takes more than a second and a half
			result := c.Plugin(t, cluster.Admin, append([]string{"__complete"}, strings.Split(line, " ")...)...)
			if !slices.Contains(strings.Split(result.Stdout, "\n"), want) {
				return fmt.Errorf("completion does not offer %q: %v", want, result)
			}
			return nil
		})
	}
}
