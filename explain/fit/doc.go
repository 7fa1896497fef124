// Package fit counts how many more copies of a claim fit.
//
// On one node, the allocator is asked for 1, 2, 4 … copies as the claims of one pod, until they no longer
// fit, and then for numbers between. That is the most that can be had
// together there. Copies that come one after the other can leave devices that no copy can use, so fewer may
// fit in practice. Example: of 8 free GPUs, 4 are on each NUMA node, and a claim is for 3 on one NUMA node. 2
// copies fit, and 2 GPUs are left over.
//
// How the numbers of nodes are added up is said in total.go.
package fit
