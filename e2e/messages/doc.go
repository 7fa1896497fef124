// Package messages has only a test: the messages of Kubernetes that docs/troubleshooting.md explains are
// those in the source of the release that this module depends on.
package messages
