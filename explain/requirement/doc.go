// Package requirement lists the conditions that must hold for a question on a node, one type for each kind,
// and how each of them can be relaxed.
//
// Begin with [Kinds], the table of kinds, and [Relaxable], what each type has to say of itself; [Lists.On]
// lists the requirements of a node. resource.go is a whole kind: what the pod asks of a resource of the node.
//
// # How to add a kind
//
// A kind is one file and a line in [Kinds], whose order is what is given up first. The file has a [Kind] with
// the function that lists the requirements of the kind on a node. One that is given up as a whole is made by
// dropping; one that nobody gives up is a relaxable as it is. Other kinds are a type that embeds relaxable:
// what has to hold, the edit that gives it up, and the effort and the price of that. Its Propose makes
// smaller changes, and its Combine is its part in a fix of several changes. [Clarifier], [Prober] and
// [Inseparable] are for kinds that need them.
//
// If nothing in package whatif makes the change, the file also has an edit: a type with Key and Apply, and
// PatchPod if it changes the pod. What changes nodes or other pods does so by Draft.ChangeAround, so that
// filters see it also where devices are asked in a sandbox. The name of the kind goes to
// explain/requirement.go, and who can give it up to explain/actor.go.
//
// The package serves the others below explain, and may change.
package requirement
