// Package krew holds no code but tests: that krew's own tools take the manifest and the archives of a
// release, and that what they install works as `kubectl dra`. They need a release (make snapshot) and its
// directory:
//
//	go test ./krew -dist ../../dist
package krew
