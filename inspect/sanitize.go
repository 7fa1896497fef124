package inspect

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text from a cluster or a file safe to show on a terminal. What could steer the
// terminal or mislead the reader becomes a visible escape: control characters (C0, C1, DEL, line
// breaks), escape sequences, direction overrides, invisible and blank characters, combining marks that
// pile up or stand on nothing, and bytes that are not UTF-8. Other text, in whatever script, stays as it
// is.
func Sanitize(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	var guard Guard
	for i, r := range s {
		switch {
		case r == utf8.RuneError && broken(s[i:]):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
			guard = Guard{}
		case guard.Unsafe(r):
			b.WriteString(escaped(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// SanitizeShort is Sanitize for texts of which only the beginning is shown: after limit bytes the rest is
// replaced by "...". An escape or a character is never cut in two, so the result may be a few bytes longer.
func SanitizeShort(s string, limit int) string {
	var b strings.Builder
	var guard Guard
	for i, r := range s {
		if b.Len() >= limit {
			b.WriteString("...")
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if char := s[i : i+size]; guard.Unsafe(r) || !utf8.ValidString(char) {
			b.WriteString(Sanitize(char))
		} else {
			b.WriteString(char)
		}
	}
	return b.String()
}

// escaped is the character as a Go escape sequence, in ASCII.
func escaped(r rune) string {
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// Unsafe reports whether Sanitize would escape the character wherever it stands. Combining marks depend
// on what is before them: ask a Guard.
func Unsafe(r rune) bool {
	return r != ' ' && (!unicode.IsPrint(r) || invisible(r))
}

// invisible reports whether a character that counts as printable is not seen, so that two names can look
// alike. Variation selectors are among them, also the one that makes emoji colourful: they change how wide
// terminals draw what is before them, each in its own way.
func invisible(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blanks)
}

// blanks are letters, marks and symbols whose glyph is empty though Unicode does not call them ignorable:
// the empty braille pattern, a musical note without a head, fillers of Khitan and Egyptian text, and the
// place of an object that is not there.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0xFFFC, Hi: 0xFFFC, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x13441, Hi: 0x13442, Stride: 1}, {Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, {Lo: 0x1D159, Hi: 0x1D159, Stride: 1}},
}

// maxMarks is how many combining marks a character may carry. Written languages need up to four; more are
// drawn over the lines above and below.
const maxMarks = 4

// Guard reads a text character by character and tells which of them Sanitize would escape where they
// stand. The zero Guard is at the beginning of a text.
type Guard struct {
	room int // combining marks that the character before may still carry
}

// Unsafe reports whether the next character of the text is to be escaped.
func (g *Guard) Unsafe(r rune) bool {
	switch {
	case Unsafe(r):
		g.room = 0
		return true
	case unicode.IsMark(r):
		g.room--
		return g.room < 0
	case unicode.In(r, unicode.Letter, unicode.Number, unicode.Symbol):
		g.room = maxMarks
	default:
		g.room = 0 // a mark would stand on a space, a quote or a separator, and hide it
	}
	return false
}

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
