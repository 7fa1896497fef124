//go:build !linux

package tui

// Elsewhere threads have no priority of their own that could be lowered.

func threadID() int { return 0 }

func lowerOthers(map[int]bool) {}
