// Package manifest is the page that shows an object as YAML, as it was read.
package manifest
