// Package preferences is what a user wants to be otherwise than it is by default, and whether that is in
// order: the view that comes first, columns, colours and keys. What there is to choose from it is told.
package preferences
