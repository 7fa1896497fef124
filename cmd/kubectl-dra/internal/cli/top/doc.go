// Package top holds kubectl dra top: it connects the terminal UI (package tui) with a cluster, with files or
// with the demo cluster. What the terminal UI writes with is handed in.
package top
