// Package about holds the commands that tell of the program itself: its version, and how it completes in a
// shell.
package about
