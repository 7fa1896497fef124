package requirement_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// twoNodes have a GPU each; n1 has 2 CPU, and of the 4 of n2 another pod uses 3.
const twoNodes = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s2}
spec: {driver: gpu.example.com, nodeName: n2, pool: {name: n2, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: busy, namespace: default}
spec: {nodeName: n2, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: default}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
  containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]
`

// TestKindOfOneFile: a kind of requirement is a file (cpu_test.go) and its line in Kinds. The verdict, the conflict,
// the fixes and their patches take it in without knowing of it.
func TestKindOfOneFile(t *testing.T) {
	if e := explainTrain(t); e.Verdict != explain.Allocatable {
		t.Fatalf("without the kind: %s, want %s", e.Verdict, explain.Allocatable)
	}
	kinds := requirement.Kinds
	defer func() { requirement.Kinds = kinds }()
	requirement.Kinds = append(slices.Clone(kinds), requirement.CPUKind)

	e := explainTrain(t)
	if e.Verdict != explain.Unsatisfiable || e.Nodes.Allocatable != 0 {
		t.Fatalf("%s on %d nodes, want %s", e.Verdict, e.Nodes.Allocatable, explain.Unsatisfiable)
	}
	if len(e.Groups) == 0 || e.Groups[0].Reasons[0].Code != "CPUInsufficient" {
		t.Errorf("groups %+v", e.Groups)
	}
	c := e.Conflict
	if c == nil || len(c.Requirements) != 1 || c.Requirements[0].Kind != requirement.CPURequired || !c.Sole {
		t.Fatalf("conflict %+v, want the CPU alone", c)
	}
	if len(e.Fixes) == 0 {
		t.Fatal("no fixes")
	}
	f := e.Fixes[0]
	if f.Kind != "ReduceCPU" || f.Node != "n1" || f.Nodes != 1 || fmt.Sprint(f.Patch) != "[{replace /spec/containers/0/resources/requests/cpu 2}]" {
		t.Errorf("fix %+v", f)
	}
}

func explainTrain(t *testing.T) *explain.Explanation {
	t.Helper()
	objects, err := manifest.ReadBytes("objects.yaml", []byte(twoNodes), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cluster := allocator.NewCluster(inspect.New(objects.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), allocator.Options{})
	e, err := question.Pod(context.Background(), cluster, inspect.PodRef{Namespace: "default", Name: "train"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
