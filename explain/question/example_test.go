package question_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A node has one GPU on each of two NUMA nodes. The claim is for two GPUs on the same one.
const cluster = `
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: device.driver == "gpu.example.com"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-1-gpus}
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {numa: {int: 0}}}
  - {name: gpu-1, attributes: {numa: {int: 1}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: train}
spec:
  devices:
    requests:
    - name: gpus
      exactly: {deviceClassName: gpu, count: 2}
    constraints:
    - {requests: [gpus], matchAttribute: gpu.example.com/numa}
`

// Objects become a snapshot, the snapshot a cluster, and a question to the cluster has an explanation. That
// the claim cannot be allocated is an answer, so there is no error.
func ExampleClaim() {
	objects, err := manifest.ReadBytes("cluster.yaml", []byte(cluster), manifest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	snapshot := inspect.New(objects.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	c := scheduler.NewCluster(snapshot, scheduler.Options{})

	e, err := question.Claim(context.Background(), c, inspect.ClaimRef{Namespace: "ml", Name: "train"}, question.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Verdict+":", e.Message)
	fmt.Println("In the way together on", e.Conflict.Node)
	for _, r := range e.Conflict.Requirements {
		fmt.Println("-", r.Sentence())
	}
	fix := e.Fixes[0]
	fmt.Println("This would help on", fix.Nodes, "node:", fix.Message)
	for _, op := range fix.Patch {
		fmt.Println("-", op.Op, op.Path, op.Value)
	}
	// Output:
	// Unsatisfiable: ml/train needs 2 devices of class gpu with the same numa; node node-1 has no more than 1 together
	// In the way together on node-1
	// - gpus needs 2 devices; 2 here fit
	// - all on the same gpu.example.com/numa; 1 of those that fit has 0, 1 has 1
	// This would help on 1 node: ask for 1 device instead of 2
	// - replace /spec/devices/requests/0/exactly/count 1
}
