package question_test

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// waiting is a node with one device, and what asks for two of them.
const waiting = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "64", memory: 256Gi, ephemeral-storage: 1Ti, pods: "110"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: own, namespace: ml}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: made-gpu-x7k2p
  namespace: ml
  annotations: {resource.kubernetes.io/pod-claim-name: gpu}
  ownerReferences: [{apiVersion: v1, kind: Pod, name: made, uid: "1", controller: true}]
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: made, namespace: ml, uid: "1"}
spec:
  containers: [{name: c, image: i}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: made-gpu-x7k2p}]}
---
apiVersion: v1
kind: Pod
metadata: {name: named, namespace: ml}
spec:
  containers: [{name: c, image: i}]
  resourceClaims: [{name: gpu, resourceClaimName: own}]
---
apiVersion: v1
kind: Pod
metadata: {name: extended, namespace: ml}
spec:
  containers:
  - {name: a, image: i}
  - {name: b, image: i, resources: {requests: {cpu: 1}, limits: {example.com/gpu: 2}}}
---
apiVersion: v1
kind: Pod
metadata: {name: misspelt, namespace: ml}
spec:
  containers: [{name: c, image: i}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: tow}, {name: other, resourceClaimName: onw}]
`

// waitingCluster is the cluster with all that waits.
func waitingCluster(t *testing.T) *scheduler.Cluster {
	t.Helper()
	result, err := manifest.ReadBytes("waiting.yaml", []byte(waiting), manifest.Options{})
	if err != nil || len(result.Warnings) > 0 {
		t.Fatal(err, result.Warnings)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateExtendedResource: true})
	return scheduler.NewCluster(inspect.New(result.Objects, inspect.Config{Features: features}), scheduler.Options{})
}

// TestChangedObjects: a fix says which object has to be changed: the claim, the template from which it was
// made, or the pod.
func TestChangedObjects(t *testing.T) {
	for _, tt := range []struct {
		subject    explain.Subject
		kind, name string
		path       string
	}{
		{explain.Subject{Kind: "ResourceClaim", Name: "own"}, "ResourceClaim", "own", "/spec/devices/requests/0/exactly/count"},
		{explain.Subject{Kind: "ResourceClaim", Name: "made-gpu-x7k2p"}, "ResourceClaimTemplate", "two", "/spec/spec/devices/requests/0/exactly/count"},
		{explain.Subject{Kind: "ResourceClaimTemplate", Name: "two"}, "ResourceClaimTemplate", "two", "/spec/spec/devices/requests/0/exactly/count"},
		{explain.Subject{Kind: "Pod", Name: "made"}, "ResourceClaimTemplate", "two", "/spec/spec/devices/requests/0/exactly/count"},
		{explain.Subject{Kind: "Pod", Name: "named"}, "ResourceClaim", "own", "/spec/devices/requests/0/exactly/count"},
		{explain.Subject{Kind: "Pod", Name: "extended"}, "Pod", "extended", "/spec/containers/1/resources/limits/example.com~1gpu"},
	} {
		tt.subject.Namespace = "ml"
		e, err := question.Named(t.Context(), waitingCluster(t), tt.subject, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found *explain.ObjectChange
		for i := range e.Fixes {
			if f := &e.Fixes[i]; f.Kind == explain.ReduceCount && len(f.Changes) == 1 {
				found = &f.Changes[0]
			}
		}
		if found == nil {
			t.Errorf("%v: no object to change: %+v", tt.subject, e.Fixes)
			continue
		}
		if found.Kind != tt.kind || found.Namespace != "ml" || found.Name != tt.name || found.Creates || found.Patch[0].Path != tt.path || found.Patch[0].Value != int64(1) {
			t.Errorf("%v: %+v", tt.subject, found)
		}
	}
}
