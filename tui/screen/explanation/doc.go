// Package explanation is the page that says why an object is, can be or cannot be allocated, with the fixes
// that were tried.
package explanation
