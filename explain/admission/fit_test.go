package admission_test

import (
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
)

// fitCluster has two nodes and a flavor for each, of which a queue has 3 and 6 devices; one workload holds
// one of the 3, and another that waits wants one.
const fitCluster = `
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: one}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {pool: two}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: one}, spec: {nodeLabels: {pool: one}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: two}, spec: {nodeLabels: {pool: two}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: c}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [gpus], flavors: [
  {name: one, resources: [{name: gpus, nominalQuota: 3}]}, {name: two, resources: [{name: gpus, nominalQuota: 6}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: ml}, spec: {clusterQueue: c}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: holds, namespace: ml}, spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c}]}}}]},
  status: {conditions: [{type: QuotaReserved, status: "True"}, {type: Admitted, status: "True"}], admission: {clusterQueue: c, podSetAssignments: [{name: main, count: 1, flavors: {gpus: one}, resourceUsage: {gpus: 1}}]}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: waits, namespace: ml, creationTimestamp: "2026-11-01T00:00:00Z"}, spec: {queueName: q, podSets: [{name: main, count: 1, template: {spec: {
  containers: [{name: c}], resourceClaims: [{name: g, resourceClaimTemplateName: one}]}}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one, namespace: ml}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}}
`

const fitConfig = "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu]}]}}"

// TestFit: how many copies get quota, and of these how many find devices on nodes of their flavor.
func TestFit(t *testing.T) {
	t.Parallel()
	alone := strings.NewReplacer("queueName: q, podSets: [{name: main, count: 1, template: {spec: {\n", "queueName: none, podSets: [{name: main, count: 1, template: {spec: {\n")
	for name, test := range map[string]struct {
		change   *strings.Replacer
		config   string
		devices  [2]int // on n1 and n2
		total    int
		mode     resourcev1.DeviceAllocationMode
		queue    string
		want     string // quota, both, whether it is certain
		limitHas string
	}{
		// One of flavor one is held, one is for who waits: 1 and 6 are left.
		"more quota than devices":       {devices: [2]int{4, 4}, total: 8, want: "7 5 false", limitHas: "insufficient unused quota for gpus in flavor one, 1 more needed"},
		"nobody waits":                  {change: alone, devices: [2]int{4, 4}, total: 8, want: "8 6 true", limitHas: "insufficient"},
		"no devices of the flavor":      {change: alone, devices: [2]int{8, 0}, total: 8, want: "8 2 true", limitHas: "insufficient"},
		"admitted without pods":         {change: strings.NewReplacer("name: waits", "name: later", "queueName: q, podSets: [{name: main, count: 1, template: {spec: {\n", "queueName: none, podSets: [{name: main, count: 1, template: {spec: {\n", "name: holds, namespace: ml", "name: holds, namespace: ml, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u}]"), devices: [2]int{4, 4}, total: 8, want: "8 6 false", limitHas: "insufficient"},
		"nodes share devices":           {change: alone, devices: [2]int{4, 4}, total: 4, want: "8 4 false", limitHas: "insufficient"},
		"no labels, shared devices":     {change: strings.NewReplacer("queueName: q, podSets: [{name: main, count: 1, template: {spec: {\n", "queueName: none, podSets: [{name: main, count: 1, template: {spec: {\n", ", spec: {nodeLabels: {pool: one}}", "", ", spec: {nodeLabels: {pool: two}}", ""), devices: [2]int{4, 4}, total: 4, want: "8 4 true", limitHas: "insufficient"},
		"no configuration":              {config: "none", devices: [2]int{4, 4}, total: 8, want: "0 0 false", limitHas: "Configuration"},
		"what Kueue does not count":     {mode: resourcev1.DeviceAllocationModeAll, devices: [2]int{4, 4}, total: 8, want: "0 0 true", limitHas: "AllocationMode 'All' is not supported"},
		"a check decides":               {change: strings.NewReplacer("namespaceSelector: {},", "namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: k}]},"), devices: [2]int{4, 4}, total: 8, want: "7 5 false", limitHas: "insufficient"},
		"a queue that is not there":     {queue: "other", devices: [2]int{4, 4}, total: 8, want: "0 0 true", limitHas: "doesn't exist"},
		"the first of the queue blocks": {change: strings.NewReplacer("namespaceSelector: {},", "namespaceSelector: {}, queueingStrategy: StrictFIFO,", "count: 1}}]}}}}", "count: 9}}]}}}}"), devices: [2]int{4, 4}, total: 8, want: "0 0 true", limitHas: "is the head of ClusterQueue c and does not go"},
	} {
		t.Run(name, func(t *testing.T) {
			text := fitCluster
			if test.change != nil {
				text = test.change.Replace(text)
			}
			if name == "a check decides" {
				text += "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: k}, spec: {controllerName: x}, status: {conditions: [{type: Active, status: \"True\"}]}}\n"
			}
			config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor)}
			if test.config == "" {
				var err error
				if config.Kueue, err = kueueconfig.Read([]byte(fitConfig), ""); err != nil {
					t.Fatal(err)
				}
			}
			s := inspect.New(read(t, text).Objects, config)
			f := &explain.Fit{Total: test.total, Nodes: []explain.NodeFit{{Node: "n1", Copies: test.devices[0]}, {Node: "n2", Copies: test.devices[1]}}}
			claim := &resourcev1.ResourceClaim{}
			claim.Namespace, claim.Name = "ml", "copy"
			exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}
			if test.mode != "" {
				exactly.AllocationMode, exactly.Count = test.mode, 0
			}
			claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: exactly}}
			queue := test.queue
			if queue == "" {
				queue = "q"
			}
			admission.Fit(s, claim, queue, f)
			got := fmt.Sprint(f.Queue.Copies, f.Queue.Together, len(f.Queue.Partial) == 0)
			if got != test.want || !strings.Contains(f.Queue.Limit, test.limitHas) || f.Queue.AtLeast {
				t.Errorf("%s, want %s: %+v", got, test.want, f.Queue)
			}
		})
	}
}
