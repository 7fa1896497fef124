// Package node reads what a kubelet knows of its own node, which the API server does not: which container has
// which devices, CPUs and memory, which claims are prepared, and which plugins are registered.
//
// [Read] asks the kubelet's PodResources service and its Pods API, reads its checkpoints, and asks the
// plugins who they are. It writes nothing, and opens no stream: a second ListAndWatch of a device plugin or
// NodeWatchResources of a DRA driver may take a message that the kubelet waits for, after which it does not
// learn that a device is unhealthy. What cannot be read is recorded as the [inspect.Health] of its [Source].
//
// The kubelet's answers have faults that are seen through here. The CDI devices of a claim's n-th device
// repeat those of the devices before it, so they are taken only from the checkpoint. Entries may be there
// several times. Devices are told apart by driver, pool, device and share.
//
// [Join] compares a view with a snapshot of the cluster. It is a function of both.
package node
