//go:build !unix

package node_test

import "os"

// makePipe makes a directory where there are no pipes in directories.
func makePipe(path string) error { return os.Mkdir(path, 0o700) }
