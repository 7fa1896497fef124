// Package disruption says what becomes of pods by an event: a node is drained or lost, devices are lost, pods
// are evicted, a namespace is deleted.
//
// An [Event] says who has to go and what changes besides; [Drain], [LoseNodes], [LoseDevices], [Evict] and
// [DeleteNamespace] make one. [Play] says who goes, in the turns that PodDisruptionBudgets allow, and what
// kube-scheduler makes of those that come back, together with all that waits already; [After] is the cluster
// before it does. [FindWeakest] looks for the loss that does most harm.
//
// All answers are functions of a snapshot. Who is placed is decided by explain/plan.
package disruption
