package manifest

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxErrorLength   = 800 // bytes of one error or warning line
	maxDetailLength  = 400 // bytes of what is wrong with one field
	maxSnippetLength = 60  // bytes of the user's own text within a message
)

// printable makes text from a file safe to show, as inspect.Sanitize does; more than limit bytes are cut.
func printable(s string, limit int) string {
	var b strings.Builder
	var guard inspect.Guard
	for i, r := range s {
		if b.Len() >= limit {
			b.WriteString("...")
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		if char := s[i : i+size]; guard.Unsafe(r) || !utf8.ValidString(char) {
			b.WriteString(inspect.Sanitize(char))
		} else {
			b.WriteString(char)
		}
	}
	return b.String()
}
