package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

func TestFeaturesUsedBy(t *testing.T) {
	slice := func(spec string) string {
		return "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 1}, " + spec + "}\n"
	}
	claim := func(request string) string {
		return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: {devices: {requests: [{name: r, " + request + "}]}}\n"
	}
	result := func(fields string) string {
		return claim("exactly: {deviceClassName: c}") + "status: {allocation: {devices: {results: [{request: r, driver: d, pool: p, device: x, " + fields + "}]}}}\n"
	}
	pod := func(fields string) string { return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + fields + "\n" }
	tests := map[string]struct {
		text string
		want []inspect.Gate
	}{
		"nothing special":        {slice("devices: [{name: x, attributes: {a: {int: 1}}}]") + "---\n" + claim("exactly: {deviceClassName: c}"), nil},
		"compatibility groups":   {slice("devices: [{name: x, consumesCounters: [{counterSet: s, counters: {m: {value: 1}}, compatibilityGroups: [a]}]}]"), []inspect.Gate{inspect.GateDeviceCompatibilityGroups, inspect.GatePartitionableDevices}},
		"list attribute":         {slice("devices: [{name: x, attributes: {a: {strings: [a, b]}}}]"), []inspect.Gate{inspect.GateListTypeAttributes}},
		"CEL includes":           {claim(`exactly: {deviceClassName: c, selectors: [{cel: {expression: 'device.attributes["d"].a.includes("x")'}}]}`), []inspect.Gate{inspect.GateListTypeAttributes}},
		"derived attributes":     {claim(`exactly: {deviceClassName: c, derivedAttributes: [{name: d/x, cel: {expression: '"a"'}}]}`), []inspect.Gate{inspect.GateDerivedAttributes}},
		"skipped operations":     {slice(`skipNodeOperations: ["*"], devices: [{name: x}]`), []inspect.Gate{inspect.GateOptionalNodeOperations}},
		"partition types":        {slice("partitionTypeAttribute: d/t, devices: [{name: x}]"), []inspect.Gate{inspect.GatePartitionableDevicesType}},
		"admin access":           {claim("exactly: {deviceClassName: c, adminAccess: true}"), []inspect.Gate{inspect.GateAdminAccess}},
		"alternatives":           {claim("firstAvailable: [{name: a, deviceClassName: c, capacity: {requests: {m: 1}}}]"), []inspect.Gate{inspect.GateConsumableCapacity, inspect.GatePrioritizedList}},
		"taint":                  {slice("devices: [{name: x, taints: [{key: k, effect: NoSchedule}]}]"), []inspect.Gate{inspect.GateDeviceTaints}},
		"fractional range":       {slice("devices: [{name: x, allowMultipleAllocations: true, capacity: {m: {value: 4, requestPolicy: {default: 1, validRange: {min: 500m}}}}}]"), []inspect.Gate{inspect.GateConsumableCapacity, inspect.GateFractionalCapacityRange}},
		"whole range":            {slice("devices: [{name: x, allowMultipleAllocations: true, capacity: {m: {value: 4, requestPolicy: {default: 1, validRange: {min: 1000m}}}}}]"), []inspect.Gate{inspect.GateConsumableCapacity}},
		"binding conditions":     {slice("devices: [{name: x, bindingConditions: [Ready]}]"), []inspect.Gate{inspect.GateDeviceBindingConditions, inspect.GateDeviceStatus}},
		"allocated share":        {result("shareID: 11111111-1111-4111-8111-111111111111"), []inspect.Gate{inspect.GateConsumableCapacity}},
		"allocated, for admin":   {result("adminAccess: true"), []inspect.Gate{inspect.GateAdminAccess}},
		"tolerated by number":    {pod("spec: {containers: [], tolerations: [{key: k, operator: Exists}, {key: k, operator: Lt, value: '5'}]}"), []inspect.Gate{inspect.GateTaintTolerationComparisonOperators}},
		"tolerated, above":       {pod("spec: {containers: [], tolerations: [{key: k, operator: Gt, value: '5'}]}"), []inspect.Gate{inspect.GateTaintTolerationComparisonOperators}},
		"plain toleration":       {pod("spec: {containers: [], tolerations: [{key: k, value: '5'}]}"), nil},
		"CPUs of devices":        {pod("status: {nodeAllocatableResourceClaimStatuses: [{resourceClaimName: c}]}"), []inspect.Gate{inspect.GateNodeAllocatableResources}},
		"pod of a group":         {pod("spec: {containers: [], schedulingGroup: {podGroupName: g}}"), []inspect.Gate{inspect.GateGenericWorkload}},
		"nodes chosen by device": {slice("devices: [{name: x}]")[:len(slice("devices: [{name: x}]"))-2] + ", perDeviceNodeSelection: true}\n", []inspect.Gate{inspect.GatePartitionableDevices}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := manifest.ReadBytes("test.yaml", []byte(test.text), manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, inspect.FeaturesUsedBy(result.Objects)); diff != "" {
				t.Error("gates (-want +got):\n" + diff)
			}
		})
	}
}

func TestFeaturesUsedByPodGroups(t *testing.T) {
	never := schedulingv1beta1.PreemptNever
	parent := "all"
	for name, test := range map[string]struct {
		spec schedulingv1beta1.PodGroupSpec
		want []inspect.Gate
	}{
		"plain":      {schedulingv1beta1.PodGroupSpec{}, []inspect.Gate{inspect.GateGenericWorkload}},
		"composite":  {schedulingv1beta1.PodGroupSpec{ParentCompositePodGroupName: &parent}, []inspect.Gate{inspect.GateCompositePodGroup, inspect.GateGenericWorkload, inspect.GateTopologyAwareWorkloadScheduling}},
		"topology":   {schedulingv1beta1.PodGroupSpec{SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{}}, []inspect.Gate{inspect.GateGenericWorkload, inspect.GateTopologyAwareWorkloadScheduling}},
		"preemption": {schedulingv1beta1.PodGroupSpec{PreemptionPolicy: &never}, []inspect.Gate{inspect.GateGenericWorkload, inspect.GatePodGroupPreemptionPolicy}},
	} {
		t.Run(name, func(t *testing.T) {
			got := inspect.FeaturesUsedBy(inspect.Objects{PodGroups: []*schedulingv1beta1.PodGroup{{Spec: test.spec}}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("gates (-want +got):\n" + diff)
			}
		})
	}
}
