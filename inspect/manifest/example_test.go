package manifest_test

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// An object of an old API version is converted to the newest one and gets the defaults that the API server
// would set. What the server would refuse is a warning; kinds that no question needs are counted.
func ExampleReadBytes() {
	const file = `
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: train-0}
spec:
  devices:
    requests:
    - {name: gpu, deviceClassName: gpu.example.com}
    - {name: gpu, deviceClassName: gpu.example.com}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
`
	result, err := manifest.ReadBytes("train.yaml", []byte(file), manifest.Options{Namespace: "ml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := result.Objects.Claims[0]
	request := claim.Spec.Devices.Requests[0].Exactly
	fmt.Println(claim.APIVersion, claim.Namespace+"/"+claim.Name, "asks for", request.AllocationMode, request.Count)
	for _, warning := range result.Warnings {
		fmt.Println("warning:", warning)
	}
	fmt.Println("skipped:", result.Skipped)
	// Output:
	// resource.k8s.io/v1 ml/train-0 asks for ExactCount 1
	// warning: train.yaml:2: ResourceClaim ml/train-0: spec.devices.requests[1].name: Duplicate value: "gpu"
	// skipped: map[v1 ConfigMap:1]
}

// What cannot be decoded ends the read: an answer without that object could be wrong.
func ExampleError() {
	const file = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: []}`
	_, err := manifest.ReadBytes("claim.yaml", []byte(file), manifest.Options{})
	fmt.Println(err)
	// Output:
	// reading claim.yaml:1: ResourceClaim a: spec: a list is given where an object is expected
}
