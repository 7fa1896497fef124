// Package selector compiles and runs the CEL expressions of device selectors and derived attributes.
//
// Expressions are compiled in the scheduler's own environment for stored expressions
// (k8s.io/dynamic-resource-allocation/cel) and run with its cost limit, so a [Program] decides exactly
// what the scheduler decides. A [Cache] compiles every distinct expression once and remembers the
// result of each program for each device.
//
// To explain a decision, a program can also be taken apart: [Program.Terms] splits the expression at
// its top-level && and evaluates every part, and the values that a part reads, for one device.
//
// A [Bench] tries expressions on a fixed list of devices, many at a time: [Bench.Try] says what becomes
// of each device, term by term, and [Bench.Diagnose] what is wrong with the expression, with corrections
// that were tried on the same devices. For who types, [Bench.Trials] gives a first answer of some devices
// before that of all, [Bench.Histograms] shows what the matches have, and [Bench.Continue] takes over to a
// later snapshot what is known of devices that did not change.
package selector
