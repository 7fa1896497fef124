package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Inline is text inside a block, in safe Markdown. The zero value is no text.
type Inline struct{ source string }

// Empty reports whether there is no text.
func (t Inline) Empty() bool { return t.source == "" }

// String returns the Markdown.
func (t Inline) String() string { return t.source }

// Code is a text as it is, except for what would mislead readers.
func Code(s string) Inline {
	s = inspect.Sanitize(s)
	if s == "" {
		return Inline{}
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	blank := strings.TrimLeft(s, " ") == ""
	if !blank && (s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ') {
		s = " " + s + " " // of which parsers take one off at each end
	}
	return Inline{fence + s + fence}
}

// longestRun is the length of the longest row of a character.
func longestRun(s string, of byte) int {
	longest, row := 0, 0
	for i := range len(s) {
		if s[i] != of {
			row = 0
			continue
		}
		row++
		longest = max(longest, row)
	}
	return longest
}

// Strong is text that stands out.
func Strong(t Inline) Inline {
	if t.Empty() {
		return t
	}
	return Inline{"**" + t.source + "**"}
}

// Join puts texts one after the other, with a blank between them. Those that are empty are left out.
func Join(texts ...Inline) Inline {
	var parts []string
	for _, t := range texts {
		if !t.Empty() {
			parts = append(parts, t.source)
		}
	}
	return Inline{strings.Join(parts, " ")}
}

// Texts are several texts, as Text makes them.
func Texts(list []string) []Inline { return Each(list, Text) }

// Codes are several texts as they are.
func Codes(list []string) []Inline { return Each(list, Code) }

// Count is a number.
func Count(n int) Inline { return Text(strconv.Itoa(n)) }

// Each makes a text of each item of a list.
func Each[T any](list []T, text func(T) Inline) []Inline {
	out := make([]Inline, len(list))
	for i, item := range list {
		out[i] = text(item)
	}
	return out
}

// Names are the first of some names, as code, and the number of the others.
func Names(list []string, most int) Inline {
	if len(list) <= most+1 {
		return Join(Codes(list)...)
	}
	return Join(append(Codes(list[:most]), AndMore(len(list)-most))...)
}

// Words that may stand as they are. A word with anything else in it is code.
var (
	word   = regexp.MustCompile(`^[A-Za-z]+([-'’][A-Za-z]+)*$`)
	number = regexp.MustCompile(`^[0-9]{1,6}([.,][0-9]{1,6})*%?$`)
	// commit is what code hosts take for the hash of a commit.
	commit = regexp.MustCompile(`(^|[-'’])[0-9a-f]{7,}($|[-'’])`)
	// address is what addresses begin with, before a dot or a colon.
	address = regexp.MustCompile(`(?i)^(www|https?|ftp|mailto|xmpp)$`)
	// operator joins what is at its sides to an expression, which is one piece of code.
	operator = regexp.MustCompile(`^([=!]=|[<>]=?|&&|\|\|)$`)
)

// typographic are signs that stand alone.
var typographic = map[string]bool{"→": true, "–": true, "—": true, "…": true, "×": true, "✗": true, "✓": true, "·": true, "!": true, "?": true, "÷": true, "∞": true}

// unary are words after which an operator has nothing at its left side, as in "instead of > 5".
var unary = map[string]bool{"of": true, "is": true, "be": true, "to": true, "than": true, "with": true, "for": true, "and": true, "or": true}

// Text is a text of which all that are not words and numbers is code. Blanks between words are one blank.
func Text(s string) Inline {
	fields := strings.Fields(inspect.Sanitize(s))
	var parts []string
	for i := 0; i < len(fields); {
		n := 1
		if unary[fields[i]] && i+2 < len(fields) && operator.MatchString(fields[i+1]) {
			parts = append(parts, piece(fields[i], i == 0))
			i++
		}
		if i+1 < len(fields) && operator.MatchString(fields[i]) {
			n = 2
		}
		for i+n+1 < len(fields) && operator.MatchString(fields[i+n]) {
			n += 2
		}
		parts = append(parts, piece(strings.Join(fields[i:i+n], " "), i == 0))
		i += n
	}
	return Inline{strings.Join(parts, " ")}
}

// piece is the Markdown of a word or an expression. The first one of a text may be the first one of a line,
// where a number with a dot or a bracket would begin a list.
func piece(text string, first bool) string {
	if typographic[text] {
		return text
	}
	before, core, after := punctuation(text)
	switch {
	case word.MatchString(core) && !commit.MatchString(core) && !address.MatchString(core):
		return before + core + after
	case number.MatchString(core) && (!first || before != "" || after == "" || after[0] != '.' && after[0] != ')'):
		return before + core + after
	case core == "":
		return Code(text).source
	}
	return before + Code(core).source + after
}

// punctuation takes off what stands before and after a word and is no part of it.
func punctuation(text string) (before, core, after string) {
	core = text
	for core != "" {
		last := len(core) - 1
		switch {
		case strings.IndexByte(".,;:?!", core[last]) >= 0, loose(core, core[last], last):
			core, after = core[:last], core[last:]+after
		case loose(core, core[0], 0):
			core, before = core[1:], before+core[:1]
		case around(core):
			core, before, after = core[1:last], before+core[:1], core[last:]+after
		default:
			return before, core, after
		}
	}
	return before, core, after
}

// around reports whether a pair of quotation marks or brackets is around a text, and no other in it.
func around(text string) bool {
	last := len(text) - 1
	switch {
	case last == 0:
		return false
	case text[0] == '(':
		return text[last] == ')' && strings.Count(text, "(") == 1
	}
	return text[0] == text[last] && strings.IndexByte(`"'`, text[0]) >= 0 && strings.Count(text, text[:1]) == 2
}

// loose reports whether a bracket or a quotation mark at one end of a text has no counterpart in it.
func loose(text string, mark byte, at int) bool {
	switch mark {
	case '(':
		return at == 0 && strings.Count(text, "(") > strings.Count(text, ")")
	case ')':
		return at > 0 && strings.Count(text, ")") > strings.Count(text, "(")
	case '"', '\'':
		return strings.Count(text, string(mark))%2 > 0
	}
	return false
}
