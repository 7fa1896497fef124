// Package node holds kubectl dra node: what the kubelet of a node says of its pods and devices, and its
// network configuration, beside what the cluster says.
package node
