// Package volume explains where a PersistentVolumeClaim can have its volume, node by node, and what would
// help.
package volume
