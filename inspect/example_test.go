package inspect_test

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// A slice with three devices of one node: one is tainted, another is held by a claim.
const oneNode = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpus}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
  - name: gpu-1
    taints: [{key: example.com/broken, effect: NoSchedule}]
  - name: gpu-2
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: train-0, namespace: ml}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu}}]
status:
  allocation:
    devices:
      results: [{request: gpu, driver: gpu.example.com, pool: n1, device: gpu-2}]
`

// A Snapshot is built once, from objects of any origin, and answers from indexes. Here the objects are from a
// file.
func Example() {
	read, err := manifest.ReadBytes("cluster.yaml", []byte(oneNode), manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := inspect.New(read.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	for _, device := range snapshot.Devices() {
		fmt.Println(device.ID, device.State)
		for _, holder := range device.Holders {
			fmt.Println("  held by", holder.Claim)
		}
	}
	// Output:
	// gpu.example.com/n1/gpu-0 Free
	// gpu.example.com/n1/gpu-1 Tainted
	// gpu.example.com/n1/gpu-2 Allocated
	//   held by ml/train-0
}

// With answers what-if questions: it makes a changed copy and leaves the original alone.
func ExampleSnapshot_With() {
	read, err := manifest.ReadBytes("cluster.yaml", []byte(oneNode), manifest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := inspect.New(read.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	released := snapshot.With(func(objects *inspect.Objects) { objects.Claims = nil })

	gpu := inspect.DeviceID{Driver: "gpu.example.com", Pool: "n1", Device: "gpu-2"}
	fmt.Println("holders now:", len(snapshot.Holders(gpu)))
	fmt.Println("holders without the claim:", len(released.Holders(gpu)))
	// Output:
	// holders now: 1
	// holders without the claim: 0
}
