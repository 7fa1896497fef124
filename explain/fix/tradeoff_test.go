package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// sizedDevice makes a device of "name size memory cores", which has one attribute and two capacities. A "*"
// before the name means that claims can share it.
func sizedDevice(text string) resourcev1.Device {
	words := strings.Fields(text)
	d := resourcev1.Device{
		Name:       strings.TrimPrefix(words[0], "*"),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: ptr.To(words[1])}},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(words[2])}},
	}
	if len(words) > 3 {
		d.Capacity["cores"] = resourcev1.DeviceCapacity{Value: resource.MustParse(words[3])}
	}
	if strings.HasPrefix(words[0], "*") {
		d.AllowMultipleAllocations = ptr.To(true)
	}
	return d
}

// sizedCluster has a node for each list of devices, separated by ";". A claim holds every device whose size
// is L, and there is a class for each size.
func sizedCluster(nodes ...string) *scheduler.Cluster {
	o := explaintest.NodesWithAttributes(make([]string, len(nodes))...)
	holder := explaintest.GPUClaim(1, "any")
	holder.Namespace, holder.Name = "default", "holder"
	holder.Status.Allocation = &resourcev1.AllocationResult{}
	for n, list := range nodes {
		spec := &o.Slices[n].Spec
		spec.Devices = nil
		for _, text := range strings.Split(list, ";") {
			d := sizedDevice(text)
			spec.Devices = append(spec.Devices, d)
			if *d.Attributes["size"].StringValue == "L" {
				holder.Status.Allocation.Devices.Results = append(holder.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
					Request: "gpu", Driver: spec.Driver, Pool: spec.Pool.Name, Device: d.Name,
				})
			}
		}
	}
	o.Claims = append(o.Claims, holder)
	for _, size := range []string{"L", "S"} {
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{
			ObjectMeta: metav1.ObjectMeta{Name: size},
			Spec:       resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(`device.driver == "gpu.example.com"`, explaintest.Attribute+`size == "`+size+`"`)},
		})
	}
	return explaintest.NewCluster(o)
}

// TestTradeoff checks that a fix with which the scheduler picks a smaller device says so, with the amounts.
func TestTradeoff(t *testing.T) {
	const accept, other = "accept size S instead of L", `ask for the device class S (size == S) instead of L`
	for _, tt := range []struct {
		name, class, nodes, want string // nodes are separated by "|"
	}{
		{"half of it", "", "a L 40Gi;b S 20Gi", accept + " (a device with memory 20Gi instead of 40Gi)"},
		{"another class", "L", "a L 40Gi;b S 20Gi", other + " (a device with memory 20Gi instead of 40Gi)"},
		{"several of which it would accept", "", "a L 40Gi;c L 80Gi;b S 20Gi", accept + " (a device with memory 20Gi instead of at least 40Gi)"},
		{"two capacities, the larger first", "", "a L 40Gi 98;b S 20Gi 14", accept + " (a device with memory 20Gi instead of 40Gi, cores 14 instead of 98)"},
		{"one that has less of only one", "", "a L 40Gi 98;b S 80Gi 14", accept + " (a device with cores 14 instead of 98)"},
		{"as large", "", "a L 40Gi;b S 40Gi", accept},
		{"larger", "", "a L 40Gi;b S 80Gi", accept},
		{"as small as one that it would accept", "", "a L 40Gi;c L 20Gi;b S 20Gi", accept},
		{"a capacity that not all have", "", "a L 40Gi 98;c L 40Gi;b S 40Gi 14", accept},
		{"none that it would accept", "", "b S 20Gi", accept},
		{"a shared one", "", "a L 40Gi;*b S 20Gi", accept},
		{"on two nodes", "", "a L 40Gi;b S 20Gi|a L 40Gi;b S 30Gi", accept + " (on n0 a device with memory 20Gi instead of 40Gi)"},
		{"compared with another node", "", "b S 20Gi|a L 40Gi", accept + " (a device with memory 20Gi instead of 40Gi)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := explaintest.GPUClaim(1, "any")
			if tt.class != "" {
				claim.Spec.Devices.Requests[0].Exactly.DeviceClassName = tt.class
			} else {
				claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(explaintest.Attribute + `size == "L"`)
			}
			e, err := question.ClaimObject(context.Background(), sizedCluster(strings.Split(tt.nodes, "|")...), claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var messages []string
			for _, f := range e.Fixes {
				messages = append(messages, f.Message)
			}
			if !slices.Contains(messages, tt.want) {
				t.Errorf("%s: %q\nwant %s", e.Message, messages, tt.want)
			}
		})
	}
}

// TestDevicesOfOtherNodes checks that a node is not said to have the devices of a slice that are for other
// nodes.
func TestDevicesOfOtherNodes(t *testing.T) {
	o := explaintest.NodesWithAttributes("-", "-")
	spec := &o.Slices[0].Spec
	spec.NodeName, spec.PerDeviceNodeSelection = nil, ptr.To(true)
	spec.Devices = []resourcev1.Device{sizedDevice("a S 20Gi"), sizedDevice("b S 20Gi"), sizedDevice("c M 30Gi")}
	for i, node := range []int{0, 1, 1} {
		spec.Devices[i].NodeName = ptr.To(explaintest.NodeName(node))
	}
	o.Slices = o.Slices[:1]
	claim := explaintest.GPUClaim(1, "any")
	claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(explaintest.Attribute + `size == "L"`)
	c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{
		inspect.GatePartitionableDevices: true,
	})}), scheduler.Options{})
	for node, want := range []string{"gpu wants size == L; devices here have S", "gpu wants size == L; devices here have S, M"} {
		e, err := question.ClaimObject(context.Background(), c, claim, question.Options{Node: inspect.NodeName(explaintest.NodeName(node))})
		if err != nil {
			t.Fatal(err)
		}
		if e.Conflict == nil || e.Conflict.Requirements[0].Sentence() != want {
			t.Errorf("%s: %+v, want %s", e.Message, e.Conflict, want)
		}
	}
}

// TestTradeoffNamedByFix checks that a capacity that the changed term is about is not named twice.
func TestTradeoffNamedByFix(t *testing.T) {
	claim := explaintest.GPUClaim(1, "any")
	claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(`device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`)
	e, err := question.ClaimObject(context.Background(), sizedCluster("a L 40Gi;b S 20Gi"), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Fixes) == 0 || !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == "accept memory 20Gi instead of 40Gi" }) {
		t.Errorf("%+v", e.Fixes)
	}
}
