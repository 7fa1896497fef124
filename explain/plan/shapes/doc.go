// Package shapes finds nodes to add so that pods fit.
//
// [Find] says of each kind of node how many of it make all pods fit, the fewest first. Each answer comes from
// placing all pods in the cluster with these nodes, so that it is certain whichever nodes kube-scheduler
// chooses. [OfCluster] finds the kinds of nodes that a cluster has; package inspect/nodeshape reads others
// from files.
package shapes
