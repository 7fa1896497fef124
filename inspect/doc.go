// Package inspect holds what is known of a cluster at one moment, and answers questions about it.
//
// A [Snapshot] is built once from [Objects] and never written again. It knows which pools a node can
// reach and whether they are complete and valid (by the scheduler's rules), which taints a device
// really has (its own and those of DeviceTaintRules), which claims hold a device and which pods hold
// a claim. A resource that could not be read is recorded in its [Health]: a partial view is data, not
// an error, and every answer can say what it did not see.
//
// The package does no IO, reads no clock and starts no goroutine. The packages below it fill
// Snapshots: inspect/manifest from files, inspect/live from an API server; internal/demo is the
// embedded demo cluster.
//
// Devices that are used, blocked and free are counted in one place, [DeviceCount], whatever view shows them,
// and an [Inventory] has the counts by device, node, pool and driver. When no Node is known, the nodes that
// slices name stand in for them ([Snapshot.NodesAssumed]), and answers say so. A feature gate is a constant
// and a line of gateHistory (features.go), and belongs into [FeaturesUsedBy] if objects can show that they
// use it.
package inspect
