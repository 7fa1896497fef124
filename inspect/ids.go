package inspect

import (
	"cmp"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// NodeName is the name of a Node.
type NodeName string

// ClaimRef names a ResourceClaim.
type ClaimRef struct{ Namespace, Name string }

// String returns "namespace/name".
func (r ClaimRef) String() string { return r.Namespace + "/" + r.Name }

// Compare orders claims by namespace and name.
func (r ClaimRef) Compare(other ClaimRef) int {
	return cmp.Or(strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Name, other.Name))
}

// MarshalText implements encoding.TextMarshaler: JSON has names as String gives them.
func (r ClaimRef) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *ClaimRef) UnmarshalText(text []byte) error {
	var ok bool
	r.Namespace, r.Name, ok = strings.Cut(string(text), "/")
	return unlessNamed(ok, text)
}

// RefOf returns the name of a claim.
func RefOf(claim *resourcev1.ResourceClaim) ClaimRef {
	return ClaimRef{Namespace: claim.Namespace, Name: claim.Name}
}

// PodRef names a Pod.
type PodRef struct{ Namespace, Name string }

// String returns "namespace/name".
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// Compare orders pods by namespace and name.
func (r PodRef) Compare(other PodRef) int {
	return cmp.Or(strings.Compare(r.Namespace, other.Namespace), strings.Compare(r.Name, other.Name))
}

// MarshalText implements encoding.TextMarshaler: JSON has names as String gives them.
func (r PodRef) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *PodRef) UnmarshalText(text []byte) error {
	var ok bool
	r.Namespace, r.Name, ok = strings.Cut(string(text), "/")
	return unlessNamed(ok, text)
}

// PoolID identifies a resource pool. Pool names are unique only within a driver.
type PoolID struct{ Driver, Pool string }

// String returns "driver/pool".
func (p PoolID) String() string { return p.Driver + "/" + p.Pool }

// Compare orders pools as the scheduler does: bytewise by driver, then by pool name.
func (p PoolID) Compare(q PoolID) int {
	return cmp.Or(strings.Compare(p.Driver, q.Driver), strings.Compare(p.Pool, q.Pool))
}

// PoolOf returns the pool that a slice is a part of.
func PoolOf(slice *resourcev1.ResourceSlice) PoolID {
	return PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}
}

// DeviceID identifies a device. Device names are unique only within a pool.
type DeviceID struct{ Driver, Pool, Device string }

// String returns "driver/pool/device".
func (d DeviceID) String() string { return d.Driver + "/" + d.Pool + "/" + d.Device }

// MarshalText implements encoding.TextMarshaler: JSON has names as String gives them.
func (d DeviceID) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. Of the three names only that of a pool has slashes.
func (d *DeviceID) UnmarshalText(text []byte) error {
	driver, rest, _ := strings.Cut(string(text), "/")
	at := strings.LastIndex(rest, "/")
	if at >= 0 {
		d.Driver, d.Pool, d.Device = driver, rest[:at], rest[at+1:]
	}
	return unlessNamed(at >= 0, text)
}

func unlessNamed(ok bool, text []byte) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%q is not the name of an object with what it is in", text)
}

// PoolID returns the pool that the device belongs to.
func (d DeviceID) PoolID() PoolID { return PoolID{Driver: d.Driver, Pool: d.Pool} }

// Compare orders devices bytewise by driver, pool and device name.
func (d DeviceID) Compare(e DeviceID) int {
	return cmp.Or(d.PoolID().Compare(e.PoolID()), strings.Compare(d.Device, e.Device))
}

// DeviceOf returns the device that a result of an allocation names.
func DeviceOf(result *resourcev1.DeviceRequestAllocationResult) DeviceID {
	return DeviceID{Driver: result.Driver, Pool: result.Pool, Device: result.Device}
}

// DeviceIDOf returns the identity of the i-th device of a slice.
func DeviceIDOf(slice *resourcev1.ResourceSlice, i int) DeviceID {
	return DeviceID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Device: slice.Spec.Devices[i].Name}
}
