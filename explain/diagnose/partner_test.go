package diagnose_test

import (
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// parseDevice makes a device of "name key=value ...". A key is an attribute, but for two: "slot" is the
// amount of the counters of the set "board" that the device takes, and "share" the memory of a device that
// can be shared.
func parseDevice(text string) resourcev1.Device {
	name, rest, _ := strings.Cut(text, " ")
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	for _, word := range strings.Fields(rest) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "slot":
			d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "board", Counters: map[string]resourcev1.Counter{
				"slots": {Value: resource.MustParse(value)}, "power": {Value: resource.MustParse(value)},
			}}}
		case "share":
			d.AllowMultipleAllocations = ptr.To(true)
			d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(value)}}
		default:
			d.Attributes[resourcev1.QualifiedName(key)] = resourcev1.DeviceAttribute{StringValue: ptr.To(value)}
		}
	}
	return d
}

// singleNode is a cluster of one node with the devices. If power is not "", a second slice has the counters
// of the set "board": 10 slots, and that power.
func singleNode(power string, devices ...string) *scheduler.Cluster {
	o := explaintest.NodesWithAttributes("-")
	o.Slices[0].Spec.Devices = nil
	for _, d := range devices {
		o.Slices[0].Spec.Devices = append(o.Slices[0].Spec.Devices, parseDevice(d))
	}
	if power != "" {
		o.Slices[0].Spec.Pool.ResourceSliceCount = 2
		counters := o.Slices[0].DeepCopy()
		counters.Name, counters.Spec.Devices = "counters", nil
		counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "board", Counters: map[string]resourcev1.Counter{
			"slots": {Value: resource.MustParse("10")}, "power": {Value: resource.MustParse(power)},
		}}}
		o.Slices = append(o.Slices, counters)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{
		inspect.GatePartitionableDevices: true, inspect.GateConsumableCapacity: true,
	})
	return scheduler.NewCluster(inspect.New(o, inspect.Config{Features: features}), scheduler.Options{})
}

// TestPartnerAndObstacle checks that a request that fits by itself names the request with which it does not
// fit together, if it is one, and what devices are refused for, if that is one thing.
func TestPartnerAndObstacle(t *testing.T) {
	match := func(name string) resourcev1.DeviceConstraint {
		return resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(explaintest.Driver + "/" + name))}
	}
	distinct := resourcev1.DeviceConstraint{DistinctAttribute: ptr.To(resourcev1.FullyQualifiedName(explaintest.Driver + "/d"))}
	for _, tt := range []struct {
		name        string
		power       string
		devices     string // separated by ";"
		requests    string // each "name=kind", for devices whose attribute k is the kind
		constraints []resourcev1.DeviceConstraint
		share       string
		want        string
	}{
		{"a constraint", "", "x k=a r=1;y k=b r=2", "p=a q=b", []resourcev1.DeviceConstraint{match("r")}, "",
			"q: fits by itself, but not together with p on the same gpu.example.com/r"},
		{"values that must differ", "", "x k=a d=1;y k=b d=1", "p=a q=b", []resourcev1.DeviceConstraint{distinct}, "",
			"q: fits by itself, but not together with p on a different gpu.example.com/d"},
		{"two constraints, the first of which is asked", "", "x k=a r=1 s=1;y k=b r=2 s=2", "p=a q=b", []resourcev1.DeviceConstraint{match("r"), match("s")}, "",
			"q: fits by itself, but not together with p on the same gpu.example.com/r"},
		{"the only device", "", "x k=a", "p=a q=a", nil, "",
			"q: fits by itself, but not together with p"},
		{"too few devices for three", "", "x k=a;y k=a", "p=a q=a r=a", nil, "",
			"r: fits by itself, but not together with the requests before it"},
		{"one counter", "5", "x k=a slot=3;y k=b slot=3", "p=a q=b", nil, "",
			"q: fits by itself, but not together with p: the counters of set board run out"},
		{"two counters", "12", "x k=a slot=6;y k=b slot=6", "p=a q=b", nil, "",
			"q: fits by itself, but not together with p: the counters of set board run out"},
		{"several counters", "10", "x k=a slot=6;y k=b slot=6", "p=a q=b", nil, "",
			"q: fits by itself, but not together with p: the counters of set board run out"},
		{"a capacity", "", "x k=a share=10", "p=a q=a", nil, "6",
			"q: fits by itself, but not together with p: there is not enough of memory left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := explaintest.GPUClaim(1, "any", tt.constraints...)
			claim.Spec.Devices.Requests = nil
			for _, r := range strings.Fields(tt.requests) {
				name, kind, _ := strings.Cut(r, "=")
				exactly := &resourcev1.ExactDeviceRequest{
					DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
					Selectors: explaintest.CELSelectors(explaintest.Attribute + `k == "` + kind + `"`),
				}
				if tt.share != "" {
					exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(tt.share)}}
				}
				claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: name, Exactly: exactly})
			}
			e, err := question.ClaimObject(context.Background(), singleNode(tt.power, strings.Split(tt.devices, ";")...), claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Unsatisfiable || len(e.Groups) != 1 || len(e.Groups[0].Reasons) == 0 {
				t.Fatalf("%s: %+v", e.Message, e.Groups)
			}
			r := e.Groups[0].Reasons[0]
			if got := r.Request + ": " + r.Message; got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}
