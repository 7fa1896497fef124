// Package admission adds to explanations of pods what Kueue does about them before kube-scheduler sees them,
// and says what is in a queue.
//
// [Add] finds the workload of Kueue that a pod belongs to, or makes one up for an object that is not created
// yet; lets package kueue decide about it; and asks the question about the pod again as it will be once it is
// admitted, with the node labels and tolerations of its flavors. Both make one answer, whose headline is the
// first that refuses. Fixes were tried in both.
package admission
