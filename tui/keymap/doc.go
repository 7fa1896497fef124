// Package keymap holds keys as data: what is pressed, what it does, and, while it does nothing, why.
//
// The status line and the help screen are made from the same values that decide what a key does, so they
// cannot say anything else.
package keymap
