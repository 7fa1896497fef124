// Package nodeview has the wire types and the text of a node as its kubelet and the API server see it, its
// network and its hardware.
package nodeview
