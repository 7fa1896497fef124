// Package usage says who uses how much of the devices of a cluster: by namespace, device class, workload,
// driver and model, or by the queues that the caller knows. Of each it counts what is held, what is held for
// nobody, and what is waited for in vain, with the moments since when, as far as objects tell.
//
// [Of] counts devices as [inspect.DeviceCount] does, so that its total is what the views of nodes, pools and
// devices call used. Admin access holds nothing. A device that several rows share, or that one claim holds
// for several of them, is a device of each of these rows and is counted once in the total: Joint says how
// many are of that kind, so that
//
//	total.Devices = sum of (row.Devices - row.Joint) + total.Joint
package usage
