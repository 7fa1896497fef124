// Package poison plants hostile values in API objects, for tests that show that none of them hangs the
// program or reaches a terminal.
//
// [Strings] finds every text in an object, keys of maps included, and can replace each. [Fill] makes an
// object in which every field is set, so that fields that no example uses are tried too. [Check] looks for
// what a terminal would obey.
package poison
