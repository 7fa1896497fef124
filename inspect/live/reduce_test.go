package live

import (
	"reflect"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestReduceSliceSharesEqualCapacities(t *testing.T) {
	memory := func(amount string, policy *resourcev1.CapacityRequestPolicy) map[resourcev1.QualifiedName]resourcev1.DeviceCapacity {
		return map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(amount), RequestPolicy: policy}}
	}
	slice := &resourcev1.ResourceSlice{}
	for _, capacity := range []map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		memory("40Gi", nil), memory("40Gi", nil), memory("80Gi", nil), memory("80Gi", &resourcev1.CapacityRequestPolicy{}), nil,
	} {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Capacity: capacity})
	}
	before := slice.DeepCopy()
	reduceSlice(slice)
	if !reflect.DeepEqual(slice, before) {
		t.Errorf("the slice reads differently:\n%v\n%v", slice, before)
	}
	at := func(i int) uintptr { return reflect.ValueOf(slice.Spec.Devices[i].Capacity).Pointer() }
	if at(0) != at(1) {
		t.Error("equal capacities are not shared")
	}
	if at(1) == at(2) || at(2) == at(3) {
		t.Error("different capacities are shared")
	}
}
