// Package conflict computes a minimal unsatisfiable set (MUS) of requirements by the divide and conquer of
// QuickXplain (U. Junker, "QuickXplain: Preferred explanations and relaxations for over-constrained
// problems", AAAI 2004).
//
// Start reading at [On], which finds the [Conflict] of one node. [Nearest] compares those of several nodes.
//
// # What a conflict is
//
// Package requirement takes apart what decides about a node. There are the counts, the terms of selectors,
// the constraints and so on of the claims, and there are facts about the cluster, such as that another claim
// holds a device. Each requirement can be relaxed: the claim is asked for without the term, or the other
// claim is released. Every test is a question to the allocator. Nothing is concluded from the form of a
// requirement.
//
// Let A be all requirements. A conflict is a set K of them, and R = A \ K the rest, such that
//
//	with K in force and R relaxed, the node still refuses (proved), and
//	for each k of K, with K \ {k} in force and R + {k} relaxed, the claims can be allocated.
//
// So K cannot hold together whatever else is given up, and no part of it is superfluous. Several such sets
// may exist. Example: five GPUs with the same numa are wanted. The node has 4 on each of two, and job-x
// holds two of the GPUs on numa 1.
//
//	A = {count 5, same numa, job-x}         refuses
//	job-x relaxed:     {count 5, same numa} refuses, so job-x is no part of K
//	same numa as well: {count 5}            fits, so "same numa" belongs to K
//	count as well:     {same numa}          fits, so the count belongs to K
//	K = {count 5, same numa}
//
// # How it is found
//
// QuickXplain relaxes requirements in chunks. If the node still refuses, the whole chunk stays relaxed;
// otherwise the chunk is halved, and a chunk of one requirement that cannot be relaxed belongs to the core.
// That takes few tests if the core is small. A requirement that is relaxed early ends up outside of the core
// if it can, so the order is a preference: what a user can do least about goes first.
//
// The search differs from the paper's in four ways.
//
//   - Several orders are tried, and the smallest core is taken. QuickXplain finds the core that an order
//     prefers, which need not be the smallest. Then the search tries to do without one member at a time and,
//     where these are no more than maxSets, tries all smaller sets. Beyond that the core is minimal, but may
//     not be the smallest. All searches together are bounded by the steps of the question
//     (whatif.Question.Exhausted).
//   - The background, which QuickXplain is given, is found on the way. Without some requirements the
//     scheduler aborts with an error, for example because a selector reads an attribute that devices outside
//     of the class lack. They belong to the background: they are in force throughout, and not part of K.
//   - Relaxing can hurt: if a request wants all devices, dropping a term means that it needs more of them.
//     QuickXplain presumes that it cannot. Therefore the second condition above is
//     tested for each member at the end.
//   - A test may end without an answer, because the search of the allocator was given up. That proves
//     nothing. What it was about stays in the core, and the conflict is Unproven.
//
// A request as such, and that it needs one device, is taken as given as well, unless to relax everything else
// does not help. So is a term device.driver == "..." of a class, since it says what is asked for.
//
// # What a conflict tells the reader
//
// That K is a conflict does not mean that to drop one of its requirements helps as things are, since there
// may be other conflicts on the node. But a requirement that helps when it alone is dropped is part of every
// conflict. (If it were no part of K, then K would be in force unchanged after it is dropped, and the node
// would still refuse.) Hence, if each requirement of some conflict helps alone, that conflict is the only
// one. It is found in any case, and marked Sole. Otherwise the requirements that help alone are marked Alone.
// (This presumes that to relax more never makes matters worse.)
package conflict
