// Package extended counts extended resources, such as "example.com/gpu", by node and name: what device
// plugins offer of them and what DRA would give instead, what of it is healthy, used and free, and which of
// the two serves a pod that asks now.
//
// It goes by the API server alone: by the status of nodes, the requests of pods, device classes and
// ResourceSlices. What a kubelet reports of a resource is its capacity, the devices of the plugin, and what
// is allocatable, those that are healthy. A plugin that stops leaves nothing allocatable, and its capacity
// for five minutes.
//
// The rules are those of the scheduler (plugins NodeResourcesFit and DynamicResources): where a node has
// something allocatable, the device plugin serves the pod. Anywhere else DRA does, if a device class provides
// the resource. Before 1.35 it does so only where the node does not list the resource at all.
package extended
