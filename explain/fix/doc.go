// Package fix finds changes that make an unsatisfiable question allocatable, and adds them to its
// explanation.
//
// Start reading at [Find]. It asks package conflict for the conflict of the node that comes nearest, and then
// runs a search (search.go), which finds a fix in three steps:
//
//  1. Each requirement of the nodes that come nearest is given up by itself. If that does not help on any
//     node, to give up a part of it does not help either.
//  2. The change is made as small as it can be: the highest count, the value nearest to the one asked for,
//     the claims whose release disturbs least.
//  3. The change is made to the whole snapshot, and the nodes are asked again: all of them, or for edits of
//     objects in a large cluster those that come nearest. Only what helps then is a fix.
//
// If no single change helps, a set of changes is looked for on the node of the conflict. Everything is given
// up and put back one by one, the dearest first, as long as the node still fits (combine.go). Other proposals
// do not come from a requirement: claims to release, another device class, another node, and more devices
// have a file each.
//
// # How to add a kind of fix
//
// A kind is an [explain.FixKind], and a line in explain/actor.go says who makes it. Less of one requirement
// is returned by Propose of that requirement. Anything else is a file here, with a method of search that
// appends to changes and a line in proposers. It is verified like all others, unless it brings its own check
// (requirement.Change.Fitting); what it costs (requirement/change.go) is its place among the fixes. Commands
// that do more than change objects or release claims are for package remedy. TestEveryFixKind needs a
// question for the kind; its comment and an example (fixExamples in package documents) become its part of
// docs/fixes.md.
//
// What is refused before any node is asked is for refusedFixes (missingclass.go), a missing claim for
// missingclaim.go, a selector that fails for selectorerror.go, and other reasons for which the scheduler
// gives up for givingup.go.
//
// [FindForRefusal] is for a question that is refused before any node is asked, [FindForAbort] for a selector
// that makes the scheduler give up, and [MissingClaim] for a pod that names a claim that does not exist.
package fix
