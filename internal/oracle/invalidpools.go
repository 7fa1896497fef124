package main

import (
	"errors"
	"strings"
)

// invalidPools reports whether an error stands for ErrFailedAllocationOnNode, with which only this node is
// refused. 1.34 does not have that error, which has no text of its own.
func invalidPools(err error) bool {
	if strings.HasPrefix(err.Error(), "invalid resource pools were encountered") {
		return true
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if err.Error() == "" {
			return true
		}
	}
	return false
}
