package output

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestUsedCapacity has a claim for each way to hold a device: whole, a share, and both from the time before
// and after the driver let claims share it.
func TestUsedCapacity(t *testing.T) {
	const yaml = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d.example.com
  allNodes: true
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: both, allowMultipleAllocations: true, capacity: {memory: {value: 10Gi}}}
  - {name: full, allowMultipleAllocations: true, capacity: {memory: {value: 10Gi}, slots: {value: "4"}}}
  - {name: share, allowMultipleAllocations: true, capacity: {memory: {value: 10Gi}}}
  - {name: unused, capacity: {memory: {value: 10Gi}}}
  - {name: whole, capacity: {memory: {value: 10Gi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: holder}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, count: 5}}]}}
status:
  allocation:
    devices:
      results:
      - {request: r, driver: d.example.com, pool: p, device: both}
      - {request: r, driver: d.example.com, pool: p, device: both, shareID: a0000000-0000-0000-0000-000000000000, consumedCapacity: {memory: 2Gi}}
      - {request: r, driver: d.example.com, pool: p, device: full, shareID: b0000000-0000-0000-0000-000000000000, consumedCapacity: {memory: 10Gi, slots: "1"}}
      - {request: r, driver: d.example.com, pool: p, device: share, shareID: c0000000-0000-0000-0000-000000000000, consumedCapacity: {memory: 2Gi}}
      - {request: r, driver: d.example.com, pool: p, device: whole}
      - {request: r, driver: d.example.com, pool: p, device: unused, adminAccess: true}
`
	result, err := manifest.ReadBytes("devices.yaml", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	got := map[string]string{}
	for _, item := range Devices(s).Items {
		d := item.(*Device)
		got[d.Device] = d.State + ": " + capacityText(d.Capacity)
	}
	want := map[string]string{
		"both":   "Allocated: memory 10Gi/10Gi",
		"full":   "Allocated: memory 10Gi/10Gi,slots 1/4",
		"share":  "Partial: memory 2Gi/10Gi",
		"unused": "Free: memory 0/10Gi", // admin access takes nothing
		"whole":  "Allocated: memory 10Gi/10Gi",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("used capacity (-want +got):\n" + diff)
	}
}
