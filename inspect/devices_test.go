package inspect_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// snapshotOf reads manifests into a snapshot with the default gates of a release and those given.
func snapshotOf(t *testing.T, text string, gates map[inspect.Gate]bool) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.ReadBytes("test.yaml", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: time.Unix(0, 0), Health: result.Health,
		Features: inspect.DefaultFeatures(inspect.NewestMinor).With(gates),
	})
}

// devicesYAML has one device for each way to be in each state.
const devicesYAML = `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-a}
spec:
  driver: d
  nodeName: n1
  pool: {name: plain, generation: 2, resourceSliceCount: 1}
  devices:
  - {name: free}
  - {name: held}
  - {name: held-tainted, taints: [{key: k, effect: NoSchedule}]}
  - {name: watched}
  - {name: tainted, taints: [{key: k, effect: NoExecute}]}
  - {name: noted, taints: [{key: k, effect: None}]}
  - {name: ruled}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-a-old}
spec:
  driver: d
  nodeName: n1
  pool: {name: plain, generation: 1, resourceSliceCount: 1}
  devices: [{name: free}, {name: gone}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-incomplete}
spec:
  driver: d
  nodeName: n1
  pool: {name: incomplete, generation: 1, resourceSliceCount: 2}
  devices: [{name: waiting}, {name: waiting-held}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-invalid}
spec:
  driver: d
  nodeName: n1
  pool: {name: invalid, generation: 1, resourceSliceCount: 1}
  devices: [{name: twice}, {name: twice}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: nowhere}
spec:
  driver: d
  nodeName: n2
  pool: {name: nowhere, generation: 1, resourceSliceCount: 1}
  devices: [{name: stranded}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: shared}
spec:
  driver: d
  allNodes: true
  pool: {name: shared, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: half, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi}}}
  - {name: full, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi}, bandwidth: {value: 10G}}}
  - {name: unused, allowMultipleAllocations: true, capacity: {memory: {value: 40Gi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: parts-counters}
spec:
  driver: d
  nodeName: n1
  pool: {name: parts, generation: 1, resourceSliceCount: 2}
  sharedCounters: [{name: gpu, counters: {memory: {value: 40Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: parts-devices}
spec:
  driver: d
  nodeName: n1
  pool: {name: parts, generation: 1, resourceSliceCount: 2}
  partitionTypeAttribute: d/type
  devices:
  - {name: whole, attributes: {type: {string: whole}}, consumesCounters: [{counterSet: gpu, counters: {memory: {value: 40Gi}}}]}
  - {name: quarter-0, attributes: {type: {string: quarter}}, consumesCounters: [{counterSet: gpu, counters: {memory: {value: 10Gi}}}]}
  - {name: quarter-1, attributes: {type: {string: quarter}}, consumesCounters: [{counterSet: gpu, counters: {memory: {value: 10Gi}}}]}
  - {name: half-0, attributes: {type: {string: half}}, consumesCounters: [{counterSet: gpu, counters: {memory: {value: 20Gi}}}]}
  - {name: half-1, attributes: {type: {string: half}}, consumesCounters: [{counterSet: gpu, counters: {memory: {value: 20Gi}}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: rule}
spec: {deviceSelector: {device: ruled}, taint: {key: r, effect: NoSchedule}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c1}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}
status:
  allocation:
    devices:
      results:
      - {request: r, driver: d, pool: plain, device: held}
      - {request: r, driver: d, pool: plain, device: held-tainted}
      - {request: r, driver: d, pool: plain, device: unpublished}
      - {request: r, driver: d, pool: plain, device: watched, adminAccess: true}
      - {request: r, driver: d, pool: incomplete, device: waiting-held}
      - {request: r, driver: d, pool: parts, device: quarter-0}
      - {request: r, driver: d, pool: shared, device: half, shareID: 11111111-1111-4111-8111-111111111111, consumedCapacity: {memory: 10Gi}}
      - {request: r, driver: d, pool: shared, device: full, shareID: 11111111-1111-4111-8111-111111111112, consumedCapacity: {memory: 30Gi, bandwidth: 1G}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c2}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}
status:
  allocation:
    devices:
      results:
      - {request: r, driver: d, pool: shared, device: full, shareID: 11111111-1111-4111-8111-111111111113, consumedCapacity: {memory: 10Gi, bandwidth: 1G}}
`

var typeGate = map[inspect.Gate]bool{inspect.GatePartitionableDevicesType: true}

func TestDeviceStates(t *testing.T) {
	got := map[string]inspect.DeviceState{}
	for _, d := range snapshotOf(t, devicesYAML, typeGate).Devices() {
		got[d.ID.Pool+"/"+d.ID.Device] = d.State
	}
	want := map[string]inspect.DeviceState{
		"plain/free":              inspect.DeviceFree,
		"plain/held":              inspect.DeviceAllocated,
		"plain/held-tainted":      inspect.DeviceAllocated,
		"plain/watched":           inspect.DeviceFree, // admin access takes nothing
		"plain/tainted":           inspect.DeviceTainted,
		"plain/noted":             inspect.DeviceFree, // the effect None keeps nobody off
		"plain/ruled":             inspect.DeviceTainted,
		"plain/gone":              inspect.DeviceUnreachable, // in an old generation only
		"incomplete/waiting":      inspect.DeviceUnreachable,
		"incomplete/waiting-held": inspect.DeviceAllocated,
		"invalid/twice":           inspect.DeviceUnreachable,
		"nowhere/stranded":        inspect.DeviceUnreachable,
		"shared/half":             inspect.DevicePartial,
		"shared/full":             inspect.DeviceAllocated, // memory is used up
		"shared/unused":           inspect.DeviceFree,
		"parts/quarter-0":         inspect.DeviceAllocated,
		"parts/quarter-1":         inspect.DeviceFree,
		"parts/half-0":            inspect.DeviceFree,    // 30Gi of the counter are left
		"parts/half-1":            inspect.DeviceFree,    // looked at alone
		"parts/whole":             inspect.DeviceBlocked, // a quarter of it is taken
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("states (-want +got):\n" + diff)
	}
}

func TestDeviceStatesFollowTheGates(t *testing.T) {
	off := snapshotOf(t, devicesYAML, map[inspect.Gate]bool{
		inspect.GateDeviceTaints: false, inspect.GateConsumableCapacity: false, inspect.GatePartitionableDevices: false,
	})
	states := map[string]inspect.DeviceState{}
	for _, d := range off.Devices() {
		states[d.ID.Pool+"/"+d.ID.Device] = d.State
	}
	want := map[string]inspect.DeviceState{
		"plain/tainted": inspect.DeviceFree,      // taints have no meaning
		"plain/ruled":   inspect.DeviceFree,      // nor have rules
		"shared/half":   inspect.DeviceAllocated, // a share is a device
		"parts/whole":   inspect.DeviceFree,      // counters are not counted
	}
	for name, state := range want {
		if states[name] != state {
			t.Errorf("%s is %s, want %s", name, states[name], state)
		}
	}
}

func TestDeviceDetails(t *testing.T) {
	devices := map[string]inspect.DeviceStatus{}
	for _, d := range snapshotOf(t, devicesYAML, typeGate).Devices() {
		devices[d.ID.Pool+"/"+d.ID.Device] = d
	}
	if generation := devices["plain/free"].Slice.Spec.Pool.Generation; generation != 2 {
		t.Errorf("plain/free comes from generation %d, want the newest, 2", generation)
	}
	used := devices["shared/full"].Used["memory"]
	if used.String() != "40Gi" {
		t.Errorf("shared/full has %s of memory used, want 40Gi", used.String())
	}
	notes := map[string]string{
		"plain/gone":         "generation 1 of the pool is obsolete, the newest is 2",
		"incomplete/waiting": "the pool has 1 of 2 slices",
		"invalid/twice":      "the pool is invalid: device twice is published twice",
		"nowhere/stranded":   "no node that exists can use it",
		"parts/whole":        "memory of gpu: too little left",
		"plain/free":         "",
	}
	for name, note := range notes {
		if got := devices[name].Note; got != note {
			t.Errorf("%s: note %q, want %q", name, got, note)
		}
	}
	if node := devices["shared/half"].Node; node != "" {
		t.Errorf("shared/half is on node %q, want none", node)
	}
	if node := devices["plain/free"].Node; node != "n1" {
		t.Errorf("plain/free is on node %q, want n1", node)
	}
}

func TestPoolStatuses(t *testing.T) {
	got := map[string]inspect.PoolStatus{}
	for _, p := range snapshotOf(t, devicesYAML, typeGate).PoolStatuses() {
		got[p.ID.Pool] = p
	}
	counts := map[string]*inspect.PoolCounts{
		// held, held-tainted and unpublished are allocated; held-tainted, tainted and ruled unavailable.
		"plain":      {Total: 7, Allocated: 3, Available: 1, Unavailable: 3},
		"incomplete": nil,
		// A ResourcePoolStatusRequest does not know of invalid pools; both entries count.
		"invalid": {Total: 2, Available: 2},
		"nowhere": {Total: 1, Available: 1},
		// full has two shares and counts once.
		"shared": {Total: 3, Allocated: 2, Available: 1},
		"parts":  {Total: 5, Allocated: 1, Available: 4},
	}
	for name, want := range counts {
		if diff := cmp.Diff(want, got[name].Counts); diff != "" {
			t.Errorf("counts of pool %s (-want +got):\n%s", name, diff)
		}
	}
	errors := map[string]string{
		"plain": "", "nowhere": "", "shared": "", "parts": "",
		"incomplete": "PoolIncomplete: generation 1 has 1 of 2 slices",
		"invalid":    "PoolInvalid: device twice is published twice",
	}
	for name, want := range errors {
		if got[name].Error != want {
			t.Errorf("pool %s: error %q, want %q", name, got[name].Error, want)
		}
	}
	if names := slices.Sorted(maps.Keys(got)); len(names) != len(counts) {
		t.Errorf("pools %v, want %d", names, len(counts))
	}
}

func TestPoolPartitions(t *testing.T) {
	for _, p := range snapshotOf(t, devicesYAML, typeGate).PoolStatuses() {
		switch p.ID.Pool {
		case "parts": // 30Gi are left
			want := []inspect.PartitionStatus{
				{Attribute: "d/type", Type: "half", Total: 2, Allocatable: 1},
				{Attribute: "d/type", Type: "quarter", Total: 2, Allocatable: 1},
				{Attribute: "d/type", Type: "whole", Total: 1, Allocatable: 0},
			}
			if diff := cmp.Diff(want, p.Partitions); diff != "" {
				t.Error("partitions (-want +got):\n" + diff)
			}
		case "shared":
			s := p.Shareable
			if s == nil || s.Unused != 1 || s.Used != 2 || len(s.Capacity) != 2 {
				t.Fatalf("shareable %+v, want 1 unused, 2 used, 2 capacities", s)
			}
			if memory := s.Capacity[1]; memory.Name != "memory" || memory.Total.String() != "120Gi" || memory.Consumed.String() != "50Gi" || memory.Available.String() != "70Gi" {
				t.Errorf("memory: %s of %s, %s left; want 50Gi of 120Gi, 70Gi left", memory.Consumed.String(), memory.Total.String(), memory.Available.String())
			}
		default:
			if p.Partitions != nil || p.Shareable != nil {
				t.Errorf("pool %s has partitions %v and shareable %v, want neither", p.ID, p.Partitions, p.Shareable)
			}
		}
	}
}

func TestNodeStatuses(t *testing.T) {
	got := snapshotOf(t, devicesYAML, typeGate).NodeStatuses()
	// Usable pools: plain (7 devices: held and held-tainted are used, tainted and ruled are tainted), shared
	// (3: half and full are used) and parts (5: quarter-0 is used, whole blocked). Tied to n1 besides: gone,
	// waiting and twice, which are unreachable, and waiting-held, which is used. Of the 30Gi that are left
	// the quarter takes 10Gi and one half 20Gi, so that of the seven that are free six can be had at once.
	count := inspect.DeviceCount{Total: 19, Used: 6, Blocked: 1, Tainted: 2, Unreachable: 3, Free: 7, AtOnce: 6}
	want := []inspect.NodeStatus{{Name: "n1", Devices: count, Drivers: map[string]inspect.DeviceCount{"d": count}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("nodes (-want +got):\n" + diff)
	}
}

func TestInventory(t *testing.T) {
	all := snapshotOf(t, devicesYAML, typeGate).Inventory()
	counts := map[string]inspect.DeviceCount{
		"plain":      {Total: 8, Used: 2, Tainted: 2, Unreachable: 1, Free: 3, Gone: 1, AtOnce: 3},
		"incomplete": {Total: 2, Used: 1, Unreachable: 1},
		"invalid":    {Total: 1, Unreachable: 1},
		"nowhere":    {Total: 1, Unreachable: 1},
		"shared":     {Total: 3, Used: 2, Free: 1, AtOnce: 1},
		"parts":      {Total: 5, Used: 1, Blocked: 1, Free: 3, AtOnce: 2},
	}
	for _, stock := range all.Stocks {
		p := &stock.Pool
		if diff := cmp.Diff(counts[p.ID.Pool], p.Devices); diff != "" {
			t.Errorf("devices of pool %s (-want +got):\n%s", p.ID, diff)
		}
	}
	parts := all.Pool(inspect.PoolID{Driver: "d", Pool: "parts"})
	if diff := cmp.Diff([]inspect.KindFit{{Kind: "half", Total: 2, Fits: 1}, {Kind: "quarter", Total: 2, Fits: 1}, {Kind: "whole", Total: 1}}, parts.Fits); diff != "" {
		t.Error("what fits (-want +got):\n" + diff)
	}
	driver := all.Drivers[0]
	whole := inspect.DeviceCount{Total: 15, Used: 5, Tainted: 2, Unreachable: 4, Free: 4, AtOnce: 4}
	if driver.Devices != (inspect.DeviceCount{Total: 20, Used: 6, Blocked: 1, Tainted: 2, Unreachable: 4, Free: 7, Gone: 1, AtOnce: 6}) || driver.Whole != whole || len(all.Drivers) != 1 {
		t.Errorf("drivers %+v", all.Drivers)
	}
	memory := driver.Scarcest()
	if memory == nil || memory.Counter != "memory" || memory.Left.String() != "30Gi" || memory.Total.String() != "40Gi" || memory.Used() != 0.25 {
		t.Errorf("counters %+v, want 30Gi left of 40Gi of memory", driver.Counters)
	}
	off := snapshotOf(t, devicesYAML, map[inspect.Gate]bool{inspect.GatePartitionableDevices: false}).Inventory()
	if p := off.Pool(parts.ID); p.Counters != nil || p.Fits != nil || p.Devices.AtOnce != p.Devices.Free {
		t.Errorf("counters that the scheduler does not count: %+v", p)
	}
}

// TestNewest: what older slices publish is not there for the scheduler, also if the newest slices of the pool
// have no devices.
func TestNewest(t *testing.T) {
	const slice = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec: {driver: d, nodeName: n1, pool: {name: %s, generation: %d, resourceSliceCount: 1}, devices: [%s]}\n---\n"
	s := snapshotOf(t, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n"+
		fmt.Sprintf(slice, "a", "emptied", 1, "{name: old}")+fmt.Sprintf(slice, "b", "emptied", 2, "")+
		fmt.Sprintf(slice, "c", "renewed", 1, "{name: gone}, {name: kept}")+fmt.Sprintf(slice, "d", "renewed", 2, "{name: kept}, {name: new}"), nil)
	var got []string
	for d := range s.Inventory().Newest() {
		got = append(got, fmt.Sprintf("%s %s", d.ID, d.Slice.Name))
	}
	if diff := cmp.Diff([]string{"d/renewed/kept d", "d/renewed/new d"}, got); diff != "" {
		t.Errorf("newest devices (-want +got):\n%s", diff)
	}
	node, _ := s.Node("n1")
	pools, err := s.PoolsOn(node)
	if err != nil {
		t.Fatal(err)
	}
	for _, pool := range pools {
		if pool.Generation != 2 {
			t.Errorf("the scheduler would use generation %d of pool %s", pool.Generation, pool.ID)
		}
	}
}

// TestKinds has drivers that name the kinds of their partitions in each of the ways that are known.
func TestKinds(t *testing.T) {
	const counters = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec: {driver: d, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 2}, sharedCounters: [
  {name: g, counters: {m: {value: "4"}, o: {value: "9"}}}, {name: h, counters: {m: {value: "4"}, o: {value: "9"}}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: devices}
spec:
  driver: d
  allNodes: true
  pool: {name: p, generation: 1, resourceSliceCount: 2}
`
	const cost = "consumesCounters: [{counterSet: %s, counters: {m: {value: \"%d\"}, o: {value: \"3\"}}}]"
	g1, h1, g4 := fmt.Sprintf(cost, "g", 1), fmt.Sprintf(cost, "h", 1), fmt.Sprintf(cost, "g", 4)
	for name, test := range map[string]struct {
		devices string
		want    []inspect.KindFit
	}{
		"by an attribute with a usual name": {
			"  devices:\n  - {name: a, attributes: {d/a: {string: x}, d/profile: {string: small}}, " + g1 + "}\n  - {name: b, attributes: {d/a: {string: z}, d/profile: {string: big}}, " + g4 + "}\n  - {name: c, attributes: {d/a: {string: x}, d/profile: {string: small}}, " + h1 + "}",
			[]inspect.KindFit{{Kind: "big", Total: 1, Fits: 1}, {Kind: "small", Total: 2, Fits: 2}},
		},
		"by what the driver declares": {
			"  partitionTypeAttribute: d/a\n  devices:\n  - {name: a, attributes: {a: {string: x}, profile: {string: small}}, " + g1 + "}\n  - {name: b, attributes: {a: {string: z}, profile: {string: big}}, " + g4 + "}",
			[]inspect.KindFit{{Kind: "x", Total: 1, Fits: 1}, {Kind: "z", Total: 1, Fits: 1}},
		},
		"by what they take, where the attribute does not tell": {
			"  devices:\n  - {name: a, attributes: {profile: {string: same}}, " + g1 + "}\n  - {name: b, attributes: {profile: {string: same}}, " + g4 + "}",
			[]inspect.KindFit{{Kind: "m 1, o 3", Total: 1, Fits: 1}, {Kind: "m 4, o 3", Total: 1, Fits: 1}},
		},
		"none": {"  devices: [{name: a}]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pools := snapshotOf(t, counters+test.devices, typeGate).PoolStatuses()
			if diff := cmp.Diff(test.want, pools[0].Fits); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}

func TestPartitionProblems(t *testing.T) {
	const slices = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec: {driver: d, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 2}, sharedCounters: [{name: g, counters: {m: {value: "4"}}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: devices}
spec:
  driver: d
  allNodes: true
  pool: {name: p, generation: 1, resourceSliceCount: 2}
  partitionTypeAttribute: d/type
  devices:
`
	const a = `  - {name: a, attributes: {type: {string: x}}, consumesCounters: [{counterSet: g, counters: {m: {value: "1"}}}]}` + "\n"
	tests := map[string]struct{ devices, want string }{
		"a device without a type":        {a + `  - {name: b, consumesCounters: [{counterSet: g, counters: {m: {value: "1"}}}]}`, "PartitionTypeMissing: device b has no string attribute d/type"},
		"a type that is not a string":    {a + `  - {name: b, attributes: {type: {int: 1}}, consumesCounters: [{counterSet: g, counters: {m: {value: "1"}}}]}`, "PartitionTypeMissing: device b has no string attribute d/type"},
		"one type at two costs":          {a + `  - {name: b, attributes: {type: {string: x}}, consumesCounters: [{counterSet: g, counters: {m: {value: "2"}}}]}`, `PartitionCostMismatch: devices of type "x" consume different counters`},
		"a device that is no partition":  {a + `  - {name: b}`, ""},
		"the full name of the attribute": {a + `  - {name: b, attributes: {d/type: {string: x}}, consumesCounters: [{counterSet: g, counters: {m: {value: "1"}}}]}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pools := snapshotOf(t, slices+test.devices, typeGate).PoolStatuses()
			if len(pools) != 1 || pools[0].Error != test.want {
				t.Errorf("pools %+v, want one with the error %q", pools, test.want)
			}
			if pools[0].Counts == nil || pools[0].Counts.Total != 2 {
				t.Errorf("counts %+v, want a total of 2 whatever the partitions", pools[0].Counts)
			}
		})
	}
}

func TestDevicesWithoutNodes(t *testing.T) {
	const selecting = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices: [{name: x}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: t}
spec:
  driver: d
  nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
  pool: {name: q, generation: 1, resourceSliceCount: 2}
  devices: [{name: x}]
`
	const node = `
---
apiVersion: v1
kind: Node
metadata: {name: n1}
`
	tests := map[string]struct {
		text string
		want []inspect.DeviceState
	}{
		"nobody knows which nodes there are": {selecting, []inspect.DeviceState{inspect.DeviceFree, inspect.DeviceUnreachable}},
		"no node has the label":              {selecting + node, []inspect.DeviceState{inspect.DeviceUnreachable, inspect.DeviceUnreachable}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []inspect.DeviceState
			for _, d := range snapshotOf(t, test.text, nil).Devices() {
				got = append(got, d.State)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("states (-want +got):\n" + diff)
			}
		})
	}
}
