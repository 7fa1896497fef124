package editor

import (
	"regexp"
	"strings"
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
	for _, m := range tokens.FindAllStringSubmatchIndex(text, -1) {
		for i, kind := range kinds {
			if m[2*i+2] >= 0 {
				spans = append(spans, Span{Start: m[0], End: m[1], Role: kind.role, Open: kind.open})
			}
		}
	}
	name(text, spans)
	return spans
}

// tokenKind is what a text may begin with. A string that is not closed ends with its line, or with the text
// if it may have several.
type tokenKind struct {
	pattern string
	role    Role
	open    bool
}

// Raw strings have no escapes.
const raw, cooked = `(?:[rR][rRbB]?|[bB][rR])`, `[bB]?[bB]?`

// kinds are tried in this order.
var kinds = []tokenKind{
	{pattern: `[\s\v\x{85}\pZ]+`, role: Space},
	{pattern: `//[^\n]*`, role: Comment},
	{pattern: anyQuotes(raw + `"""(?s:.*?)"""|` + cooked + `"""(?s:\\.|[^\\])*?"""`), role: Text},
	{pattern: anyQuotes(`[rRbB]{0,2}"""(?s:.*)`), role: Text, open: true},
	{pattern: anyQuotes(raw + `"[^"\n]*"|` + cooked + `"(?:\\(?s:.)|[^"\\\n])*"`), role: Text},
	{pattern: anyQuotes(raw + `"[^"\n]*|` + cooked + `"(?:\\(?s:.)|[^"\\\n]|\\\z)*`), role: Text, open: true},
	{pattern: `0x(?:\w|\.[0-9])*|(?:[0-9]|\.[0-9])(?:[eE][+-]|\w|\.[0-9])*`, role: Number},
	{pattern: `[a-zA-Z_]\w*`, role: Name},
	{pattern: `[()\[\]{},:.?]`, role: Punctuation},
	{pattern: `&&|\|\||[=!<>]=|[<>!+*/%-]`, role: Operator},
	{pattern: `(?s:.)`, role: Unknown},
}

// anyQuotes is a pattern of strings in double quotes, for strings in single quotes as well.
func anyQuotes(pattern string) string { return pattern + "|" + strings.ReplaceAll(pattern, `"`, "'") }

var tokens = func() *regexp.Regexp {
	var patterns []string
	for _, k := range kinds {
		patterns = append(patterns, "("+k.pattern+")")
	}
	return regexp.MustCompile(strings.Join(patterns, "|"))
}()

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
