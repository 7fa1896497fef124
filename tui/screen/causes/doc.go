// Package causes is the view of everything that is stuck: pods and claims by what keeps them from running,
// the worst cause first, with the changes that free most of them.
package causes
