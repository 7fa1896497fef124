package widget

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// lineWidth is ansi.StringWidth, and quicker for what lines of a screen consist of nearly always: ASCII, colours, and signs that
// take one column and never join what is beside them. To measure lines was half of what a frame costs.
func lineWidth(s string) int {
	n := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= ' ' && c < 0x7F:
			n++
			i++
		case c == '\x1b':
			length := styleLength(s[i:])
			if length == 0 {
				return ansi.StringWidth(s)
			}
			i += length
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !plainSign(r) {
				return ansi.StringWidth(s)
			}
			n++
			i += size
		}
	}
	return n
}

// styleLength returns the length of the sequence at the beginning of a text that changes how what follows looks, or 0 if there is
// another one.
func styleLength(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c == ';' || c == ':':
		case c == 'm':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// plainSign reports whether a sign takes one column, whatever stands beside it but what is no plain sign.
func plainSign(r rune) bool {
	switch r {
	case '×', '·', '–', '—', '…', '‹', '›', '↑', '→', '↓', '←', '✓', '✗', '≥', '≤', '⏎':
		return true
	}
	return r >= '─' && r <= '▟' || r == '●' || r == '○' || r == '▸' || r == '▾' // lines and blocks
}
