// Package cycle decides what kube-scheduler does with one pod, or one claim, in a scheduling cycle.
//
// What a pod asks for is resolved by [ClaimsFor], and put to its nodes as a [Question]. [Limits] say what it
// means for the answer that not everything was read, and [BasisOf] by which rules it was decided. A [Tally]
// of the answers of nodes has the verdict. [QueueOrder] is the order in which kube-scheduler takes pods.
package cycle
