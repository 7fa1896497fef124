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
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace: ml, uid: u}, spec: {/*t spec*/metadata: {/*t meta*/}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu/*t*/}}]}}}}
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
		{"a meta,env,n1 condition", "a", yes, ""},
		{"a status", "a", unknown, "field status.reservation of claim ml/a"}, {"a status", "t", yes, ""},
		{"pod status", "a", unknown, "field status.reservation of pod ml/a"}, {"pod status", "t", yes, ""},
		{"b", "b", unknown, "of claim ml/b"},
		{"class", "a", unknown, "field spec.reservation of DeviceClass gpu"}, {"class", "b", unknown, ""},
		{"t", "t", unknown, "field spec.devices.requests[0].exactly.reservation of claim ml/t-r"}, {"t", "a", yes, ""}, {"t meta", "t", yes, ""}, {"t spec", "t", unknown, ""},
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
		text := withField(t, future, test.at, "reservation: {minutes: 5}")
		result, err := manifest.ReadBytes("future.yaml", []byte(text), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for server, want := range map[string]explain.Verdict{"v1.39.0": test.want, "v2.0.0": test.want, "": test.want, "v1.37.2": ""} {
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

// withField adds a field at places of a text, which commas separate.
func withField(t *testing.T, text, places, field string) string {
	t.Helper()
	for place := range strings.SplitSeq(places, ",") {
		if place != "" && !strings.Contains(text, "/*"+place+"*/") {
			t.Fatalf("there is no place %s", place)
		}
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
	return text
}

// planned is a cluster of one node, on which the pod a has room and a device by its claim, x one as an
// extended resource, and g, which is in a group, one of a volume. The pod many wants more devices than there
// are.
const planned = `
{apiVersion: v1, kind: Namespace, metadata: {name: ml, uid: u}, spec: {/*namespace*/}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u, labels: {zone: z}}, status: {allocatable: {pods: "10", cpu: "4"}, addresses: [{type: InternalIP, address: 10.0.0.1/*address*/}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, uid: u, labels: {zone: z}}, status: {allocatable: {pods: "10", cpu: "4"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu, uid: u}, spec: {extendedResourceName: example.com/gpu/*class*/, selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s1, uid: u}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: d, nodeAllocatableResources: {cpu: {/*reservation*/}}}, {name: e}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s2, uid: u}, spec: {driver: gpu.example.com, perDeviceNodeSelection: true, pool: {name: p2, generation: 1, resourceSliceCount: 1},
 devices: [{name: f, nodeName: elsewhere/*per device*/}, {name: g, nodeName: elsewhere}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a, namespace: ml, uid: u}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}/*hinted*/}]}}, status: {reservedFor: [{resource: pods, name: a, uid: a/*reserved*/}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: many, namespace: ml, uid: u}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 3}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ml, uid: a}, spec: {containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: a}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: ml, uid: x}, spec: {containers: [{name: c, image: x, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}}}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: many, namespace: ml, uid: m}, spec: {priority: 10, containers: [{name: c, image: x}], resourceClaims: [{name: r, resourceClaimName: many}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: g, namespace: ml, uid: g}, spec: {schedulingGroup: {podGroupName: g}, containers: [{name: c, image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: other, namespace: ml, uid: o}, spec: {nodeName: n2, containers: [{name: c, image: x}],
 affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: none}}/*affinity*/}]}}}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: busy, namespace: ml, uid: b}, spec: {nodeName: n1, containers: [{name: c, image: x}]}, status: {/*on n1*/phase: Running, containerStatuses: [{name: c, image: x, ready: true, restartCount: 0/*container*/, state: {running: {/*running*/}}}]}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: g, namespace: ml, uid: u}, spec: {schedulingPolicy: {basic: {}}}, status: {/*group*/}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: v, namespace: ml, uid: u}, spec: {storageClassName: sc, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: sc, uid: u}, provisioner: csi.example.com, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1, uid: u}, spec: {drivers: [{name: csi.example.com, nodeID: a}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n2, uid: u}, spec: {drivers: [{name: csi.example.com, nodeID: b}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: csi.example.com, uid: u}, spec: {/*driver*/storageCapacity: false}}
`

// TestPlannedFieldsMakeUnknown: what is planned for after 1.38.0-beta.0 makes answers Unknown, and is named,
// as is what reaches a pod by a way of its own.
func TestPlannedFieldsMakeUnknown(t *testing.T) {
	const yes, no, unknown = explain.Allocatable, explain.Unsatisfiable, explain.Unknown
	for _, test := range []struct {
		at, field, pod string
		want           explain.Verdict
		says           string
	}{
		{"", "", "x", yes, ""}, {"", "", "g", yes, ""}, {"", "", "many", no, ""},
		{"on n1", "additionalNodeAllocatableResources: [{resource: cpu}]", "x", unknown, "field status.additionalNodeAllocatableResources of pod ml/busy is newer than this program"},
		{"reservation", "reservation: {perDevice: 1}", "x", unknown, "field spec.devices[0].nodeAllocatableResources[cpu].reservation of ResourceSlice s1 is newer than this program"},
		{"class", "extendedResourceCapacityRequests: {memory: 1Gi}", "x", unknown, "field spec.extendedResourceCapacityRequests of DeviceClass gpu is newer than this program"},
		{"per device", "nodePattern: n1", "many", unknown, "field spec.devices[0].nodePattern of ResourceSlice s2 is newer than this program"},
		{"hinted", "device: x, soon: y", "a", unknown, "field spec.devices.requests[0].device and 1 more of claim ml/a are newer than this program"},
		{"reserved", "share: x", "a", unknown, "field status.reservedFor[0].share of claim ml/a is newer than this program"},
		{"affinity", "soon: y", "x", unknown, "of pod ml/other is newer than this program"},
		{"container", "soon: y", "x", unknown, "field status.containerStatuses[0].soon of pod ml/busy is newer than this program"},
		{"running", "soon: y", "x", yes, ""}, {"address", "soon: y", "x", yes, ""}, {"namespace", "soon: y", "x", yes, ""},
		{"group", "soon: y", "g", unknown, "field status.soon of PodGroup ml/g is newer than this program"}, {"group", "soon: y", "x", yes, ""},
		{"driver", "soon: y", "g", unknown, "field spec.soon of CSIDriver csi.example.com is newer than this program"}, {"driver", "soon: y", "x", yes, ""},
	} {
		e := explainPlanned(t, withField(t, planned, test.at, test.field), test.pod, nil)
		if said := strings.Join(e.Partial, "|"); e.Verdict != test.want || !strings.Contains(said, test.says) {
			t.Errorf("%s at %q: pod %s is %s, want %s; said %q", test.field, test.at, test.pod, e.Verdict, test.want, said)
		}
	}
}

func explainPlanned(t *testing.T, text, pod string, gates map[inspect.Gate]bool) *explain.Explanation {
	t.Helper()
	result, err := manifest.ReadBytes("planned.yaml", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(39).With(gates), ServerVersion: "v1.39.0", Health: result.Health})
	e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "ml", Name: pod}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPreemptionForDevices: with the gate, devices may be held for a pod that is nominated for a node, and
// whether pods are ended for their devices is not known.
func TestPreemptionForDevices(t *testing.T) {
	on := map[inspect.Gate]bool{inspect.GatePreemption: true}
	nominated := strings.Replace(planned, "resourceClaimName: many}]}, status: {", "resourceClaimName: many}]}, status: {nominatedNodeName: n1, ", 1)
	for _, test := range []struct {
		text, pod string
		gates     map[inspect.Gate]bool
		want      explain.Verdict
		preempts  explain.PreemptionOutcome
	}{
		{planned, "a", on, explain.Allocatable, ""}, {nominated, "a", nil, explain.Allocatable, ""},
		{nominated, "a", on, explain.Unknown, ""}, {nominated, "x", on, explain.Unknown, ""}, {nominated, "g", on, explain.Allocatable, ""},
		{planned, "many", nil, explain.Unsatisfiable, explain.PreemptionNotHelpful}, {planned, "many", on, explain.Unsatisfiable, explain.PreemptionUnknown},
		{nominated, "many", on, explain.Unsatisfiable, explain.PreemptionUnknown},
	} {
		e := explainPlanned(t, withField(t, test.text, "", ""), test.pod, test.gates)
		said := strings.Join(e.Partial, "|")
		if e.Verdict != test.want || (test.want == explain.Unknown) != strings.Contains(said, "devices may be held for pod ml/many, which is nominated for node n1 (feature gate DRAPreemption)") {
			t.Errorf("pod %s with %v is %s, want %s; said %q", test.pod, test.gates, e.Verdict, test.want, said)
		}
		if test.preempts != "" && (e.Preemption == nil || e.Preemption.Outcome != test.preempts) {
			t.Errorf("pod %s with %v: %+v, want %s", test.pod, test.gates, e.Preemption, test.preempts)
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
