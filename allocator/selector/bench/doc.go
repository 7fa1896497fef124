// Package bench tries selectors on many devices at once, and says what is wrong with one.
//
// A [Bench] is made for a fixed list of devices. [Bench.Try] says what becomes of each device, term by term:
// devices that agree in what an expression reads are evaluated once. [Bench.Findings] says what is wrong with
// a [Trial], and which device comes nearest when none matches. What devices have at all is the [Inventory].
//
// What an expression is, how it compiles and what it gives for one device is the matter of package selector.
package bench
