// Package celtest has the wire types and the text of tests of CEL selectors.
package celtest
