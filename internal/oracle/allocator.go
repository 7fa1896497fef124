package main

import (
	"context"
	"fmt"
	"path"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	draapi "k8s.io/dynamic-resource-allocation/api"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// What differs between releases is reached by name, so that one source does for all of them: fields that
// a release does not have are left alone.

// features are set as the scheduler's plugin of the release does (AllocatorFeatures in
// pkg/scheduler/framework/plugins/dynamicresources).
func (p *Problem) features() structured.Features {
	var f structured.Features
	both := p.Gates["DRADeviceBindingConditions"] && p.Gates["DRAResourceClaimDeviceStatus"]
	set(&f, map[string]bool{
		"AdminAccess":             p.Gates["DRAAdminAccess"],
		"CompatibilityGroups":     p.Gates["DRADeviceCompatibilityGroups"],
		"ConsumableCapacity":      p.Gates["DRAConsumableCapacity"],
		"DerivedAttributes":       p.Gates["DRADerivedAttributes"],
		"DeviceBinding":           p.Gates["DRADeviceBindingConditions"],   // 1.34
		"DeviceStatus":            p.Gates["DRAResourceClaimDeviceStatus"], // 1.34
		"DeviceBindingAndStatus":  both,
		"DeviceTaints":            p.Gates["DRADeviceTaints"],
		"FractionalCapacityRange": p.Gates["DRAFractionalCapacityRange"],
		"OptionalNodeOperations":  p.Gates["DRAOptionalNodeOperations"],
		"PartitionableDevices":    p.Gates["DRAPartitionableDevices"],
		"PrioritizedList":         p.Gates["DRAPrioritizedList"],
		// Since 1.37. The plugin of 1.36 does not tell its allocator of DRAListTypeAttributes.
		"ListTypeAttributes": p.Gates["DRAListTypeAttributes"] && hasField(f, "FractionalCapacityRange"),
	})
	return f
}

func set(target any, fields map[string]bool) {
	v := reflect.ValueOf(target).Elem()
	for name, value := range fields {
		if field := v.FieldByName(name); field.IsValid() {
			field.SetBool(value)
		}
	}
}

func hasField(v any, name string) bool { return reflect.ValueOf(v).FieldByName(name).IsValid() }

// caches keeps compiled expressions, one cache for each set of CEL features.
var caches = map[cel.Features]*cel.Cache{}

func (p *Problem) expressions() *cel.Cache {
	var f cel.Features
	set(&f, map[string]bool{
		"EnableConsumableCapacity": p.Gates["DRAConsumableCapacity"],
		"EnableListTypeAttributes": p.Gates["DRAListTypeAttributes"],
	})
	if caches[f] == nil {
		caches[f] = cel.NewCache(200, f)
	}
	return caches[f]
}

// state is what the scheduler's plugin keeps of allocated claims (foreachAllocatedDevice).
func (p *Problem) state() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:   sets.New[structured.DeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection(),
	}
	shared := reflect.ValueOf(&state.AllocatedSharedDeviceIDs).Elem()
	shared.Set(reflect.MakeMap(shared.Type()))
	for _, claim := range p.Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess != nil && *result.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			if !p.Gates["DRAConsumableCapacity"] || result.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			key := reflect.ValueOf(structured.MakeSharedDeviceID(id, result.ShareID))
			if shared.Type().Key() == reflect.TypeFor[structured.DeviceID]() { // since 1.38
				key = reflect.ValueOf(id)
			}
			shared.SetMapIndex(key, reflect.ValueOf(sets.Empty{}))
			if result.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
			}
		}
	}
	return state
}

// converted are slices in the form in which NewAllocator takes them: since 1.38 it is one of its own.
func converted(published []*resourcev1.ResourceSlice, form reflect.Type) (reflect.Value, error) {
	list := reflect.ValueOf(published)
	if list.Type() == form {
		return list, nil
	}
	var out []*draapi.ResourceSlice
	for _, slice := range published {
		own := &draapi.ResourceSlice{}
		if err := draapi.Convert_v1_ResourceSlice_To_api_ResourceSlice(slice, own, nil); err != nil {
			return list, fmt.Errorf("converting a slice: %w", err)
		}
		out = append(out, own)
	}
	return reflect.ValueOf(out), nil
}

// newAllocator calls structured.NewAllocator.
func newAllocator(ctx context.Context, p *Problem, published []*resourcev1.ResourceSlice) (structured.Allocator, error) {
	function := reflect.ValueOf(structured.NewAllocator)
	list, err := converted(published, function.Type().In(4))
	if err != nil {
		return nil, err
	}
	results := function.Call([]reflect.Value{
		reflect.ValueOf(ctx), reflect.ValueOf(p.features()), reflect.ValueOf(p.state()), reflect.ValueOf(classLister(p.Classes)), list, reflect.ValueOf(p.expressions()),
	})
	if err, failed := results[1].Interface().(error); failed {
		return nil, err
	}
	return results[0].Interface().(structured.Allocator), nil
}

// classLister serves the classes of a problem.
type classLister []*resourcev1.DeviceClass

func (l classLister) List() ([]*resourcev1.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclasses"}, name)
}

// budget is a context that expires when it has been asked a number of times, once for each step.
type budget struct {
	context.Context
	left *int
}

func (b budget) Err() error {
	if *b.left <= 0 {
		return context.DeadlineExceeded
	}
	*b.left--
	return nil
}

// ask decides about one node.
func (p *Problem) ask(node *corev1.Node, published []*resourcev1.ResourceSlice) (a Answer, err error) {
	left := p.Steps
	ctx := budget{context.Background(), &left}
	allocator, err := newAllocator(ctx, p, published)
	if err != nil {
		return Answer{}, fmt.Errorf("making the allocator: %w", err)
	}
	left = p.Steps
	defer func() {
		if r := recover(); r != nil {
			a = Answer{Outcome: "panic", Err: fmt.Sprint(r)}
		}
	}()
	allocations, failure := allocator.Allocate(ctx, node, p.Pending)
	a = Answer{Allocations: allocations, Steps: steps(allocator), Variant: path.Base(reflect.TypeOf(allocator).Elem().PkgPath())}
	if failure != nil {
		a.Err = failure.Error()
	}
	switch {
	case left <= 0:
		a.Outcome = "undecided"
	case failure != nil && invalidPools(failure):
		a.Outcome = "invalid pools"
	case failure != nil:
		a.Outcome = "abort"
	case allocations == nil:
		a.Outcome = "nothing"
	default:
		a.Outcome = "devices"
	}
	return a, nil
}

// steps counts the calls of the function that the search consists of; -1 if the implementation does not.
// The method is exported, but returns a type of an internal package, and a nil pointer in old stable ones.
func steps(allocator structured.Allocator) int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return -1
	}
	stats := method.Call(nil)[0]
	if stats.Kind() == reflect.Pointer {
		return -1
	}
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}
