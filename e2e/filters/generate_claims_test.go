package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claimLife is the aspect of what claims go through: they are shared by as many as may, deleted, left by
// earlier attempts, wait for conditions before pods are bound, and are made for extended resources. Pools are
// of a node, of a zone or of all, and may be half published.
var claimLife = aspect{often: true, cluster: (*generator).claimCluster, node: (*generator).claimNode, pod: (*generator).claimUse, made: (*generator).claimMade}

const (
	extendedName = "example.com/accelerator"
	lifeDriver   = "dev.example.com"
)

func (g *generator) claimNode(node *corev1.Node) {
	node.Labels[corev1.LabelTopologyZone] = pick(g, "a", "b")
	if g.chance(0.2) {
		node.Status.Allocatable[extendedName] = resource.MustParse(pick(g, "0", "1", "2"))
	}
	if g.chance(0.5) {
		node.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
	}
	if g.chance(0.1) {
		node.Status.Allocatable["example.com/other"] = resource.MustParse("2")
	}
}

func (g *generator) claimCluster() {
	class := func(name, expression string) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if expression != "" {
			c.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
		}
		return c
	}
	plain := class("plain", "")
	if g.chance(0.7) {
		plain.Spec.ExtendedResourceName = new(extendedName)
	}
	g.objects.Classes = append(g.objects.Classes, plain, class("even", `device.attributes["dev.example.com"].?index.orValue(1) % 2 == 0`))
	for _, node := range g.objects.Nodes {
		if g.chance(0.7) {
			g.pool(node.Name, func(s *resourcev1.ResourceSliceSpec) { s.NodeName = new(node.Name) })
		}
	}
	if g.chance(0.5) {
		g.pool("zone", func(s *resourcev1.ResourceSliceSpec) {
			s.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}}
		})
	}
	if g.chance(0.4) {
		g.pool("net", func(s *resourcev1.ResourceSliceSpec) { s.AllNodes = new(true) })
	}
	if g.chance(0.3) {
		g.pool("each", func(s *resourcev1.ResourceSliceSpec) {
			s.PerDeviceNodeSelection = new(true)
			for i := range s.Devices {
				if g.chance(0.3) {
					s.Devices[i].AllNodes = new(true)
				} else {
					s.Devices[i].NodeName = new(g.anyNode().Name)
				}
			}
		})
	}
	if g.chance(0.2) {
		g.objects.TaintRules = append(g.objects.TaintRules, &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "rule"}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: new(lifeDriver), Pool: new(pick(g, "net", "node-0", "node-1"))},
			Taint:          resourcev1.DeviceTaint{Key: "example.com/rule", Effect: pick(g, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone)},
		}})
	}
	for i := range 4 {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("common-", i), Namespace: "default", UID: types.UID(fmt.Sprint("common-", i))}, Spec: g.lifeSpec()}
		g.lead(claim, "")
		g.objects.Claims = append(g.objects.Claims, claim)
	}
}

// pool publishes the slices of a pool, most of which are as they should be.
func (g *generator) pool(name string, where func(*resourcev1.ResourceSliceSpec)) {
	slices := 1 + g.IntN(2)
	shareable, conditional, counted, wrong := g.chance(0.25), g.chance(0.2), g.chance(0.25), int64(0)
	if g.chance(0.06) {
		wrong = 1
	}
	for i := range slices {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: lifeDriver, Pool: resourcev1.ResourcePool{Name: name, Generation: 3, ResourceSliceCount: int64(slices)}}
		if counted {
			s.Spec.Pool.ResourceSliceCount++
		}
		if !counted && g.chance(0.08) {
			s.Spec.Pool.Generation = int64(pick(g, 2, 4))
		}
		s.Spec.Pool.ResourceSliceCount += wrong // of all slices: which of those that disagree counts is chance
		for j := range 1 + g.IntN(3) {
			d := resourcev1.Device{Name: fmt.Sprintf("d-%d-%d", i, j), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
			if i > 0 && j == 0 && g.chance(0.08) {
				d.Name = "d-0-0"
			}
			if g.chance(0.8) {
				d.Attributes["index"] = resourcev1.DeviceAttribute{IntValue: new(int64(g.IntN(3)))}
			}
			if g.chance(0.15) {
				d.Taints = []resourcev1.DeviceTaint{{Key: "example.com/sick", Value: pick(g, "", "yes"), Effect: pick(g, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute)}}
			}
			if shareable {
				d.AllowMultipleAllocations = new(true)
				memory := resourcev1.DeviceCapacity{Value: resource.MustParse("8")}
				if g.chance(0.5) {
					memory.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: new(resource.MustParse("2")), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: new(resource.MustParse("2")), Step: new(resource.MustParse("2"))}}
				}
				d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": memory}
			}
			if conditional {
				d.BindingConditions, d.BindingFailureConditions = []string{"ready"}, []string{"failed"}
				if g.chance(0.5) {
					d.BindsToNode = new(true)
				}
			}
			if counted {
				d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: resource.MustParse(pick(g, "1", "2"))}}}}
			}
			s.Spec.Devices = append(s.Spec.Devices, d)
		}
		where(&s.Spec)
		g.objects.Slices = append(g.objects.Slices, s)
	}
	if counted {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name + "-counters"}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: lifeDriver, Pool: resourcev1.ResourcePool{Name: name, Generation: 3, ResourceSliceCount: int64(slices) + 1 + wrong}}
		s.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: resource.MustParse("2")}}}}
		where(&s.Spec)
		g.objects.Slices = append(g.objects.Slices, s)
	}
}

// lifeSpec is what a claim asks for.
func (g *generator) lifeSpec() resourcev1.ResourceClaimSpec {
	var out resourcev1.DeviceClaim
	exactly := func() resourcev1.ExactDeviceRequest {
		e := resourcev1.ExactDeviceRequest{DeviceClassName: pick(g, "plain", "plain", "plain", "even"), AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(pick(g, 1, 1, 1, 2, 3))}
		if g.chance(0.1) {
			e.AllocationMode, e.Count = resourcev1.DeviceAllocationModeAll, 0
		}
		if g.chance(0.1) {
			e.AdminAccess = new(true)
		}
		if g.chance(0.15) {
			e.Tolerations = []resourcev1.DeviceToleration{{Key: pick(g, "", "example.com/sick"), Operator: resourcev1.DeviceTolerationOpExists, Effect: pick(g, "", resourcev1.DeviceTaintEffectNoSchedule)}}
		}
		if g.chance(0.15) {
			e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(pick(g, "1", "3", "8", "9"))}}
		}
		return e
	}
	for i := range 1 + g.IntN(2) {
		request := resourcev1.DeviceRequest{Name: fmt.Sprint("r", i)}
		if g.chance(0.15) {
			for j := range 2 {
				e := exactly()
				request.FirstAvailable = append(request.FirstAvailable, resourcev1.DeviceSubRequest{Name: fmt.Sprint("s", j), DeviceClassName: e.DeviceClassName, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity})
			}
		} else {
			request.Exactly = new(exactly())
		}
		out.Requests = append(out.Requests, request)
	}
	if g.chance(0.15) {
		out.Constraints = append(out.Constraints, resourcev1.DeviceConstraint{MatchAttribute: new(resourcev1.FullyQualifiedName("dev.example.com/index"))})
	}
	if g.chance(0.1) {
		out.Constraints = append(out.Constraints, resourcev1.DeviceConstraint{DistinctAttribute: new(resourcev1.FullyQualifiedName("dev.example.com/index"))})
	}
	return resourcev1.ResourceClaimSpec{Devices: out}
}

// lead takes a claim through some of its life. owner is the pod for which it was made, if there is one.
func (g *generator) lead(claim *resourcev1.ResourceClaim, owner string) {
	if g.chance(0.05) {
		claim.DeletionTimestamp, claim.Finalizers = &metav1.Time{Time: someTime}, []string{resourcev1.Finalizer}
	}
	if g.chance(0.6) || len(g.objects.Slices) == 0 {
		return
	}
	slice := pick(g, g.objects.Slices...)
	if len(slice.Spec.Devices) == 0 {
		return
	}
	d := pick(g, slice.Spec.Devices...)
	for _, other := range g.objects.Claims {
		if a := other.Status.Allocation; a != nil && a.Devices.Results[0].Pool == slice.Spec.Pool.Name && a.Devices.Results[0].Device == d.Name {
			return
		}
	}
	request := claim.Spec.Devices.Requests[0]
	name := request.Name
	if len(request.FirstAvailable) > 0 {
		name += "/s0"
	}
	result := resourcev1.DeviceRequestAllocationResult{Request: name, Driver: lifeDriver, Pool: slice.Spec.Pool.Name, Device: d.Name}
	result.BindingConditions, result.BindingFailureConditions = d.BindingConditions, d.BindingFailureConditions
	if request.Exactly != nil {
		result.AdminAccess = request.Exactly.AdminAccess
	}
	if d.AllowMultipleAllocations != nil {
		result.ShareID = new(types.UID("11111111-1111-1111-1111-111111111111"))
		result.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(pick(g, "2", "8"))}
	}
	if g.chance(0.15) {
		result.SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationNodePrepareResources}
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{AllocationTimestamp: &metav1.Time{Time: someTime}, Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{result}}}
	switch {
	case slice.Spec.NodeName != nil:
		claim.Status.Allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{*slice.Spec.NodeName}}}}}}
	case slice.Spec.NodeSelector != nil:
		claim.Status.Allocation.NodeSelector = slice.Spec.NodeSelector
	}
	if len(d.BindingConditions) > 0 && g.chance(0.7) {
		status := resourcev1.AllocatedDeviceStatus{Driver: lifeDriver, Pool: slice.Spec.Pool.Name, Device: d.Name}
		if result.ShareID != nil {
			status.ShareID = new(string(*result.ShareID))
		}
		for _, c := range []string{"ready", "failed"} {
			if g.chance(0.4) {
				status.Conditions = append(status.Conditions, metav1.Condition{Type: c, Status: pick(g, metav1.ConditionTrue, metav1.ConditionFalse), Reason: "Some", LastTransitionTime: metav1.Time{Time: someTime}})
			}
		}
		claim.Status.Devices = append(claim.Status.Devices, status)
	}
	consumers := pick(g, 0, 1, 255)
	for i := range consumers {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: fmt.Sprint("user-", i), UID: types.UID(fmt.Sprint("user-", i))})
	}
	if owner != "" && consumers > 0 && g.chance(0.5) {
		claim.Status.ReservedFor[0] = resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: owner, UID: types.UID(owner)}
	}
}

// claimUse lets a pod use claims, and extended resources.
func (g *generator) claimUse(pod *corev1.Pod) {
	for i := range g.IntN(3) {
		entry := corev1.PodResourceClaim{Name: fmt.Sprint("c", i)}
		if g.chance(0.4) {
			entry.ResourceClaimTemplateName = new("some")
		} else {
			entry.ResourceClaimName = new(fmt.Sprint("common-", g.IntN(4)))
		}
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, entry)
		pod.Spec.Containers[0].Resources.Claims = append(pod.Spec.Containers[0].Resources.Claims, corev1.ResourceClaim{Name: entry.Name})
	}
	if g.chance(0.6) {
		return
	}
	ask := func(c *corev1.Container) {
		name := pick[corev1.ResourceName](g, extendedName, extendedName, extendedName, "deviceclass.resource.kubernetes.io/plain", "deviceclass.resource.kubernetes.io/even", "example.com/other")
		amount := resource.MustParse(pick(g, "0", "1", "1", "2"))
		c.Resources.Limits = corev1.ResourceList{name: amount}
	}
	ask(&pod.Spec.Containers[0])
	if g.chance(0.3) {
		c := corev1.Container{Name: "second", Image: "example.com/app"}
		ask(&c)
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	for i := range g.IntN(3) {
		c := corev1.Container{Name: fmt.Sprint("init-", i), Image: "example.com/app"}
		ask(&c)
		if g.chance(0.4) {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
}

// claimMade makes the claims of a pod, and now and then one that an earlier attempt to schedule it left.
func (g *generator) claimMade(pod *corev1.Pod) {
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil {
			continue
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: pod.Name + "-" + entry.Name, Namespace: pod.Namespace, UID: types.UID(pod.Name + "-" + entry.Name)}, Spec: g.lifeSpec()}
		claim.Annotations = map[string]string{resourcev1.PodResourceClaimAnnotation: entry.Name}
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pick(g, pod.UID, pod.UID, pod.UID, pod.UID, "older"), Controller: new(true)}}
		g.lead(claim, pod.Name)
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: new(claim.Name)})
		g.objects.Claims = append(g.objects.Claims, claim)
	}
}
