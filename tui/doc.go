// Package tui is the terminal UI: the root of all screens, and the only tea.Model.
//
// The root takes snapshots from a [Source], makes a screen.World of each, and hands it to the screen that
// is visible. It owns header and status line, the prompt, the popups, the stack of pages above a view, and
// the keys that mean the same everywhere (keys.go). What a screen is, and how one is added, is told in
// package tui/screen; the views are listed in views.go.
//
// [Run] takes over a terminal; [Once] writes one view as plain text.
package tui
