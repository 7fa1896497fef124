// Package kinds lists every kind of value that commands print, for JSON schemas.
package kinds
