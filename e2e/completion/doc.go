// Package completion has tests that type commands into shells: real ones in a pseudo terminal, with a real kubectl that asks the
// product what TAB is to offer.
package completion
