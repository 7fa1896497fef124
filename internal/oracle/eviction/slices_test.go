//go:build !kube138

package eviction

import (
	"encoding/json"
	"fmt"
	"reflect"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// setSlices says where a tracker has slices from.
func setSlices(options *tracker.Options, f informers.SharedInformerFactory) {
	reflect.ValueOf(options).Elem().FieldByName("SliceInformer").Set(informer(f, "v1", "ResourceSlices"))
}

// patched are the slices as the scheduler sees them, which have the version that the release reads.
func patched(slices *tracker.Tracker) (out []resourcev1.ResourceSlice, err error) {
	of, err := slices.ListPatchedResourceSlices()
	if err != nil {
		return nil, fmt.Errorf("listing slices: %w", err)
	}
	data, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err //nolint:wrapcheck // it says what is wrong
}
