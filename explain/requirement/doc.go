// Package requirement lists the conditions that must hold for a question on a node, one type for each kind, and how each
// of them can be relaxed.
//
// Begin with [Kinds], the table of kinds, and [Relaxable], what each type has to say of itself; [Lists.On] lists the
// requirements of a node. ARCHITECTURE.md says how to add a kind, and cpu_test.go is a whole one.
//
// The package serves the others below explain, and may change.
package requirement
