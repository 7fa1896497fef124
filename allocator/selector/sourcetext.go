package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// sourceText is an expression whose parts are found by the offsets of its tree, which count characters.
type sourceText struct {
	text string
	// offsets are those of the characters in bytes, with that of the end.
	offsets []int
}

func newSourceText(text string) sourceText {
	s := sourceText{text: text, offsets: make([]int, 0, len(text)+1)}
	for i := range text {
		s.offsets = append(s.offsets, i)
	}
	s.offsets = append(s.offsets, len(text))
	return s
}

// at returns the span of a word that stands at a character. It returns false if another one does.
func (s sourceText) at(character int, word string) (span, bool) {
	if character < 0 || character >= len(s.offsets) {
		return span{}, false
	}
	start := s.offsets[character]
	return span{start, start + len(word)}, strings.HasPrefix(s.text[start:], word)
}

// before returns the span of a word that ends, but for blanks, before a character. It returns
// false if another one does.
func (s sourceText) before(character int, word string) (span, bool) {
	if character < 0 || character >= len(s.offsets) {
		return span{}, false
	}
	text := strings.TrimRight(s.text[:s.offsets[character]], blanks)
	return span{len(text) - len(word), len(text)}, strings.HasSuffix(text, word)
}

// endsWith reports whether the last byte that is no blank is this one, and is no part of a comment.
func (s sourceText) endsWith(last byte) bool {
	text := strings.TrimRight(s.text, blanks)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasSuffix(text, string(last)) && !strings.Contains(line, "//")
}

const blanks = " \t\r\n\f"

// FieldUse is a place of an expression that reads a field of the device.
type FieldUse struct {
	Field Field
	// Start and End are where the field is written, in bytes of the expression. The end is exclusive.
	Start, End int
}

// FieldUses returns where an expression reads fields by their names, in the order in which they are written.
// It returns nil for an expression that does not compile.
func (c *Cache) FieldUses(expression string) []FieldUse {
	_, parsed := c.Selector(expression).parse()
	if parsed == nil {
		return nil
	}
	f := fieldFinder{info: parsed.SourceInfo(), text: newSourceText(expression)}
	f.visit(parsed.Expr())
	slices.SortFunc(f.uses, func(a, b FieldUse) int { return a.Start - b.Start })
	return f.uses
}

type fieldFinder struct {
	info *ast.SourceInfo
	text sourceText
	uses []FieldUse
}

func (f *fieldFinder) visit(e ast.Expr) {
	e = sourceOf(e, f.info)
	if path := Path(e); len(path) == 3 && IsField(path[0]) {
		if at, ok := f.span(e); ok {
			f.uses = append(f.uses, FieldUse{Field{path[0], path[1], path[2]}, at.start, at.end})
		}
		return
	}
	for _, child := range Children(e) {
		f.visit(child)
	}
}

// span returns where a path is written, if there is nothing but blanks between its parts.
func (f *fieldFinder) span(e ast.Expr) (span, bool) {
	offset, ok := f.info.GetOffsetRange(e.ID())
	if !ok {
		return span{}, false
	}
	switch e.Kind() {
	case ast.IdentKind:
		return f.text.at(int(offset.Start), e.AsIdent())
	case ast.SelectKind:
		return f.behind(e.AsSelect().Operand(), offset, ".", e.AsSelect().FieldName())
	case ast.CallKind:
		key, _ := ConstantString(e.AsCall().Args()[1])
		operand := e.AsCall().Args()[0]
		switch e.AsCall().FunctionName() {
		case operators.OptSelect:
			return f.behind(operand, offset, ".", "?", key)
		case operators.OptIndex:
			return f.behind(operand, offset, "[", "?", f.quoted(e.AsCall().Args()[1], key), "]")
		case operators.Index:
			return f.behind(operand, offset, "[", f.quoted(e.AsCall().Args()[1], key), "]")
		}
	}
	return span{}, false
}

// quoted returns a key with the quotes that it has in the source.
func (f *fieldFinder) quoted(e ast.Expr, key string) string {
	offset, _ := f.info.GetOffsetRange(e.ID())
	if _, single := f.text.at(int(offset.Start), "'"); single {
		return "'" + key + "'"
	}
	return Quote(key)
}

// behind returns the span of a path that ends with some words, the first of them at an offset.
func (f *fieldFinder) behind(operand ast.Expr, offset ast.OffsetRange, words ...string) (span, bool) {
	at, ok := f.span(operand)
	if _, here := f.text.at(int(offset.Start), words[0]); !ok || !here {
		return span{}, false
	}
	for _, word := range words {
		rest := strings.TrimLeft(f.text.text[at.end:], blanks)
		if !strings.HasPrefix(rest, word) {
			return span{}, false
		}
		at.end = len(f.text.text) - len(rest) + len(word)
	}
	next, _ := utf8.DecodeRuneInString(f.text.text[at.end:])
	return at, !isWord(next) || words[len(words)-1] == "]"
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// sourceOf returns what is written in the place of an expression: of a macro its call.
func sourceOf(e ast.Expr, info *ast.SourceInfo) ast.Expr {
	if call, ok := info.GetMacroCall(e.ID()); ok {
		return call
	}
	return e
}

// ParseField reads the text of a field, as Field.Expression and Read.Expression have it.
func ParseField(expression string) (Field, bool) {
	kind, rest, ok := strings.Cut(strings.TrimPrefix(expression, "device."), "[")
	if !ok || !IsField(kind) {
		return Field{}, false
	}
	domain, rest, ok := cutQuoted(rest)
	if !ok || domain == "" {
		return Field{}, false
	}
	name, ok := strings.CutPrefix(rest, "].")
	if !ok {
		name, rest, ok = cutQuoted(strings.TrimPrefix(rest, "]["))
		ok = ok && rest == "]"
	}
	return Field{kind, domain, name}, ok && name != "" && strings.HasPrefix(expression, "device.")
}

// cutQuoted takes a string in quotes off the beginning.
func cutQuoted(s string) (text, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s, false
	}
	text, err = strconv.Unquote(quoted)
	return text, s[len(quoted):], err == nil
}
