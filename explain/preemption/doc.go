// Package preemption says whether kube-scheduler would end pods of lower priority for a pod that no node
// takes, as its plugin DefaultPreemption decides: on which node, and which pods.
//
// The scheduler takes all pods of lower priority from a node, asks its filters again, and gives back as many
// as it can, the most important first. Devices of those pods stay theirs meanwhile: preemption never frees
// devices. It prefers to keep PodDisruptionBudgets: pods whose end would violate one are given back first,
// and of several nodes it takes that with the fewest violations.
package preemption
