package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:generate go run . ../..

// library are the packages that others may import.
var library = []string{"inspect", "inspect/manifest", "allocator", "scheduler", "explain", "explain/question", "explain/plan", "explain/plan/moves", "explain/plan/shapes", "explain/text", "explain/styled"}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	lines, err := exported(root)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "internal", "apilist", "next.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644) //nolint:gosec // a document is for all to read
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apilist:", err)
		os.Exit(1)
	}
}
