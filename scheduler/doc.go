// Package scheduler decides what kube-scheduler decides: whether a pod fits on a node, by its devices and by
// everything else.
//
// A [Cluster] is the index of a snapshot that all questions about it share: the allocator's, and what the
// filter plugins know of the nodes. The plugins are in the packages below: filters, scores and, for what is
// counted without deciding, extended.
package scheduler
