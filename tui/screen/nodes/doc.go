// Package nodes is a map of the cluster: one row a node, one cell a device, so that occupancy and
// fragmentation are seen at a glance. A cursor goes over the cells, and a panel tells of the device under it.
// Zoomed out, nodes that look alike are taken together.
package nodes
