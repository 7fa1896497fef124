package question_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// vainCluster has a pod with a claim that has its device on n0, and with another one for which n0 has a
// device. On n1 the driver has not published all of its pool.
const vainCluster = `{apiVersion: v1, kind: Node, metadata: {name: n0}, status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: %s}, status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s0}, spec: {driver: d.example.com, nodeName: n0, pool: {name: n0, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}, {name: gpu-1}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s1}, spec: {driver: d.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: %d}, devices: [{name: gpu-0}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: has, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 1}}]}}, status: {allocation: {devices: {results: [{request: r, driver: d.example.com, pool: n0, device: gpu-0}]}, nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n0]}]}]}}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: wants, namespace: default}, spec: {devices: {requests: [{name: r, firstAvailable: [{name: all, deviceClassName: gpu, allocationMode: All}, {name: one, deviceClassName: gpu}]}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {containers: [{name: c, image: i}], resourceClaims: [{name: a, resourceClaimName: has}, {name: b, resourceClaimName: wants}]}}
`

// TestAskedInVain: kube-scheduler asks every node for the devices of a claim, also those that the pod cannot
// use because of another one, and gives up if that fails.
func TestAskedInVain(t *testing.T) {
	for _, test := range []struct {
		cordoned bool // which the scheduler finds before
		slices   int
		want     explain.Verdict
	}{{false, 1, explain.Allocatable}, {false, 2, explain.Invalid}, {true, 2, explain.Allocatable}} {
		read, err := manifest.ReadBytes("cluster", fmt.Appendf(nil, vainCluster, fmt.Sprint(test.cordoned), test.slices), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(read.Objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != test.want {
			t.Errorf("%+v: %s: %s", test, e.Verdict, e.Message)
		}
	}
}
