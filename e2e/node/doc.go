// Package node is what a kubelet finds around it on a node, for tests: a container runtime that runs
// nothing ([Runtime]), a device plugin ([DevicePlugin]) and a DRA driver that publishes its own
// ResourceSlices ([Driver]).
//
// All of them serve unix sockets from inside the test process, so a test can ask them what the kubelet
// told them, and they end with it. The kubelet itself is real and has a process of its own; package
// cluster starts it.
package node
