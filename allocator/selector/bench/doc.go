// Package bench tries selectors on many devices at once, and says what is wrong with one and what was meant.
//
// A [Bench] is made for a fixed list of devices. [Bench.Try] says what becomes of each device, term by term:
// devices that agree in what an expression reads are evaluated once (columns.go). [Bench.Diagnose] explains a
// [Trial]: rules look for what is wrong, each a function that returns findings (compile.go, fields.go,
// types.go, results.go), and what they suggest instead was tried on the same devices (corrections.go,
// robust.go). What devices have at all is the [Inventory].
//
// What an expression is, how it compiles and what it gives for one device is the matter of package selector.
package bench
