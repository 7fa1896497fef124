package live

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// What objects of each kind share with others: that is most of what a large cluster takes in memory.

// share replaces a value by another one that is equal in every bit, and in memory already.
func share[T any](value *T, by T) {
	if reflect.DeepEqual(*value, by) {
		*value = by
	}
}

// sharePodNames lets pods share the names of nodes and schedulers.
func sharePodNames(c *common, p *corev1.Pod) {
	shareText(c, &p.Spec.NodeName)
	shareText(c, &p.Spec.SchedulerName)
}

// sharePod lets a pod share with another what both have: pods of one controller come one after the other and differ in
// little.
func sharePod(p, before *corev1.Pod) {
	if p.Namespace != before.Namespace {
		return
	}
	share(&p.OwnerReferences, before.OwnerReferences)
	own, other := &p.Spec, &before.Spec
	share(&own.Containers, other.Containers)
	share(&own.InitContainers, other.InitContainers)
	share(&own.Tolerations, other.Tolerations)
	share(&own.TopologySpreadConstraints, other.TopologySpreadConstraints)
	share(&own.Affinity, other.Affinity)
	share(&own.NodeSelector, other.NodeSelector)
	share(&own.Overhead, other.Overhead)
	share(&own.Resources, other.Resources)
	share(&own.Volumes, other.Volumes)
	share(&own.ResourceClaims, other.ResourceClaims)
	share(&own.Priority, other.Priority)
	share(&own.PriorityClassName, other.PriorityClassName)
	share(&own.RestartPolicy, other.RestartPolicy)
	share(&p.Status.Phase, before.Status.Phase)
	share(&p.Status.AllocatedResources, before.Status.AllocatedResources)
	share(&p.Status.Resources, before.Status.Resources)
}

// shareNode lets nodes of one type share their capacities, and what they report.
func shareNode(c *common, n *corev1.Node) {
	shareMap(c, c.amounts, &n.Status.Capacity)
	shareMap(c, c.amounts, &n.Status.Allocatable)
	for i := range n.Status.Conditions {
		condition := &n.Status.Conditions[i]
		shareText(c, &condition.Type)
		shareText(c, &condition.Status)
		shareText(c, &condition.Reason)
		shareText(c, &condition.Message)
	}
	for i := range n.Status.Addresses {
		shareText(c, &n.Status.Addresses[i].Type)
	}
	info := &n.Status.NodeInfo
	for _, text := range []*string{
		&info.KernelVersion, &info.OSImage, &info.ContainerRuntimeVersion, &info.KubeletVersion, &info.OperatingSystem, &info.Architecture,
		&info.KubeProxyVersion, //nolint:staticcheck // it is sent nevertheless
	} {
		shareText(c, text)
	}
}

// shareSlice lets devices share the names of what they have, and capacities that are equal.
func shareSlice(c *common, s *resourcev1.ResourceSlice) {
	shareText(c, &s.Spec.Driver)
	for i := range s.Spec.Devices {
		device := &s.Spec.Devices[i]
		shareText(c, &device.Name)
		shareMap(c, c.capacities, &device.Capacity)
		for name, attribute := range device.Attributes {
			shareText(c, &name)
			attribute.StringValue = c.pointer(attribute.StringValue)
			attribute.VersionValue = c.pointer(attribute.VersionValue)
			device.Attributes[name] = attribute
		}
	}
}

// shareClaim lets claims share what they ask for, and where they can be used.
func shareClaim(claim, before *resourcev1.ResourceClaim) {
	share(&claim.Spec, before.Spec)
	if claim.Status.Allocation != nil && before.Status.Allocation != nil {
		share(&claim.Status.Allocation.NodeSelector, before.Status.Allocation.NodeSelector)
	}
}

// shareClaimNames lets claims share the names of what they have.
func shareClaimNames(c *common, claim *resourcev1.ResourceClaim) {
	for i := range claim.Status.ReservedFor {
		shareText(c, &claim.Status.ReservedFor[i].Resource)
	}
	allocation := claim.Status.Allocation
	if allocation == nil {
		return
	}
	for i := range allocation.Devices.Results {
		result := &allocation.Devices.Results[i]
		shareText(c, &result.Request)
		shareText(c, &result.Driver)
		shareText(c, &result.Pool)
		shareText(c, &result.Device)
	}
}

// shareCSINode lets CSI nodes share the names of drivers and of what they tell nodes apart by.
func shareCSINode(c *common, n *storagev1.CSINode) {
	for i := range n.Spec.Drivers {
		driver := &n.Spec.Drivers[i]
		shareText(c, &driver.Name)
		for j := range driver.TopologyKeys {
			shareText(c, &driver.TopologyKeys[j])
		}
	}
}
