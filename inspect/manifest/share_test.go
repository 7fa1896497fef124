package manifest

import (
	"reflect"
	"testing"
)

const shareable = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {model: {string: A}, uuid: {string: "1"}}, capacity: {memory: {value: 80Gi}}}
  - {name: b, attributes: {model: {string: A}, uuid: {string: "2"}}, capacity: {memory: {value: 80Gi}}}
  - {name: c, attributes: {model: {string: A}, uuid: {string: "2"}}, capacity: {memory: {value: 40Gi}}}
  - {name: e, attributes: {list: {strings: [x]}}, capacity: {memory: {value: 40960Mi}, other: {value: 1}}}
  - {name: f, attributes: {list: {strings: [x]}}, capacity: {memory: {value: 40Gi, requestPolicy: {default: 1Gi}}}}
  - {name: g, attributes: {model: {int: 1}}, capacity: {memory: {value: 40Gi, requestPolicy: {default: 1Gi}}}}
  - {name: h, attributes: {model: {string: "1"}}}
`

// TestShareMaps: devices share what is equal, and are otherwise as they were given.
func TestShareMaps(t *testing.T) {
	result, err := ReadBytes("x", []byte(shareable), Options{})
	if err != nil {
		t.Fatal(err)
	}
	devices := result.Objects.Slices[0].Spec.Devices
	sameMap := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	for i, want := range []struct{ capacity, attributes bool }{{}, {capacity: true}, {attributes: true}, {}, {}, {}, {}} {
		if i == 0 {
			continue
		}
		if got := sameMap(devices[i].Capacity, devices[i-1].Capacity); got != want.capacity {
			t.Errorf("device %s shares its capacities: %t", devices[i].Name, got)
		}
		if got := sameMap(devices[i].Attributes, devices[i-1].Attributes); got != want.attributes {
			t.Errorf("device %s shares its attributes: %t", devices[i].Name, got)
		}
	}
	for i, want := range []string{"80Gi", "80Gi", "40Gi", "40Gi", "40Gi", "40Gi"} {
		q := devices[i].Capacity["memory"].Value
		if q.String() != want {
			t.Errorf("device %s has %s of memory, want %s", devices[i].Name, q.String(), want)
		}
	}
	if v := devices[0].Attributes["uuid"].StringValue; *v != "1" {
		t.Errorf("uuid %s", *v)
	}
	if devices[6].Attributes["model"].StringValue == nil || devices[5].Attributes["model"].IntValue == nil {
		t.Error("a string and a number are taken for equal")
	}
}
