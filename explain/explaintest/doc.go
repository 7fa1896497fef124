// Package explaintest has what the tests of the packages around it have in common.
package explaintest
