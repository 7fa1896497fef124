// Package sharing lets objects of a cluster share the memory of what they have in common: that is most of
// what a large cluster takes.
package sharing
