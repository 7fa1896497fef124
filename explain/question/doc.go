// Package question answers why a claim, a template or a pod is, can be, or cannot be allocated in a cluster.
//
// Start reading at [Claim]. There is a function for each kind of question, which takes an object of the
// snapshot, and one that takes an object that need not be there: [Claim] and [ClaimObject], [Template] and
// [TemplateObject], [Pod] and [PodObject]. [Named] and [Object] choose among them. [Brief] says in one
// line what a claim waits for.
//
// Each of them makes a whatif.Question, and decide answers it. The question is first checked as the scheduler
// checks it before it asks any node, and then put to all nodes. The answers give the verdict and its
// sentence. Package diagnose groups the nodes that said no, and package fix adds the conflict and the fixes.
// This package also collects what surrounds the verdict: what the claim waits for, what the scheduler last
// said, and what could not be read.
package question
