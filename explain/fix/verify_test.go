package fix_test

import (
	"context"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// sharedClass has a class that selects model A. A request wants a B of it, another all that there is. Without
// the term of the class for the first request alone both would fit, but a class belongs to all: then the
// second request wants the B too.
const sharedClass = `
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "A"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {model: {string: A}}}
  - {name: b, attributes: {model: {string: B}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpus, namespace: default}
spec:
  devices:
    requests:
    - name: one
      exactly:
        deviceClassName: gpu
        selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "B"'}}]
    - name: all
      exactly: {deviceClassName: gpu, allocationMode: All}
`

// TestFixesAreVerified: what helps one request on a node in a sandbox is no fix if it does not help once it
// is made for real.
func TestFixesAreVerified(t *testing.T) {
	result, err := manifest.ReadBytes("objects.yaml", []byte(sharedClass), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := scheduler.NewCluster(s, scheduler.Options{})
	e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: "default", Name: "gpus"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || len(e.Fixes) == 0 {
		t.Fatalf("%s with %d fixes, want %s with some", e.Verdict, len(e.Fixes), explain.Unsatisfiable)
	}
	if slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == explain.RelaxSelector && len(f.Also) == 0 && f.Patch == nil }) {
		t.Errorf("to change the class alone is no fix: %+v", e.Fixes)
	}
	for _, f := range e.Fixes {
		if f.Node == "" {
			t.Errorf("the fix %q helps on no node", f.Message)
		}
	}
}
