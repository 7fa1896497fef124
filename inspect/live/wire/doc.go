// Package wire is what a server sends: of which kinds and versions objects are read, how they are decoded
// without harm, how older versions become the newest, and what is dropped of them.
package wire
