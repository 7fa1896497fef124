// Package explain answers why a claim, a template or a pod is, can be, or cannot be allocated.
//
// There is one file per kind of question. Each asks the allocator, looks at every device by itself
// where the answer is no, and puts together an [Explanation]: the verdict, the devices, the nodes
// grouped by identical reasons with a funnel per request, who holds what, and what the claim waits for.
// To a "no" belong the smallest set of requirements that cannot hold together (conflict.go says what that
// means exactly) and the changes that would help (fixes.go), each of which was tried.
//
// Nothing in an Explanation is guessed: every number comes from the allocator's own checks.
package explain
