// Package widget draws tables, pages, bars, menus, and text that is being typed. It knows nothing of
// Kubernetes.
//
// Widgets draw strings of exactly the size that they are given, and nothing that they draw wraps. What they
// draw is made of lines of package styled, so wide and combining characters stay aligned. Text must be safe
// to show already: it is not sanitised here.
package widget
