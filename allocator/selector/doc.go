// Package selector compiles and runs the CEL expressions of device selectors and derived attributes.
//
// Expressions are compiled in the scheduler's own environment for stored expressions
// (k8s.io/dynamic-resource-allocation/cel) and run with its cost limit, so a [Program] decides exactly
// what the scheduler decides. A [Cache] compiles every distinct expression once and remembers the
// result of each program for each device.
//
// To explain a decision, an expression can also be taken apart: [Cache.Terms] splits it at its top-level &&
// and evaluates every part, and the values that a part reads, for one device. A [Comparison] is a term whose
// value can be exchanged, and a [Tree] is for those who look at the syntax themselves.
//
// Package bench, below this one, tries expressions on many devices and says what is wrong with them.
package selector
