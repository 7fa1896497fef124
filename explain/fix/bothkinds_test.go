package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// bothKinds has a device class that provides an extended resource, and nodes on which a driver or a device
// plugin does.
const bothKinds = `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n0, labels: {disk: hdd}}, status: {allocatable: {cpu: "4", pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: plugin, labels: {disk: hdd}}, status: {allocatable: {cpu: "4", pods: "110", example.com/foo: "4", example.com/gpu: "4"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: driver, labels: {disk: hdd}}, status: {allocatable: {cpu: "4", pods: "110", example.com/foo: "FOO"}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: gpus}, spec: {driver: gpu.example.com, nodeName: driver, pool: {name: driver, generation: 1, resourceSliceCount: 1},
  devices: [{name: gpu-0}, {name: gpu-1}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: p}, spec: {SPEC, containers: [{name: c, image: x, resources: {requests: {AMOUNTS}, limits: {AMOUNTS}}}]}, status: {phase: Pending}}
`

func explainedText(t *testing.T, text string) *explain.Explanation {
	t.Helper()
	result, err := manifest.ReadBytes("objects.yaml", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNodesOfBothKinds: what is changed for the nodes with a driver is changed for those with a device
// plugin, too. A change is there once, and says how many nodes of both kinds it helps on.
func TestNodesOfBothKinds(t *testing.T) {
	for _, tt := range []struct {
		name, foo, spec, amounts string
		want                     []string
	}{
		{"both", "4", "nodeSelector: {disk: ssd}", `example.com/gpu: "1"`, []string{"RelaxSelector 2"}},
		{"one", "1", "nodeSelector: {disk: ssd}", `example.com/foo: "2", example.com/gpu: "1"`, []string{"RelaxSelector plugin 1"}},
		{"init container", "4", "initContainers: [{name: i, image: x}]", `example.com/gpu: "5"`, []string{"ReduceRequest plugin 1", "ReduceCount 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := explainedText(t, strings.NewReplacer("FOO", tt.foo, "SPEC", tt.spec, "AMOUNTS", tt.amounts).Replace(bothKinds))
			if e.Conflict == nil {
				t.Error("no conflict")
			}
			for i := range e.Fixes {
				f := &e.Fixes[i]
				t.Log(f.Kind, f.Node, f.Nodes, f.Message, f.Changes)
				if f.Kind != explain.AddNode && f.Kind != explain.AddDevices && len(f.Changes) == 0 {
					t.Errorf("%s: nothing says how it is carried out", f.Message)
				}
			}
			for _, want := range tt.want {
				found := 0
				for _, f := range e.Fixes {
					if words := strings.Fields(want); words[0] == string(f.Kind) && strings.HasSuffix(want, fmt.Sprint(" ", f.Nodes)) {
						found++
					}
				}
				if found != 1 {
					t.Errorf("%d fixes are %q, want 1", found, want)
				}
			}
		})
	}
}

// tainted has a node all of whose devices are tainted by a rule.
const tainted = `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: "4", pods: "110"}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: gpus}, spec: {driver: gpu.example.com, nodeName: n3, pool: {name: pool-3, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: maintenance}, spec: {deviceSelector: {driver: gpu.example.com, pool: pool-3}, taint: {key: example.com/sick, value: "yes", effect: NoSchedule}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: p}, spec: {containers: [{name: c, image: x, resources: {requests: {example.com/gpu: "1"}, limits: {example.com/gpu: "1"}}}]}, status: {phase: Pending}}
`

// TestRuleOverPool: a rule taints whatever the driver adds to its pool, so devices are not what helps. To
// delete the rule does, also where nobody can tolerate the taint.
func TestRuleOverPool(t *testing.T) {
	var kinds []explain.FixKind
	for _, f := range explainedText(t, tainted).Fixes {
		if kinds = append(kinds, f.Kind); f.Kind == explain.AddDevices {
			t.Errorf("fix %q", f.Message)
		}
	}
	if len(kinds) == 0 || kinds[0] != explain.RemoveTaint {
		t.Errorf("fixes %v, want to delete the rule", kinds)
	}
}

// TestLastResort: where nothing else helps, it is said what the pod has to do without.
func TestLastResort(t *testing.T) {
	for _, tt := range []struct{ name, spec, containers, want string }{
		{"volume", "volumes: [{name: data, persistentVolumeClaim: {claimName: far}}],", "volumeMounts: [{name: data, mountPath: /data}]", "the volume data (claim far)"},
		{"resource", "", `resources: {requests: {example.com/none: "1"}, limits: {example.com/none: "1"}}`, "example.com/none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := `
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], local: {path: /d}, claimRef: {name: far, namespace: default, uid: u},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [none]}]}]}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: far, namespace: default, uid: u, annotations: {pv.kubernetes.io/bind-completed: "yes"}}, spec: {accessModes: [ReadWriteOnce], volumeName: pv,
  resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: "4", pods: "110"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: p}, spec: {` + tt.spec + ` containers: [{name: c, image: x, ` + tt.containers + `}]}, status: {phase: Pending}}`
			e := explainedText(t, text)
			if len(e.Fixes) != 1 || e.Fixes[0].Message != "as the last resort, do without "+tt.want || e.Fixes[0].Node != "node-1" || e.Fixes[0].Nodes != 1 {
				t.Fatalf("%s: %+v", e.Message, e.Fixes)
			}
			if last := e.Fixes[0].Patch[len(e.Fixes[0].Patch)-1]; last.Op != "remove" {
				t.Errorf("patch %+v", e.Fixes[0].Patch)
			}
		})
	}
}
