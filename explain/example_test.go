package explain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// One node with one GPU, which claim "first" has; claim "second" wants it too.
const cluster = `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpus}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: first}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: gpu-0}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: second}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
`

// What an explanation says is in typed fields; a program never has to read its sentences.
func ExampleExplanation() {
	given, err := manifest.ReadBytes("cluster.yaml", []byte(cluster), manifest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	snapshot := inspect.New(given.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	c := scheduler.NewCluster(snapshot, scheduler.Options{})
	e, err := question.Claim(context.Background(), c, inspect.ClaimRef{Namespace: "ml", Name: "second"}, question.Options{})
	if err != nil {
		log.Fatal(err)
	}
	switch e.Verdict {
	case explain.Allocated, explain.Allocatable:
		fmt.Println("there are devices")
	case explain.Unknown, explain.Invalid:
		fmt.Println("not decided:", e.Partial)
	case explain.Unsatisfiable:
		for _, group := range e.Groups {
			for _, reason := range group.Reasons {
				fmt.Println(group.Nodes, reason.Code, reason.Devices)
			}
		}
		for i := range e.Fixes {
			fix := &e.Fixes[i]
			if fix.Kind == explain.ReleaseClaim {
				fmt.Println("release", fix.Claims[0].Claim, "and it fits on", fix.Node)
			}
		}
	}
	// Output:
	// [n1] DeviceInUse [gpu.example.com/n1/gpu-0]
	// release ml/first and it fits on n1
}
