package extended

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestImplicitEverywhere: where one pod has devices by the name that every class has, the other nodes with
// devices of the class are told of too, and what is free there is free.
func TestImplicitEverywhere(t *testing.T) {
	slice := func(node string) string {
		return strings.ReplaceAll(`
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: NAME}
spec: {driver: d, nodeName: NAME, pool: {name: NAME, generation: 1, resourceSliceCount: 1}, devices: [{name: a}, {name: b}]}
---
{apiVersion: v1, kind: Node, metadata: {name: NAME}, status: {capacity: {cpu: "8"}, allocatable: {cpu: "8"}}}
---
`, "NAME", node)
	}
	const rest = `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}
---
apiVersion: v1
kind: Pod
metadata: {name: has, namespace: a}
spec: {nodeName: n1, containers: [{name: main, resources: {limits: {deviceclass.resource.kubernetes.io/gpu: "1"}}}]}
status: {phase: Running, extendedResourceClaimStatus: {resourceClaimName: c, requestMappings: [{containerName: main, resourceName: deviceclass.resource.kubernetes.io/gpu, requestName: r}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: a}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
status: {allocation: {devices: {results: [{request: r, driver: d, pool: n1, device: a}]}}}
---
`
	got := all(t, slice("n1")+slice("n2")+rest, inspect.Config{})
	const want = `deviceclass.resource.kubernetes.io/gpu on "n1": DRA 2/2/1/1 "gpu" has:1(DRA)
deviceclass.resource.kubernetes.io/gpu on "n2": DRA 2/2/0/2 "gpu"
deviceclass.resource.kubernetes.io/gpu in all: 4/4/1/3 on 2 nodes, at most 2 on "n2", 0 wanted by 0
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
