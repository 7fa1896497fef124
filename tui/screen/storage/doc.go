// Package storage is the view of CSIStorageCapacity: how much each driver can still provision, of which
// StorageClass, and for which nodes.
package storage
