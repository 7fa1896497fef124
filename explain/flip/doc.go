// Package flip says what made an answer another one: of all that changed in a cluster, the objects by which
// the verdict about a claim or pod flipped, and when that was.
//
// A [Judge] gives the verdict about one subject in any snapshot. [Judge.Culprits] looks for a minimal set of
// changes that flips it, by deciding with only these changes made. [Last] looks in a history for a moment at
// which the subject fitted, and did not fit at the next; it asks about few moments of many.
package flip
