// Package poison plants hostile values in API objects, for tests that show that none of them hangs the
// program or reaches a terminal.
//
// [Strings] finds every text in an object, keys of maps included, and can replace each. [Check] looks for
// what a terminal would obey.
package poison
