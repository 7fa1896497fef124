package manifest

import (
	"maps"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Most of the memory of a large cluster goes into the maps of devices: a map has room for eight entries
// from the first one on, of 144 bytes each for attributes. Devices of one slice mostly have the same
// capacities, and often the same attributes, so equal maps of neighbours become one. Nobody may write to
// the objects of a Snapshot; whoever wants to change an object takes a deep copy, which has maps of its
// own.

// shareMaps makes devices that follow each other in a slice share the maps in which they are equal.
func shareMaps(object metav1.Object) {
	slice, ok := object.(*resourcev1.ResourceSlice)
	if !ok {
		return
	}
	devices := slice.Spec.Devices
	for i := 1; i < len(devices); i++ {
		before, device := &devices[i-1], &devices[i]
		if device.Capacity != nil && before.Capacity != nil && maps.EqualFunc(before.Capacity, device.Capacity, sameCapacity) {
			device.Capacity = before.Capacity
		}
		if device.Attributes != nil && before.Attributes != nil && maps.EqualFunc(before.Attributes, device.Attributes, sameAttribute) {
			device.Attributes = before.Attributes
		}
	}
}

// sameCapacity compares the values as they are written; those with a policy count as different.
func sameCapacity(a, b resourcev1.DeviceCapacity) bool {
	return a.Value == b.Value && a.RequestPolicy == nil && b.RequestPolicy == nil
}

// sameAttribute compares single values; lists count as different.
func sameAttribute(a, b resourcev1.DeviceAttribute) bool {
	lists := func(a *resourcev1.DeviceAttribute) bool {
		return a.StringValues != nil || a.IntValues != nil || a.BoolValues != nil || a.VersionValues != nil
	}
	return same(a.StringValue, b.StringValue) && same(a.IntValue, b.IntValue) && same(a.BoolValue, b.BoolValue) &&
		same(a.VersionValue, b.VersionValue) && !lists(&a) && !lists(&b)
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
