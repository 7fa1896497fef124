// Package kueue decides about workloads in their queues as Kueue 0.19 does: whether one gets quota, with
// which flavors, after whose eviction, or what is missing.
//
// A [State] is made of the objects of a snapshot. [State.Decide] plays the cycles of Kueue's scheduler from
// there: in each, the head of every ClusterQueue is given flavors in the same snapshot, the heads are put in
// order, and admitted one by one, which takes from what the later ones find. Cycles follow until nothing
// changes any more. Nothing ends and nobody else submits meanwhile, and evictions that Kueue begins are not
// awaited.
//
// Nothing here is Kueue's code: the module of Kueue would add 13 MB to the program. e2e/kueue compares every
// decision with Kueue's own cache and scheduler.
//
// Where to add: a rule about quota in quota/tree.go, about evictions in quota/evict.go and quota/fair.go,
// about flavors in assign.go, about the order of cycles in play.go, about claims in claims.go; what random
// states have, in internal/randomqueue.
package kueue
