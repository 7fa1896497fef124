package inspect

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text from a cluster or a file safe to show on a terminal. What could steer the
// terminal or mislead the reader becomes a visible escape: control characters (C0, C1, DEL, line
// breaks), escape sequences, direction overrides, invisible characters, and bytes that are not UTF-8.
// Other text, in whatever script, stays as it is.
func Sanitize(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case Unsafe(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		case r == utf8.RuneError && broken(s[i:]):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Unsafe reports whether Sanitize would escape the character.
func Unsafe(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// plain reports whether s is printable ASCII, as nearly all names are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// broken reports whether s begins with a byte that is not UTF-8, as opposed to a literal U+FFFD.
func broken(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}
