// Package disruption is the page that says what would be if something were taken away: a node drained or
// lost, a device lost or tainted, a namespace deleted. Nothing is taken away.
package disruption
