//go:build kube138

package eviction

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// setSlices says where a tracker has slices from, which has a form of its own for them since 1.38.
func setSlices(options *tracker.Options, f informers.SharedInformerFactory) {
	slices := api.NewInformerForResourceSlice(f)
	options.SliceInformer, options.SliceLister = slices, api.NewResourceSliceLister(slices.GetIndexer())
}

// patched are the slices as the scheduler sees them.
func patched(slices *tracker.Tracker) (out []resourcev1.ResourceSlice, err error) {
	of, err := slices.ListPatchedResourceSlices()
	if err != nil {
		return nil, fmt.Errorf("listing slices: %w", err)
	}
	for _, slice := range of {
		one := resourcev1.ResourceSlice{ObjectMeta: slice.ObjectMeta}
		for i := range slice.Spec.Devices {
			one.Spec.Devices = append(one.Spec.Devices, resourcev1.Device{Name: slice.Spec.Devices[i].Name.String(), Taints: slice.Spec.Devices[i].Taints})
		}
		out = append(out, one)
	}
	return out, nil
}
