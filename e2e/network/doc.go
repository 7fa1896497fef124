// Package network compares which network configuration is said to be used on a node with what the libraries
// of containerd (github.com/containerd/go-cni) and CRI-O (github.com/cri-o/ocicni) load of the same
// directory.
package network
