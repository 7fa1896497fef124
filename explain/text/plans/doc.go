// Package plans lays out answers about many pods as lines: plans, moves, nodes to add, and what becomes of
// pods that end.
package plans
