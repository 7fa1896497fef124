package screen

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Object is an API object.
type Object interface {
	runtime.Object
	metav1.Object
}

// Find returns the API object that a Ref names and its kind; for a device, that of the slice that publishes
// it, and for a pool, its first slice. It looks through lists: only Jobs may call it.
func Find(w *World, ref Ref) (Object, schema.GroupVersionKind, bool) {
	s := w.Snapshot
	dra := func(kind string) schema.GroupVersionKind { return resourcev1.SchemeGroupVersion.WithKind(kind) }
	switch ref.Kind {
	case Claim:
		o, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
		return o, dra("ResourceClaim"), ok
	case Template:
		o, ok := s.Template(ref.Namespace, ref.Name)
		return o, dra("ResourceClaimTemplate"), ok
	case Class:
		o, ok := s.Class(ref.Name)
		return o, dra("DeviceClass"), ok
	case TaintRule:
		return named(s.Objects().TaintRules, ref, "resource.k8s.io", "v1")
	case Pod:
		o, ok := s.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name})
		return o, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, ok
	case Node:
		o, ok := s.Node(inspect.NodeName(ref.Name))
		return o, schema.GroupVersionKind{Version: "v1", Kind: "Node"}, ok
	case Device:
		d, ok := FindDevice(w, ref)
		return d.Slice, dra("ResourceSlice"), ok
	case Pool:
		for _, slice := range s.Slices() {
			if slice.Spec.Driver+"/"+slice.Spec.Pool.Name == ref.Name {
				return slice, dra("ResourceSlice"), true
			}
		}
	case PriorityLevel:
		return named(s.Objects().PriorityLevels, ref, "flowcontrol.apiserver.k8s.io", "v1")
	case StorageCapacity:
		return named(s.Objects().StorageCapacities, ref, "storage.k8s.io", "v1")
	}
	return nil, schema.GroupVersionKind{}, false
}

func named[T Object](objects []T, ref Ref, group, version string) (Object, schema.GroupVersionKind, bool) {
	kind := schema.GroupVersionKind{Group: group, Version: version, Kind: string(ref.Kind)}
	for _, o := range objects {
		if o.GetName() == ref.Name && o.GetNamespace() == ref.Namespace {
			return o, kind, true
		}
	}
	return nil, kind, false
}

// FindDevice returns the device that a Ref names. Only Jobs may call it.
func FindDevice(w *World, ref Ref) (inspect.DeviceStatus, bool) {
	d := w.Inventory().Device(DeviceID(ref))
	if d == nil {
		return inspect.DeviceStatus{}, false
	}
	return *d, true
}

// DeviceID is the device that a Ref of a device names. Names of pools may contain slashes.
func DeviceID(ref Ref) inspect.DeviceID {
	driver, rest, _ := strings.Cut(ref.Name, "/")
	at := strings.LastIndexByte(rest, '/')
	if at < 0 {
		return inspect.DeviceID{Driver: driver, Pool: rest}
	}
	return inspect.DeviceID{Driver: driver, Pool: rest[:at], Device: rest[at+1:]}
}

// DeviceRef names a device.
func DeviceRef(id inspect.DeviceID) Ref { return Ref{Kind: Device, Name: id.String()} }
