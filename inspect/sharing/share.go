package sharing

import (
	"hash/maphash"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Share lets an object share memory with those that were given before. It must have been decoded just now:
// what it has been given is not its own to write to, and what it had is written to.
func (c *Common) Share(o metav1.Object) {
	if of, ok := o.(metav1.ObjectMetaAccessor); ok {
		shareMeta(c, of.GetObjectMeta().(*metav1.ObjectMeta)) //nolint:forcetypeassert // it is that of every API type
	}
	switch o := o.(type) {
	case *corev1.Pod:
		sharePodNames(c, o)
	case *corev1.Node:
		shareNode(c, o)
	case *resourcev1.ResourceSlice:
		shareSlice(c, o)
	case *resourcev1.ResourceClaim:
		shareClaimNames(c, o)
	case *storagev1.CSINode:
		shareCSINode(c, o)
	}
	if c.before != nil {
		Alike(o, c.before)
	}
	c.before = o
}

// Alike lets an object share memory with another one that is likely to be much like it, to which nothing is
// written.
func Alike(o, other metav1.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		if other, ok := other.(*corev1.Pod); ok {
			sharePod(o, other)
		}
	case *resourcev1.ResourceClaim:
		if other, ok := other.(*resourcev1.ResourceClaim); ok {
			shareClaim(o, other)
		}
	}
}

// share replaces a value by another one that is equal in every bit, and in memory already.
func share[T any](value *T, by T) {
	if reflect.DeepEqual(*value, by) {
		*value = by
	}
}

// sharePodNames lets pods share the names of nodes and schedulers.
func sharePodNames(c *Common, p *corev1.Pod) {
	shareText(c, &p.Spec.NodeName)
	shareText(c, &p.Spec.SchedulerName)
}

// sharePod lets a pod share with another what both have: pods of one controller come one after the other and
// differ in little.
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
func shareNode(c *Common, n *corev1.Node) {
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

// shareSlice lets devices share the names of what they have, and attributes and capacities that are equal.
func shareSlice(c *Common, s *resourcev1.ResourceSlice) {
	shareText(c, &s.Spec.Driver)
	for i := range s.Spec.Devices {
		device := &s.Spec.Devices[i]
		shareText(c, &device.Name)
		shareMap(c, c.capacities, &device.Capacity)
		shareAttributes(c, &device.Attributes)
	}
}

// shareAttributes lets a device have the attributes of another one if they are equal, as they are on nodes of
// one type unless the driver names each device in them; otherwise they share their texts.
func shareAttributes(c *Common, m *map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) {
	if len(*m) == 0 {
		return
	}
	var hash uint64
	for name, attribute := range *m { // in any order
		hash += maphash.Comparable(c.seed, struct {
			name          resourcev1.QualifiedName
			text, version string
			number        int64
			yes           bool
		}{
			name, ptr.Deref(attribute.StringValue, ""), ptr.Deref(attribute.VersionValue, ""),
			ptr.Deref(attribute.IntValue, 0), ptr.Deref(attribute.BoolValue, false),
		})
	}
	if other, ok := c.attributes[hash]; ok && maps.EqualFunc(other, *m, sameAttribute) {
		*m = other
		return
	}
	for name, attribute := range *m {
		shareText(c, &name)
		attribute.StringValue = c.pointer(attribute.StringValue)
		attribute.VersionValue = c.pointer(attribute.VersionValue)
		(*m)[name] = attribute
	}
	if len(c.attributes) >= mostMaps {
		clear(c.attributes)
	}
	c.attributes[hash] = *m
}

// sameAttribute compares single values; lists count as different.
func sameAttribute(a, b resourcev1.DeviceAttribute) bool {
	return ptr.Equal(a.StringValue, b.StringValue) && ptr.Equal(a.VersionValue, b.VersionValue) &&
		ptr.Equal(a.IntValue, b.IntValue) && ptr.Equal(a.BoolValue, b.BoolValue) && !hasLists(a) && !hasLists(b)
}

func hasLists(a resourcev1.DeviceAttribute) bool {
	return a.StringValues != nil || a.VersionValues != nil || a.IntValues != nil || a.BoolValues != nil
}

// shareClaim lets claims share what they ask for, and where they can be used.
func shareClaim(claim, before *resourcev1.ResourceClaim) {
	share(&claim.Spec, before.Spec)
	if claim.Status.Allocation != nil && before.Status.Allocation != nil {
		share(&claim.Status.Allocation.NodeSelector, before.Status.Allocation.NodeSelector)
	}
}

// shareClaimNames lets claims share the names of what they have.
func shareClaimNames(c *Common, claim *resourcev1.ResourceClaim) {
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
func shareCSINode(c *Common, n *storagev1.CSINode) {
	for i := range n.Spec.Drivers {
		driver := &n.Spec.Drivers[i]
		shareText(c, &driver.Name)
		for j := range driver.TopologyKeys {
			shareText(c, &driver.TopologyKeys[j])
		}
	}
}
