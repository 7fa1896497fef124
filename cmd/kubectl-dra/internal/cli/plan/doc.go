// Package plan holds kubectl dra plan: where many pods go, what becomes of them when nodes are drained,
// devices tainted or lost or a namespace deleted, which pods have to move, and which nodes would help.
package plan
