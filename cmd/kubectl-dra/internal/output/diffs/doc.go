// Package diffs has the wire types and the text of what changed between two moments, and since when something
// does not fit.
package diffs
