package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// someDevices are two GPUs, one of them without NVLink, and a NIC.
func someDevices() []Subject {
	str := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	gpu := func(name, model string) Subject {
		return Subject{"gpu.example.com", &resourcev1.Device{
			Name: name,
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": str(model), "driverVersion": {VersionValue: ptr.To("550.1.0")}, "index": {IntValue: ptr.To(int64(1))},
				"nics": {StringValues: []string{"a", "b"}}, "mig": {BoolValue: ptr.To(true)}, "resource.kubernetes.io/pcieRoot": str("pci0000:01"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		}}
	}
	linked := gpu("gpu-0", "A100")
	linked.Device.Attributes["nvlink"] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(4))}
	nic := Subject{"nic.example.com", &resourcev1.Device{Name: "nic-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"speed": {IntValue: ptr.To(int64(100))}, "resource.kubernetes.io/pcieRoot": str("pci0000:01"),
	}}}
	return []Subject{linked, gpu("gpu-1", "H100"), nic}
}

// What is said follows from the devices above by reading.
func TestFindings(t *testing.T) {
	b := New(selector.NewCache(selector.Features{}), someDevices())
	for expression, want := range map[string][]string{
		`device.driver == "gpu.example.com"`: nil,
		`device.driver = "x"`: {
			"error DoesNotCompile 1:15 CEL does not accept this: Syntax error: token recognition error at: '= '.",
		},
		`google.protobuf.Any{}`: {
			"error DoesNotCompile 0:0 CEL does not accept this: must evaluate to bool or the unknown type, not google.protobuf.Any.",
			"error SchedulerRefuses 0:0 The API server accepts this in a new object, but the scheduler cannot compile it: " +
				"every claim that uses it stays pending.",
		},
		`device.allowMultipleAllocations`: {
			"warning ServerRefuses 1:7 The scheduler can use this, but the API server refuses it in a new object: undefined field " +
				"'allowMultipleAllocations'. It would take it with the feature gate DRAConsumableCapacity on.",
			"warning MatchesNothing 0:0 It matches no device.",
		},
		`device.attributes["gpu.example.com"].nvlonk >= 4`: {
			`error MissingKey 0:0 It fails on 3 devices, as device "gpu-0" of gpu.example.com: no such key: nvlonk. ` +
				`One failure makes the scheduler give up the whole claim. No device has device.attributes["gpu.example.com"].nvlonk.`,
		},
		`device.attributes["gpu.example.com"].nvlink >= 4`: {
			`error MissingKey 0:0 It fails on 2 devices, as device "gpu-1" of gpu.example.com: no such key: nvlink. ` +
				`One failure makes the scheduler give up the whole claim.`,
		},
		`device.attributes["gpu.example.com"].index > "0"`: {
			`error RuntimeError 0:0 It fails on 2 devices, as device "gpu-0" of gpu.example.com: no such overload. ` +
				`One failure makes the scheduler give up the whole claim.`,
			`error MissingKey 0:0 It fails on 1 device, as device "nic-0" of nic.example.com: no such key: index. ` +
				`One failure makes the scheduler give up the whole claim.`,
		},
		`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100" && device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi"))`: {
			`warning MatchesNothing 0:0 It matches no device. The nearest is "gpu-1" of gpu.example.com. It misses: ` +
				`device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi")) (memory is 80Gi).`,
		},
	} {
		trial, err := b.Try(t.Context(), expression)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range b.Findings(trial) {
			got = append(got, fmt.Sprintf("%s %s %d:%d %s", f.Severity, f.Code, f.Line, f.Column, f.Message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", expression, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestInventory(t *testing.T) {
	inv := New(selector.NewCache(selector.Features{}), someDevices()).Inventory()
	if got, want := inv.Domains("attributes"), []string{"gpu.example.com", "nic.example.com", "resource.kubernetes.io"}; !slices.Equal(got, want) {
		t.Errorf("domains %v, want %v", got, want)
	}
	model := inv.Field(selector.Field{Kind: "attributes", Domain: "gpu.example.com", Name: "model"})
	if model == nil || model.Devices != 2 || model.Type != "string" || !slices.Equal(model.Common(5), []string{`"A100"`, `"H100"`}) {
		t.Errorf("model: %+v", model)
	}
	if root := inv.Field(selector.Field{Kind: "attributes", Domain: "resource.kubernetes.io", Name: "pcieRoot"}); root == nil || root.Devices != 3 {
		t.Errorf("pcieRoot: %+v", root)
	}
	if got := (selector.Field{Kind: "attributes", Domain: "d", Name: "a-b"}).Expression(); got != `device.attributes["d"]["a-b"]` {
		t.Errorf("expression %s", got)
	}
}
