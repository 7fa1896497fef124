// Package whatif asks hypothetical questions.
//
// A [Question] is what is asked of every node; [Question.Ask] is where it is decided as things are. An [Edit]
// is one change, to a claim of the question, to its pod or to objects of the cluster. A [Draft] is
// the question with edits made: the claims, the pod and the cluster that result. A [Sandbox] is one node cut
// out of the snapshot, so that trying edits ([Sandbox.Try]) costs little in a cluster of any size;
// [Question.FirstFit] tries them on the nodes that come nearest, then on all. A [Patch] writes edits down for
// the user.
//
// The first error of a what-if question, such as that of the context, stays with the [Question]. Later
// answers are not known, and a search checks for the error once, at its end ([Question.Err]).
//
// Nothing else changes objects hypothetically. The package serves the others below explain, and may change.
package whatif
