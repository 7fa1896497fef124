package screen

import (
	"strings"

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
	switch ref.Kind {
	case Claim: // of which, as of pods, there may be very many
		o, ok := w.Snapshot.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
		return o, inspect.KindOf(inspect.Claims).GroupVersionKind(), ok
	case Pod:
		o, ok := w.Snapshot.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name})
		return o, inspect.KindOf(inspect.Pods).GroupVersionKind(), ok
	case Device:
		d, ok := FindDevice(w, ref)
		return d.Slice, inspect.KindOf(inspect.Slices).GroupVersionKind(), ok
	case Pool:
		for _, slice := range w.Snapshot.Slices() {
			if slice.Spec.Driver+"/"+slice.Spec.Pool.Name == ref.Name {
				return slice, inspect.KindOf(inspect.Slices).GroupVersionKind(), true
			}
		}
	}
	for _, k := range inspect.Kinds() {
		if k.Name != string(ref.Kind) {
			continue
		}
		for _, o := range k.Objects(w.Snapshot.Objects()) {
			if o.GetName() == ref.Name && o.GetNamespace() == ref.Namespace {
				return o.(Object), k.GroupVersionKind(), true //nolint:forcetypeassert // all kinds are API objects
			}
		}
	}
	return nil, schema.GroupVersionKind{}, false
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
