// Package about holds the commands that tell of the program itself: its version, how it completes in a shell,
// and the schemas of what it prints.
package about
