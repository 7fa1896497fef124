package question_test

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

// future is a cluster in which the pod a fits on n1 and n2, and the pod b, which wants two devices on one
// node, on none. The pod c has the device of n3. Comments are places for fields that do not exist yet.
const future = `
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u}, spec: {/*n1*/}, status: {/*n1 status*/allocatable: {pods: "10", cpu: "4"}, conditions: [{type: Ready, status: "True"/*n1 condition*/}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, uid: u}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3, uid: u}, spec: {/*n3*/}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu, uid: u}, spec: {/*class*/selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s1, uid: u}, spec: {/*s1*/driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: d/*d1*/, attributes: {model: {string: x/*attribute*/}}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s2, uid: u}, spec: {driver: gpu.example.com, nodeName: n2, pool: {name: n2, generation: 1, resourceSliceCount: 1}, devices: [{name: d/*d2*/}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s3, uid: u}, spec: {driver: gpu.example.com, nodeName: n3, pool: {name: n3, generation: 1, resourceSliceCount: 1}, devices: [{name: d}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: nic, uid: u}, spec: {/*nic*/driver: nic.example.com, allNodes: true, pool: {name: nic, generation: 1, resourceSliceCount: 1}, devices: [{name: d}]}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: r, uid: u}, spec: {deviceSelector: {driver: nic.example.com, device: none/*rule*/}, taint: {key: k, effect: NoSchedule}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a, namespace: ml, uid: u/*a meta*/}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu/*a*/}}]}}, status: {/*a status*/}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: b, namespace: ml, uid: u}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2/*b*/}}]}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: ml, uid: u}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}},
 status: {allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n3, device: d/*c*/}]}}, reservedFor: [{resource: pods, name: c, uid: c}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace: ml, uid: u}, spec: {metadata: {/*t meta*/}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu/*t*/}}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ml, uid: a}, spec: {/*pod a*/containers: [{name: c, image: x, env: [{name: E/*env*/}]}], resourceClaims: [{name: r, resourceClaimName: a}]}, status: {/*pod status*/phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: ml, uid: b}, spec: {containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: b}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: t, namespace: ml, uid: t}, spec: {containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimTemplateName: t}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: ml, uid: c}, spec: {nodeName: n3, containers: [{name: c, image: x/*pod c*/}], resourceClaims: [{name: r, resourceClaimName: c}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: odd, namespace: ml, uid: o}, spec: {containers: [{name: c, image: x}], resourceClaims: [{name: r/*entry*/}]}, status: {phase: Pending}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: odd, namespace: ml, uid: u}, spec: {devices: {requests: [{name: r/*odd*/}]}}}
`

// TestNewFieldsMakeUnknown: what is asked is known where no field that this program does not know can change
// it.
func TestNewFieldsMakeUnknown(t *testing.T) {
	const yes, no, unknown = explain.Allocatable, explain.Unsatisfiable, explain.Unknown
	for _, test := range []struct {
		at, pod string // new fields are added at these places, which commas separate
		want    explain.Verdict
		says    string
	}{
		{"", "a", yes, ""}, {"", "b", no, ""}, {"", "t", yes, ""}, {"", "odd", no, ""},
		{"a", "a", unknown, "field spec.devices.requests[0].exactly.reservation of claim ml/a is newer than this program"},
		{"a", "b", no, ""}, {"a", "t", yes, ""},
		{"a meta,a status,pod status,env,n1 condition", "a", yes, ""},
		{"b", "b", unknown, "of claim ml/b"},
		{"class", "a", unknown, "field spec.reservation of DeviceClass gpu"}, {"class", "b", unknown, ""},
		{"t", "t", unknown, "field spec.devices.requests[0].exactly.reservation of claim ml/t-r"}, {"t", "a", yes, ""}, {"t meta", "t", yes, ""},
		{"pod a", "a", unknown, "field spec.reservation of pod ml/a"}, {"pod a", "b", no, ""},
		{"entry", "odd", unknown, "field spec.resourceClaims[0].reservation of pod ml/odd"},
		// some nodes only
		{"n1", "a", yes, ""}, {"n1,d2", "a", unknown, "field spec.reservation of node n1"}, {"n1 status,d2", "a", unknown, "field status.reservation of node n1"},
		{"n1", "b", no, ""}, {"n3", "b", no, ""},
		{"d1", "a", yes, ""}, {"d1,d2", "a", unknown, "field spec.devices[0].reservation of ResourceSlice s2"},
		{"d1", "b", unknown, "field spec.devices[0].reservation of ResourceSlice s1"}, {"attribute", "b", unknown, "field spec.devices[0].attributes[model].reservation of ResourceSlice s1"},
		{"s1", "b", unknown, ""},
		{"c", "a", yes, ""}, {"c", "b", unknown, "field status.allocation.devices.results[0].reservation of claim ml/c"},
		{"pod c", "a", yes, ""}, {"pod c", "b", no, ""},
		// another driver
		{"nic,rule", "a", yes, ""}, {"nic,rule", "b", no, ""},
	} {
		text := future
		for place := range strings.SplitSeq(test.at, ",") {
			if place != "" && !strings.Contains(text, "/*"+place+"*/") {
				t.Fatalf("there is no place %s", place)
			}
			field := "reservation: {minutes: 5}"
			switch before, after, _ := strings.Cut(text, "/*"+place+"*/"); {
			case place == "":
			case strings.HasPrefix(after, "}") && !strings.HasSuffix(before, "{"):
				text = before + ", " + field + after
			case strings.HasPrefix(after, ","):
				text = before + ", " + field + after
			case strings.HasPrefix(after, "}"):
				text = before + field + after
			default:
				text = before + field + ", " + after
			}
		}
		for at := strings.Index(text, "/*"); at >= 0; at = strings.Index(text, "/*") {
			text = text[:at] + text[at+strings.Index(text[at:], "*/")+2:]
		}
		result, err := manifest.ReadBytes("future.yaml", []byte(text), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for server, want := range map[string]explain.Verdict{"v1.39.0": test.want, "": test.want, "v1.37.2": ""} {
			s := inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(37), ServerVersion: server, Health: result.Health})
			e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "ml", Name: test.pod}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(e.Partial, "|")
			switch {
			case want == "" && e.Verdict == unknown:
				t.Errorf("%q: pod %s of a server that is not newer is Unknown: %s", test.at, test.pod, said)
			case want != "" && (e.Verdict != want || !strings.Contains(said, test.says) || want != unknown && strings.Contains(said, "newer than this program")):
				t.Errorf("%q, server %q: pod %s is %s, want %s; said %q", test.at, server, test.pod, e.Verdict, want, said)
			}
			if d, err := question.Decide(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), mustPod(t, s, test.pod), question.Options{}); err != nil || d.Verdict != e.Verdict {
				t.Errorf("%q: decided %+v, %v; explained %s", test.at, d, err, e.Verdict)
			}
		}
	}
}

func mustPod(t *testing.T, s *inspect.Snapshot, name string) *corev1.Pod {
	t.Helper()
	pod, ok := s.Pod(inspect.PodRef{Namespace: "ml", Name: name})
	if !ok {
		t.Fatalf("there is no pod %s", name)
	}
	return pod
}
