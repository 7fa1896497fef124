package question_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// hungryCluster has a pod that asks for a resource which no node has. Its claim was made from a template, and
// has a device that is tainted or not.
const hungryCluster = `{apiVersion: v1, kind: Node, metadata: {name: n0}, status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example.com, nodeName: n0, pool: {name: n0, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0, taints: [%s]}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one, namespace: default}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: p-gpu-x, namespace: default, annotations: {resource.kubernetes.io/pod-claim-name: gpu}, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}, status: {allocation: {devices: {results: [{request: r, driver: d.example.com, pool: n0, device: gpu-0}]}, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n0]}]}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {containers: [{name: c, image: i, resources: {limits: {example.com/none: "1"}, claims: [{name: gpu}]}}], resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: p-gpu-x}]}}
`

// TestLastResortMadeAnew: a pod that does without something is made anew, and its claims with it.
func TestLastResortMadeAnew(t *testing.T) {
	for taints, want := range map[string]string{"": "as the last resort, do without example.com/none n0 1", "{key: sick, effect: NoSchedule}": ""} {
		read, err := manifest.ReadBytes("cluster", fmt.Appendf(nil, hungryCluster, taints), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(read.Objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range e.Fixes {
			got += fmt.Sprint(f.Message, " ", f.Node, " ", f.Nodes)
		}
		if got != want {
			t.Errorf("taints [%s]: %s: fixes %q, want %q", taints, e.Message, got, want)
		}
	}
}
