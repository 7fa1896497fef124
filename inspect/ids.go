package inspect

import "strings"

// NodeName is the name of a Node.
type NodeName string

// ClaimRef names a ResourceClaim.
type ClaimRef struct{ Namespace, Name string }

// String returns "namespace/name".
func (r ClaimRef) String() string { return r.Namespace + "/" + r.Name }

// PodRef names a Pod.
type PodRef struct{ Namespace, Name string }

// String returns "namespace/name".
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// PoolID identifies a resource pool. Pool names are unique only within a driver.
type PoolID struct{ Driver, Pool string }

// String returns "driver/pool".
func (p PoolID) String() string { return p.Driver + "/" + p.Pool }

// Compare orders pools as the scheduler does: bytewise by driver, then by pool name.
func (p PoolID) Compare(q PoolID) int {
	if c := strings.Compare(p.Driver, q.Driver); c != 0 {
		return c
	}
	return strings.Compare(p.Pool, q.Pool)
}

// DeviceID identifies a device. Device names are unique only within a pool.
type DeviceID struct{ Driver, Pool, Device string }

// String returns "driver/pool/device".
func (d DeviceID) String() string { return d.Driver + "/" + d.Pool + "/" + d.Device }

// PoolID returns the pool that the device belongs to.
func (d DeviceID) PoolID() PoolID { return PoolID{Driver: d.Driver, Pool: d.Pool} }

// Compare orders devices bytewise by driver, pool and device name.
func (d DeviceID) Compare(e DeviceID) int {
	if c := d.PoolID().Compare(e.PoolID()); c != 0 {
		return c
	}
	return strings.Compare(d.Device, e.Device)
}
