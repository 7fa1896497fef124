// Package text turns an explanation into lines for people.
//
// A [Line] is a list of [Span]s, pieces of text with a [Role]. In a pipe the roles are dropped; in a
// terminal, and in the terminal UI, they become colours. No meaning rests on colour alone. All text
// that came from a cluster is sanitised here.
package text
