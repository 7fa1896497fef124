// Package editor helps to write selectors: it says what the parts of their text are, completes them, and
// puts them into YAML. It knows CEL's tokens but no screen: who draws gives roles their colours.
//
// [Highlight] takes text apart into spans with roles. It is made for text that is being typed, so
// everything has some role, also what is no CEL.
//
// A [Completer] proposes what can stand at a place: domains, attributes and capacities that devices really
// have, the values that they have there, and functions that go with the type of what is before the dot.
// It works on an index of the devices, [bench.Inventory], so that it does not depend on how many devices
// there are.
package editor
