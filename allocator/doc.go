// Package allocator decides which devices a set of claims would get on a node, exactly as
// kube-scheduler does, or proves that there are none.
//
// # The question
//
// A [Cluster] is built once from a snapshot. [Cluster.Allocate] takes a node and the claims of one pod
// that still need an allocation. The answer is a [Result], or an [AbortError] where the scheduler
// itself gives up on the pod (a selector that fails, a class that does not exist). That claims cannot
// be satisfied is an answer, not an error.
//
// # The order of the search
//
// The scheduler scores nothing: it takes the first solution that it finds. So the order is part of the
// answer. Claims are decided in the order given, their requests in the order of the spec. A request
// with subrequests tries these in order; the next one only after the one before failed together with
// everything that comes after it. The devices of a request are taken from the candidates of the node in
// order (see view), each at a later position than the one before, so that every set of devices is
// tried once. Hence the answer is the lexicographically first complete choice:
//
//	requests: a needs 1 device with at least 1Gi, b needs 1 with at least 2Gi
//	devices:  d1 has 2Gi, d2 has 1Gi
//
//	a=d1, b=d1? in use. b=d2? too small. Back.
//	a=d2, b=d1. Found.
//
// # The checks
//
// Before a device is picked it passes a list of checks in a fixed order (walk.eligible, takeChecks).
// A check that fails moves the search on to the next device. A selector that fails with an error
// aborts everything, but only when the search reaches that device for that request; so the laziness of
// the search is part of the answer too. Every change of the search's state is paired with its undo.
//
// # Pruning
//
// A plain walk can take hours to find that there is nothing: 25 of 24 equal devices is 2^24 steps. A
// walk that is not done after a few hundred steps starts again with pruning, which skips only branches
// that provably hold neither a solution nor an error (see prune.go and bounds.go). The step limit stays;
// a search that reaches it is Undecided, never guessed.
//
// # Nodes that look alike
//
// [Cluster.Sweep] asks about many nodes. Those that look alike to a question (signature.go) are decided once,
// and are sorted once for all questions that read the same of devices (nodegroups.go). A selector is
// evaluated once for what it reads of a device.
//
// # Releases, variants and features
//
// The scheduler has three implementations and takes the first that supports all features that are on
// ([VariantOf]; 1.34, 1.35 and 1.38 choose otherwise). What they do changes from release to release, also
// from patch to patch: see rules.go. The stable one before 1.38, and all of them before 1.36, have no defined
// order of pools; there the answer is one that they may give.
//
// Not modelled: quantities beyond 2^63, with which releases before 1.37 change the objects that they read;
// counters and consumable capacity of 1.34, where they are alpha; functions of expressions that an old
// release lacks, because its API server refuses them.
//
// # Explaining
//
// An [Observer] is told of every check that fails. [Cluster.Examine] looks at each device by itself,
// with all checks that do not depend on what else is picked.
//
// # How to add a check
//
// A check has a code in code.go, whose comment says when it is given, and a place in checks.go or verdict.go
// in the scheduler's order; it is also made by walk.examineDevice and, if it depends only on the device, by
// walk.fitnessOf. Whatever of a device or pool it looks at is written down in signature.go and in
// table.signature. TestDifferential finds what was forgotten. A file in testdata/scenarios shows the case,
// and reasonExamples (package documents) has a question whose answer gives the code. What differs between
// releases is a field of rules (rules.go) with a case in testdata/rules.
package allocator
