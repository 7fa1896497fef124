// Package widget draws: tables, text, bars and lines to type into. It knows nothing of Kubernetes.
//
// Widgets render to strings of exactly the size that they are given; nothing that they draw wraps. They
// measure text in columns of the terminal, so wide and combining characters stay aligned. Text must be
// safe to show already: it is not sanitised here.
package widget
