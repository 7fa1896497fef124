// Package demo is an embedded cluster to try the program on, without a cluster and without files.
//
// It is small, twelve nodes, but lively: GPUs on two NUMA nodes, GPUs cut into slices, NICs whose bandwidth
// is shared, FPGAs on the network, a tainted card, a node under maintenance, a pool whose driver is being
// rolled out, and claims that are satisfied, waiting or impossible, each for a reason of its own. README.md
// in this folder lists every claim with the answer that is right for it.
//
// [Life] lets it move: jobs come and go, a GPU fails and heals; [Load] plays what its API server is doing.
// What the static cluster shows stays as it is, until users write to it.
//
// [Objects] gives the API objects. They never change, so neither does the time that they were read at, which
// is [Now].
package demo
