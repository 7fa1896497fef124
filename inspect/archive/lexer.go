package archive

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A CEL expression as a row of tokens, as the language definition of CEL has them.

type tokenKind int8

const (
	space      tokenKind = iota // with comments
	identifier                  // also a reserved word
	literal                     // of a number
	quoted                      // a string or bytes
	operator                    // anything else, character by character
)

type token struct {
	kind  tokenKind
	text  string // as it is written
	value string // of a string
}

// isWord reports whether the token would be read as one with another that follows it without a blank: two
// strings, say, as a string in three quotes.
func (t token) isWord() bool { return t.kind == identifier || t.kind == literal || t.kind == quoted }

func (t token) is(text string) bool { return t.kind != quoted && t.text == text }

var (
	patterns = [...]*regexp.Regexp{
		space:      regexp.MustCompile(`^(?:[\t\n\f\r ]+|//[^\n]*)`),
		identifier: regexp.MustCompile("^(?:[_a-zA-Z][_a-zA-Z0-9]*|`[^`]*`)"),
		literal:    regexp.MustCompile(`^(?:0x[0-9a-fA-F]+u?|[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?u?)`),
	}
	openingQuote   = regexp.MustCompile(`^([rRbB]{0,2})("""|'''|"|')`)
	escapeSequence = regexp.MustCompile(`\\(?:x[0-9a-fA-F]{2}|X[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.|\n)`)
)

// lex takes an expression apart. It returns false if it is none, because it has other characters, a string
// has no end, or a number goes on as what is no number.
func lex(s string) ([]token, bool) {
	var out []token
	for s != "" {
		t, ok := nextToken(s)
		if !ok || len(out) > 0 && out[len(out)-1].kind == literal && (t.kind == literal || t.kind == identifier) {
			return nil, false
		}
		out = append(out, t)
		s = s[len(t.text):]
	}
	return out, true
}

func nextToken(s string) (token, bool) {
	if m := openingQuote.FindStringSubmatch(s); m != nil {
		return quotedToken(s, m[1], m[2])
	}
	for kind, pattern := range patterns {
		if text := pattern.FindString(s); text != "" {
			return token{kind: tokenKind(kind), text: text}, true
		}
	}
	return token{kind: operator, text: s[:1]}, strings.Contains("()[]{}.,:?!=<>&|+-*/%", s[:1])
}

func quotedToken(s, prefix, quote string) (token, bool) {
	raw := strings.ContainsAny(prefix, "rR")
	start := len(prefix) + len(quote)
	for i := start; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			t := token{kind: quoted, text: s[:i+len(quote)], value: s[start:i]}
			if !raw {
				t.value = escapeSequence.ReplaceAllStringFunc(t.value, unescape)
			}
			return t, true
		case s[i] == '\\' && !raw:
			i++
		}
	}
	return token{}, false
}

// unescape is the character that an escape sequence stands for.
func unescape(s string) string {
	if single, ok := escapes[s[1]]; ok && len(s) == 2 {
		return single
	}
	base, digits := 16, s[2:]
	if s[1] >= '0' && s[1] <= '3' {
		base, digits = 8, s[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return s
	}
	return string(rune(n))
}

var escapes = map[byte]string{
	'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\\': `\`, '?': "?", '"': `"`, '\'': "'", '`': "`",
}
