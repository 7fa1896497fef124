package live_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

func TestOnlyV1beta1IsServed(t *testing.T) {
	f := newFake()
	f.served["resource.k8s.io/v1beta1"] = []string{"resourceclaims", "resourceslices", "deviceclasses", "resourceclaimtemplates"}
	delete(f.served, "resource.k8s.io/v1")
	f.objects["/apis/resource.k8s.io/v1beta1/resourceslices"] = []string{`{"metadata":{"name":"s","managedFields":[{"manager":"m"}]},"spec":{
		"driver":"d","nodeName":"n","pool":{"name":"n","generation":1,"resourceSliceCount":1},
		"devices":[{"name":"gpu-0","basic":{"attributes":{"model":{"string":"A"}},"capacity":{"memory":{"value":"4Gi"}}}}]}}`}
	f.objects["/apis/resource.k8s.io/v1beta1/resourceclaims"] = []string{`{"metadata":{"name":"c","namespace":"ml"},"spec":{"devices":{
		"requests":[{"name":"r","deviceClassName":"gpu","allocationMode":"ExactCount","count":2}]}}}`}
	cluster := mustRead(t, f, live.Options{})

	if h := cluster.Health[inspect.Slices]; h.State != inspect.Synced || h.Version != "resource.k8s.io/v1beta1" {
		t.Errorf("slices: %+v, want Synced at v1beta1", h)
	}
	if h := cluster.Health[inspect.TaintRules]; h.State != inspect.NotServed {
		t.Errorf("taint rules: %+v, want NotServed", h)
	}
	slice := cluster.Objects.Slices[0]
	device := slice.Spec.Devices[0]
	memory := device.Capacity["memory"].Value
	if device.Name != "gpu-0" || *device.Attributes["model"].StringValue != "A" || memory.String() != "4Gi" {
		t.Errorf("device of v1beta1 was not converted: %+v", device)
	}
	if slice.ManagedFields != nil || *slice.Spec.NodeName != "n" {
		t.Errorf("slice: %+v", slice)
	}
	want := []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2}}}
	if diff := cmp.Diff(want, cluster.Objects.Claims[0].Spec.Devices.Requests); diff != "" {
		t.Errorf("requests of v1beta1 (-want +got):\n%s", diff)
	}
}

// Each resource is read at its own newest version: 1.34 serves claims at v1 and taint rules at
// v1alpha3 only, 1.36 serves taint rules at v1beta2.
func TestEachResourceHasItsOwnNewestVersion(t *testing.T) {
	f := newFake()
	f.served["resource.k8s.io/v1"] = []string{"resourceclaims", "resourceslices", "deviceclasses", "resourceclaimtemplates"}
	f.served["resource.k8s.io/v1beta2"] = append(f.served["resource.k8s.io/v1"], "devicetaintrules")
	f.objects["/apis/resource.k8s.io/v1beta2/devicetaintrules"] = []string{`{"metadata":{"name":"t"},
		"spec":{"deviceSelector":{"driver":"d"},"taint":{"key":"k","effect":"NoSchedule"}}}`}
	cluster := mustRead(t, f, live.Options{})
	if h := cluster.Health[inspect.Claims]; h.Version != "resource.k8s.io/v1" {
		t.Errorf("claims: %+v, want v1", h)
	}
	if h := cluster.Health[inspect.TaintRules]; h.State != inspect.Synced || h.Version != "resource.k8s.io/v1beta2" {
		t.Errorf("taint rules: %+v, want Synced at v1beta2", h)
	}
	if rules := cluster.Objects.TaintRules; len(rules) != 1 || *rules[0].Spec.DeviceSelector.Driver != "d" ||
		rules[0].Spec.Taint.Effect != resourcev1.DeviceTaintEffectNoSchedule {
		t.Errorf("taint rules: %+v", rules)
	}
}

// A rule that selects by CEL, as 1.33 and 1.34 allowed, must not become one that taints every device.
func TestAlphaTaintRuleThatV1CannotExpressIsLeftOut(t *testing.T) {
	f := newFake()
	f.served["resource.k8s.io/v1"] = []string{"resourceslices"}
	f.served["resource.k8s.io/v1alpha3"] = []string{"devicetaintrules"}
	f.objects["/apis/resource.k8s.io/v1alpha3/devicetaintrules"] = []string{
		`{"metadata":{"name":"plain"},"spec":{"deviceSelector":{"pool":"p"},"taint":{"key":"k","effect":"NoExecute"}}}`,
		`{"metadata":{"name":"by-cel"},"spec":{"deviceSelector":{"selectors":[{"cel":{"expression":"false"}}]},"taint":{"key":"k","effect":"NoExecute"}}}`,
		`{"metadata":{"name":"by-class"},"spec":{"deviceSelector":{"deviceClassName":"c"},"taint":{"key":"k","effect":"NoExecute"}}}`,
		`{"metadata":{"name":"nothing"},"spec":{"taint":{"key":"k","effect":"NoExecute"}}}`,
	}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.TaintRules}})
	rules := cluster.Objects.TaintRules
	if len(rules) != 2 || rules[0].Name != "plain" || rules[1].Name != "nothing" {
		t.Fatalf("rules %+v, want plain and nothing", rules)
	}
	if *rules[0].Spec.DeviceSelector.Pool != "p" || rules[0].Spec.Taint.Key != "k" || rules[1].Spec.DeviceSelector != nil {
		t.Errorf("rules were not converted: %+v", rules)
	}
	want := inspect.Health{State: inspect.Broken, Version: "resource.k8s.io/v1alpha3",
		Message: "listing devicetaintrules.resource.k8s.io: left out by-cel, by-class: select by class or CEL, which Kubernetes 1.35 removed"}
	if diff := cmp.Diff(want, cluster.Health[inspect.TaintRules]); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
}

func TestOldFlowControlAndStorage(t *testing.T) {
	f := newFake()
	f.served = map[string][]string{
		"flowcontrol.apiserver.k8s.io/v1beta3": {"prioritylevelconfigurations", "flowschemas"},
		"storage.k8s.io/v1beta1":               {"csistoragecapacities"},
	}
	f.objects["/apis/flowcontrol.apiserver.k8s.io/v1beta3/prioritylevelconfigurations"] = []string{
		`{"metadata":{"name":"pl"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":30,"lendablePercent":50,"limitResponse":{"type":"Reject"}}}}`,
		`{"metadata":{"name":"zero"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}}`}
	f.objects["/apis/storage.k8s.io/v1beta1/csistoragecapacities"] = []string{`{"metadata":{"name":"sc"},"storageClassName":"fast","capacity":"7Gi"}`}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.PriorityLevels, inspect.StorageCapacities}})
	for i, want := range []int32{30, 0} {
		if got := cluster.Objects.PriorityLevels[i].Spec.Limited.NominalConcurrencyShares; !cmp.Equal(got, &want) {
			t.Errorf("shares %v, want %d", got, want)
		}
	}
	if got := cluster.Objects.StorageCapacities[0]; got.StorageClassName != "fast" || got.Capacity.String() != "7Gi" {
		t.Errorf("capacity: %+v", got)
	}
}

// A PodGroup is the same at every version at which it is served. Kubernetes 1.37 serves the first two when
// its gates and the versions are on, 1.36 the last.
func TestPodGroupsAtAllVersions(t *testing.T) {
	const gang = `"schedulingPolicy":{"gang":{"minCount":3}},"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"t"}],"priority":7`
	tests := map[string]string{
		"v1beta1":  `{"metadata":{"name":"g","namespace":"ml"},"spec":{` + gang + `,"workloadRef":{"workloadName":"w","templateName":"p"},"disruptionMode":{"all":{}}}}`,
		"v1alpha3": `{"metadata":{"name":"g","namespace":"ml"},"spec":{` + gang + `,"workloadRef":{"workloadName":"w","templateName":"p"},"disruptionMode":{"all":{}}}}`,
		"v1alpha2": `{"metadata":{"name":"g","namespace":"ml"},"spec":{` + gang + `,"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"p"}},"disruptionMode":"PodGroup"}}`,
	}
	want := schedulingv1beta1.PodGroupSpec{
		WorkloadRef:      &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "p"},
		SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3}},
		ResourceClaims:   []schedulingv1beta1.PodGroupResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("t")}},
		DisruptionMode:   &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}},
		Priority:         ptr.To[int32](7),
	}
	for version, item := range tests {
		t.Run(version, func(t *testing.T) {
			f := newFake()
			delete(f.served, "scheduling.k8s.io/v1beta1")
			f.served["scheduling.k8s.io/"+version] = []string{"podgroups"}
			f.objects["/apis/scheduling.k8s.io/"+version+"/podgroups"] = []string{item}
			cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.PodGroups}})
			if h := cluster.Health[inspect.PodGroups]; h.State != inspect.Synced || h.Version != "scheduling.k8s.io/"+version {
				t.Errorf("%+v", h)
			}
			if groups := cluster.Objects.PodGroups; len(groups) != 1 || groups[0].Name != "g" || groups[0].Namespace != "ml" {
				t.Fatalf("groups: %+v", groups)
			}
			if diff := cmp.Diff(want, cluster.Objects.PodGroups[0].Spec); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		f := newFake()
		delete(f.served, "scheduling.k8s.io/v1beta1")
		cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.PodGroups}})
		want := inspect.Health{State: inspect.NotServed, Message: "this server does not serve podgroups.scheduling.k8s.io at any version from v1alpha2 to v1beta1"}
		if diff := cmp.Diff(want, cluster.Health[inspect.PodGroups]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestWatchedAlphaPodGroups: what cannot be watched as protobuf is listed again and again.
func TestWatchedAlphaPodGroups(t *testing.T) {
	h, config := newHub(t)
	h.served = map[string][]string{"scheduling.k8s.io/v1alpha2": {"podgroups"}}
	h.put("/apis/scheduling.k8s.io/v1alpha2/podgroups", "ml", "g", `"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}`)
	f := follow(t, config, live.Options{Resources: []inspect.Resource{inspect.PodGroups}})
	f.until("the group", func(s *inspect.Snapshot) bool {
		groups := s.Objects().PodGroups
		return len(groups) == 1 && groups[0].Spec.SchedulingPolicy.Gang.MinCount == 3
	})
}

func TestPodsAndNodesAreReduced(t *testing.T) {
	f := newFake()
	f.objects[podsPath] = []string{`{"metadata":{"name":"p","namespace":"ml","uid":"u","labels":{"a":"b"},"annotations":{"secret":"x"},
		"managedFields":[{"manager":"m"}]},
		"spec":{"nodeName":"n","schedulerName":"s","priority":3,"schedulingGates":[{"name":"g"}],"serviceAccountName":"sa","volumes":[{"name":"v"}],
		"resourceClaims":[{"name":"gpu","resourceClaimName":"c"}],"tolerations":[{"key":"t"}],"nodeSelector":{"x":"y"},
		"initContainers":[{"name":"i","restartPolicy":"Always","image":"img"}],
		"containers":[{"name":"main","image":"img","env":[{"name":"PASSWORD","value":"x"}],"resources":{"claims":[{"name":"gpu","request":"r"}]}}]},
		"status":{"phase":"Pending","podIP":"10.0.0.1","conditions":[{"type":"PodScheduled","status":"False"}],
		"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"c"}],
		"extendedResourceClaimStatus":{"resourceClaimName":"e","requestMappings":[]},"containerStatuses":[{"name":"main"}]}}`}
	f.objects[nodesPath] = []string{`{"metadata":{"name":"n"},"spec":{"taints":[{"key":"t"}]},
		"status":{"allocatable":{"cpu":"1"},"images":[{"names":["a"]}],"volumesInUse":["v"]}}`}
	cluster := mustRead(t, f, live.Options{})

	var want corev1.Pod
	err := json.Unmarshal([]byte(`{"metadata":{"name":"p","namespace":"ml","uid":"u","labels":{"a":"b"}},
		"spec":{"nodeName":"n","schedulerName":"s","priority":3,"schedulingGates":[{"name":"g"}],
		"resourceClaims":[{"name":"gpu","resourceClaimName":"c"}],"tolerations":[{"key":"t"}],"nodeSelector":{"x":"y"},
		"initContainers":[{"name":"i","restartPolicy":"Always"}],
		"containers":[{"name":"main","resources":{"claims":[{"name":"gpu","request":"r"}]}}]},
		"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False"}],
		"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"c"}],
		"extendedResourceClaimStatus":{"resourceClaimName":"e","requestMappings":[]}}}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, cluster.Objects.Pods[0]); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	node := cluster.Objects.Nodes[0]
	cpu := node.Status.Allocatable["cpu"]
	if node.Status.Images != nil || node.Status.VolumesInUse != nil || len(node.Spec.Taints) != 1 ||
		cpu.String() != "1" {
		t.Errorf("node: %+v", node)
	}
}
