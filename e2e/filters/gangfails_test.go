package filters

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// failing is a group of three pods, of which two fit and the last makes the scheduler fail.
const failing = `
{apiVersion: v1, kind: Node, metadata: {name: node, uid: u}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu, uid: gpu}, spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s, uid: s}, spec: {driver: gpu.example.com, nodeName: node, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d}, {name: e}, {name: f}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: fails, namespace: ml, uid: c1}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["x.example.com"].foo == "a"'}}]}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: fits, namespace: ml, uid: c2}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, namespace: ml, uid: g}, spec: {schedulingPolicy: POLICY}}
---
{apiVersion: v1, kind: Pod, metadata: {name: fits, namespace: ml, uid: p1, creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: fits}]}, status: {phase: Pending}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: also, namespace: ml, uid: c3}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: also, namespace: ml, uid: p3, creationTimestamp: "2026-01-01T00:00:01Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: also}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: fails, namespace: ml, uid: p2, creationTimestamp: "2026-01-01T00:00:05Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: fails}]}, status: {phase: Pending}}
`

// TestGroupOfOneThatFails: kube-scheduler places no pod of a group while it fails at another one of it.
func TestGroupOfOneThatFails(t *testing.T) {
	for _, policy := range []string{"{basic: {}}", "{gang: {minCount: 1}}", "{gang: {minCount: 2}}"} {
		t.Run(policy, func(t *testing.T) { groupOfOneThatFails(t, policy) })
	}
}

func groupOfOneThatFails(t *testing.T, policy string) {
	t.Helper()
	read, err := manifest.ReadBytes("failing.yaml", []byte(strings.Replace(failing, "POLICY", policy, 1)), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{gateGroups: true})
	if err := setGates(features); err != nil {
		t.Fatal(err)
	}
	pods := read.Objects.Pods
	rest := read.Objects
	for _, group := range []bool{true, false} {
		var asked []*corev1.Pod
		for _, pod := range pods {
			pod = pod.DeepCopy()
			if !group {
				pod.Spec.SchedulingGroup = nil
			}
			asked = append(asked, pod)
		}
		rest.Pods = nil
		placed := kubePlay(t, &rest, asked, nil)
		if _, ok := placed["ml/fits"]; ok == group {
			t.Errorf("in a group: %t; kube-scheduler places %v", group, placed)
		}
		all := rest
		all.Pods = asked
		s := inspect.New(all, inspect.Config{Features: features, ServerVersion: "v1.37.2", Health: read.Health})
		e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "ml", Name: "fits"}, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (e.Verdict == explain.Allocatable) == group {
			t.Errorf("in a group: %t; we say %s", group, e.Verdict)
		}
	}
}
