package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Role is what a piece of text is.
type Role uint8

// The roles.
const (
	// Space is white space.
	Space Role = iota
	// Name is an identifier at the beginning of a path, as device.
	Name
	// Member is an identifier after a dot.
	Member
	// Function is an identifier that is called.
	Function
	// Constant is true, false, or null, Keyword is in.
	Constant
	Keyword
	// Text is a string or bytes, also when it is not closed yet.
	Text
	Number
	// Operator is an operator, Punctuation a bracket, a comma, a colon or a dot.
	Operator
	Punctuation
	Comment
	// Unknown is nothing that CEL knows.
	Unknown
)

// Span is a piece of text, from the byte Start up to the byte End.
type Span struct {
	Start, End int
	Role       Role
	// Open is set for a string that is not closed.
	Open bool
}

// Highlight takes a text apart. The spans follow one another without gaps and are never empty.
func Highlight(text string) []Span {
	var spans []Span
	for at := 0; at < len(text); {
		span := next(text, at)
		spans = append(spans, span)
		at = span.End
	}
	name(text, spans)
	return spans
}

// next returns the span that begins at a place.
func next(text string, at int) Span {
	rest := text[at:]
	r, size := utf8.DecodeRuneInString(rest)
	span := func(n int, role Role) Span { return Span{Start: at, End: at + n, Role: role} }
	if n, closed := stringLength(rest); n > 0 {
		return Span{Start: at, End: at + n, Role: Text, Open: !closed}
	}
	switch {
	case unicode.IsSpace(r):
		return span(lengthOf(rest, unicode.IsSpace), Space)
	case strings.HasPrefix(rest, "//"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		return span(n, Comment)
	case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		return span(numberLength(rest), Number)
	case isLetter(r):
		return span(lengthOf(rest, func(r rune) bool { return isLetter(r) || isDigit(r) }), Name)
	case strings.ContainsRune("()[]{},:.?", r):
		return span(size, Punctuation)
	}
	for _, operator := range operators {
		if strings.HasPrefix(rest, operator) {
			return span(len(operator), Operator)
		}
	}
	return span(size, Unknown)
}

var operators = []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%"}

// name tells identifiers apart by what is around them.
func name(text string, spans []Span) {
	before := "" // the last token
	for i := range spans {
		s := &spans[i]
		word := text[s.Start:s.End]
		switch {
		case s.Role == Space || s.Role == Comment:
			continue
		case s.Role != Name:
		case word == "true" || word == "false" || word == "null":
			s.Role = Constant
		case word == "in":
			s.Role = Keyword
		case strings.HasPrefix(strings.TrimLeft(text[s.End:], " \t"), "("):
			s.Role = Function
		case before == "." || before == ".?":
			s.Role = Member
		}
		if before == "." && word == "?" {
			word = ".?"
		}
		before = word
	}
}

// stringLength is the length of the string or bytes that a text begins with, 0 when it begins with
// something else. One that is not closed ends with its line, or with the text if it may have several.
func stringLength(text string) (n int, closed bool) {
	prefix := lengthOf(text, func(r rune) bool { return strings.ContainsRune("rRbB", r) })
	if prefix > 2 {
		return 0, false
	}
	raw := strings.ContainsAny(text[:prefix], "rR")
	for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
		if strings.HasPrefix(text[prefix:], quote) {
			n, closed := quotedLength(text[prefix+len(quote):], quote, raw)
			return prefix + len(quote) + n, closed
		}
	}
	return 0, false
}

// quotedLength is the length of the rest of a string behind its opening quote.
func quotedLength(text, quote string, raw bool) (n int, closed bool) {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote), true
		case text[i] == '\\' && !raw && i+1 < len(text):
			i++
		case text[i] == '\n' && len(quote) == 1:
			return i, false
		}
	}
	return len(text), false
}

// numberLength is the length of a number with its exponent and suffix.
func numberLength(text string) int {
	n := 0
	for n < len(text) {
		c := rune(text[n])
		exponent := (c == '+' || c == '-') && n > 0 && (text[n-1] == 'e' || text[n-1] == 'E') && !strings.HasPrefix(text, "0x")
		fraction := c == '.' && n+1 < len(text) && isDigit(rune(text[n+1]))
		if !isDigit(c) && !isLetter(c) && !exponent && !fraction {
			break
		}
		n++
	}
	return n
}

// lengthOf is the length of the runes at the beginning that belong to a set.
func lengthOf(text string, in func(r rune) bool) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !in(r) })
	if n < 0 {
		return len(text)
	}
	return n
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
