package wire

import (
	"strings"
	"unicode"
)

// longestMessage bounds what a server can make us print, in bytes.
const longestMessage = 400

// Clean makes text from a server safe to print: one line, no control characters, not endless.
func Clean(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsControl(c), c == '\u2028', c == '\u2029':
			return ' '
		case unicode.Is(unicode.Cf, c), c == unicode.ReplacementChar: // invisible, or bidirectional overrides
			return -1
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return text
}
