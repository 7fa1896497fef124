// Package kinds lists every kind of value that commands print, for JSON schemas: a new kind is a line in
// kinds.go, and a field with certain values has the tag enum. Tests validate all JSON of scripts and golden
// files with schematest.
package kinds
