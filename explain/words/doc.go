// Package words prints numbers, lists and times as people say them.
package words
