package manifest

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxErrorLength   = 800 // bytes of one error or warning line
	maxDetailLength  = 400 // bytes of what is wrong with one field
	maxSnippetLength = 60  // bytes of the user's own text within a message
)

// printable makes text from a file safe to show: control characters, line breaks, escape sequences,
// direction overrides and broken UTF-8 become visible escapes, and more than limit bytes are cut.
func printable(s string, limit int) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= limit {
			b.WriteString("...")
			break
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				b.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
				continue
			}
		}
		if r == ' ' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}
