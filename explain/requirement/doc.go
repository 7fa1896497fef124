// Package requirement takes apart what decides about a node.
package requirement
