// Package room is the page that says which pods have to move so that a claim or a pod fits. Nothing is moved.
package room
