// Package store keeps what a reflector has read of one resource, sorted, so that snapshots share what has not
// changed.
package store
