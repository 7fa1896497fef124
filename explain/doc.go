// Package explain describes the answer to the question why a claim, a template or a pod is, can be, or
// cannot be allocated. It holds the types of the answer and computes none of it.
//
// An [Explanation] has a [Verdict] and says it in one sentence. To a "yes" belong the devices
// ([Allocation]). To a "no" belong the nodes in groups with identical reasons ([Group], [Reason]), where
// the devices are lost for each request ([Funnel]), the smallest set of requirements that cannot hold
// together ([Conflict]), and changes that would help ([Fix]). [Fit] is the answer to another question:
// how many more copies of a claim there is room for. Nothing in an answer is guessed. Every number comes
// from the allocator's own checks, and every fix was tried.
//
// Start reading at the functions that answer: question.Claim and question.Pod make an Explanation of a
// cluster, and text.Lines lays one out for people. Package question has a runnable example.
//
// The packages inspect, allocator, explain, explain/question and explain/text are the library. The other
// packages below explain serve these and may change at any time.
package explain
