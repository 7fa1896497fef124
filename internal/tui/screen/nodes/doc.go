// Package nodes is a picture of the cluster: one row a node, one cell a device, so that occupancy and
// fragmentation are seen at a glance. Zoomed out, nodes that look alike are taken together.
package nodes
