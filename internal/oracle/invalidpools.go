package main

import "strings"

// invalidPools reports whether an error stands for ErrFailedAllocationOnNode, with which only this node is
// refused. 1.34 does not have that error.
func invalidPools(err error) bool {
	return strings.HasPrefix(err.Error(), "invalid resource pools were encountered")
}
