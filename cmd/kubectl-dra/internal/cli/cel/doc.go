// Package cel holds kubectl dra cel: which devices a selector matches, and why not the others. The selector
// lab is a view of the terminal UI, which the command is handed.
package cel
