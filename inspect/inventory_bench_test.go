package inspect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// moments are two snapshots of so many nodes with eight devices each, of which one follows from the other: claims came and
// went on every tenth node.
func moments(nodes int) (before, after *inspect.Snapshot) {
	var o inspect.Objects
	claim := func(node string, device int) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(node, "-", device)}}
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Driver: "gpu", Pool: node, Device: fmt.Sprintf("gpu-%d", device)}}}}
		return c
	}
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu", NodeName: &name, Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: 1}}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", d)})
		}
		o.Slices = append(o.Slices, slice)
		o.Claims = append(o.Claims, claim(name, 0), claim(name, 1))
	}
	before = inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	next := *before.Objects()
	next.Claims = slices.Clone(next.Claims)
	for i := 0; i < len(next.Claims); i += 20 {
		next.Claims[i] = claim(next.Claims[i].Name[:10], 3)
	}
	return before, before.Next(next, inspect.Config{Features: before.Features()})
}

// BenchmarkInventoryAfter is an Inventory that follows from another, and times-cheaper how much longer one takes that is made
// from nothing.
func BenchmarkInventoryAfter(b *testing.B) {
	before, after := moments(5000)
	inventory := before.Inventory()
	after.Inventory() // pools are remembered from here on
	var fresh, shared time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		after.Inventory()
		mid := time.Now()
		after.InventoryAfter(inventory)
		fresh, shared = fresh+mid.Sub(start), shared+time.Since(mid)
	}
	b.ReportMetric(shared.Seconds()*1000/float64(b.N), "ms/after")
	b.ReportMetric(fresh.Seconds()/shared.Seconds(), "times-cheaper")
}
