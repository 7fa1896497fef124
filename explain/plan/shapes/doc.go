// Package shapes finds nodes to add so that pods fit.
//
// [Find] says of each kind of node how many of it make all pods fit, the cheapest first. Each answer comes
// from placing all pods in the cluster with these nodes: once on the nodes that few others need, to find how
// many do at best, and then so that it is certain whichever nodes kube-scheduler chooses. Where pods take
// nothing but what is left of their nodes, many nodes are proved to be enough without trying all choices: see
// crowd. [OfCluster] finds the kinds of nodes that a cluster has; package inspect/nodeshape reads others from
// files.
package shapes
