// Package spelling finds what was probably meant by a name that does not exist: of a field of a device in a
// selector, of a class, of a claim.
package spelling
