// Package storage says where volumes can be provisioned, as CSI drivers publish it in
// CSIStorageCapacity objects: each gives what is left for one StorageClass in one topology segment, which
// is a set of nodes.
//
// [Capacities] resolves the topology of each object to the nodes of a snapshot, so that a reader need not
// know how a driver labels them.
package storage
