package question_test

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// failing is a group of three pods, of which two fit and the last makes the scheduler fail.
const failing = `
{apiVersion: v1, kind: Node, metadata: {name: node, uid: u}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu, uid: u}, spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s, uid: u}, spec: {driver: gpu.example.com, nodeName: node, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: d}, {name: e}, {name: f}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a, namespace: ml, uid: ca}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: b, namespace: ml, uid: cb}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: ml, uid: cc}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: SELECTOR}}]}}]}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, namespace: ml, uid: u}, spec: {schedulingPolicy: POLICY}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ml, uid: a, creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: a}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: ml, uid: b, creationTimestamp: "2026-01-01T00:00:01Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: b}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: ml, uid: c, creationTimestamp: "2026-01-01T00:00:02Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: c}]}, status: {phase: Pending}}
`

// TestGroupOfOneThatFails: kube-scheduler places no pod of a group while it fails at another one of it, also
// where the group does not need that one. TestGroupOfOneThatFails of e2e/filters asks kube-scheduler itself.
func TestGroupOfOneThatFails(t *testing.T) {
	const fails, refuses = `device.attributes["x.example.com"].foo == "a"`, `device.driver == "none"`
	for _, test := range []struct {
		version, policy, selector string
		want                      explain.Verdict
		says                      string
	}{
		{"v1.37.2", "{basic: {}}", fails, explain.Unknown, "kube-scheduler takes the 3 waiting pods of PodGroup g together, and places none while it fails at one: it fails at pod c"},
		{"v1.36.5", "{basic: {}}", fails, explain.Unknown, "it fails at pod c"},
		{"v1.37.2", "{gang: {minCount: 1}}", fails, explain.Unknown, "it fails at pod c"},
		{"v1.37.2", "{gang: {minCount: 2}}", fails, explain.Unsatisfiable, ""},
		{"v1.37.2", "{basic: {}}", refuses, explain.Allocatable, ""},
		{"v1.37.2", "{gang: {minCount: 2}}", refuses, explain.Allocatable, ""},
	} {
		text := strings.NewReplacer("POLICY", test.policy, "SELECTOR", "'"+test.selector+"'").Replace(failing)
		read, err := manifest.ReadBytes("failing.yaml", []byte(text), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		features := inspect.DefaultFeatures(37).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})
		s := inspect.New(read.Objects, inspect.Config{Features: features, ServerVersion: test.version, Health: read.Health})
		c := scheduler.NewCluster(s, scheduler.Options{})
		e, err := question.Pod(t.Context(), c, inspect.PodRef{Namespace: "ml", Name: "a"}, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(e.Partial, "|"); e.Verdict != test.want || !strings.Contains(said, test.says) || len(e.Fixes) > 0 {
			t.Errorf("%+v: %s, %q, %+v", test, e.Verdict, said, e.Fixes)
		}
		if !strings.Contains(test.policy, "2") {
			continue
		}
		r := replay.New(c, nil)
		if err := r.Run(t.Context(), s.Objects().Pods); err != nil {
			t.Fatal(err)
		}
		if (len(r.Placed) == 0) != (test.selector == fails) {
			t.Errorf("%+v: %d pods are placed", test, len(r.Placed))
		}
	}
}

// mayFail is a group of two pods and two nodes. If the first pod takes the good device of the second node,
// the selector of the other one is evaluated for the bad device there, and fails.
const mayFail = `
{apiVersion: v1, kind: Node, metadata: {name: n0, uid: u}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: v}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu, uid: u}, spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s0, uid: u}, spec: {driver: gpu.example.com, nodeName: n0, pool: {name: p0, generation: 1, resourceSliceCount: 1}, devices: [{name: d, attributes: {foo: {string: a}}}, {name: e, attributes: {foo: {string: a}}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s1, uid: u}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: p1, generation: 1, resourceSliceCount: 1}, devices: [{name: d, attributes: {foo: {string: a}}}, {name: e, attributes: {ATTRIBUTE: {string: a}}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a, namespace: ml, uid: ca}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: b, namespace: ml, uid: cb}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].foo == "a"'}}]}}]}}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, namespace: ml, uid: u}, spec: {schedulingPolicy: {basic: {}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ml, uid: a, creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: a}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: ml, uid: b, creationTimestamp: "2026-01-01T00:00:01Z"}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: b}]}, status: {phase: Pending}}
`

// TestGroupOfOneThatMayFail: where the others of a group land may decide whether kube-scheduler fails at one.
func TestGroupOfOneThatMayFail(t *testing.T) {
	for attribute, want := range map[string]explain.Verdict{"other": explain.Unknown, "foo": explain.Allocatable} {
		read, err := manifest.ReadBytes("mayfail.yaml", []byte(strings.Replace(mayFail, "ATTRIBUTE", attribute, 1)), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		features := inspect.DefaultFeatures(37).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})
		s := inspect.New(read.Objects, inspect.Config{Features: features, ServerVersion: "v1.37.2", Health: read.Health})
		for _, name := range []string{"a", "b"} {
			e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "ml", Name: name}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != want || want == explain.Unknown && !strings.Contains(strings.Join(e.Partial, "|"), "it fails at pod b if it comes to a device") {
				t.Errorf("%s, pod %s: %s, %q", attribute, name, e.Verdict, e.Partial)
			}
		}
	}
}
