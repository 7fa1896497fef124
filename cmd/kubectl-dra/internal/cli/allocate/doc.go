// Package allocate holds what writes: kubectl dra allocate and deallocate, and the writers with which the
// terminal UI does the same to a cluster or to the demo cluster. How it is written is decided in
// internal/commit.
package allocate
