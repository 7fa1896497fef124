// Package headline puts into one sentence what a question needs and why no node has it. Every number in it
// was found by the allocator, and holds for all nodes and not only for the one that comes nearest. There is
// no sentence if the nodes refuse for reasons that one sentence cannot tell.
//
// [Together] does the same for several that wait, of whom every part of the sentence is true.
package headline
