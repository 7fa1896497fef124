package allocator_test

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// Two nodes with a device each, and a claim for a device with at least 40Gi.
const twoNodes = `
apiVersion: v1
kind: Node
metadata: {name: small}
---
apiVersion: v1
kind: Node
metadata: {name: large}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: small-gpus}
spec:
  driver: gpu.example.com
  nodeName: small
  pool: {name: small, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, capacity: {memory: {value: 16Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: large-gpus}
spec:
  driver: gpu.example.com
  nodeName: large
  pool: {name: large, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, capacity: {memory: {value: 80Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: train-0, namespace: ml}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu
        selectors: [{cel: {expression: 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'}}]
`

// A Cluster is built once for a snapshot and asked about one node at a time. That a claim does not fit is an
// answer and not an error.
func ExampleCluster_Allocate() {
	read, err := manifest.ReadBytes("cluster.yaml", []byte(twoNodes), manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := inspect.New(read.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	cluster := allocator.NewCluster(snapshot, allocator.Options{})
	for _, node := range snapshot.Nodes() {
		result, err := cluster.Allocate(context.Background(), node, read.Objects.Claims, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(node.Name, result.Outcome)
		for _, allocation := range result.Allocations {
			for _, device := range allocation.Devices.Results {
				fmt.Println("  request", device.Request, "gets", device.Pool+"/"+device.Device)
			}
		}
	}
	// Output:
	// large Allocated
	//   request gpu gets large/gpu-0
	// small Unsatisfiable
}
