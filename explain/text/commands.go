package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FixLines lays out one fix of an explanation.
func FixLines(e *explain.Explanation, i int, opts Options) []styled.Line {
	p := newPage(e, opts)
	f := &e.Fixes[i]
	spans := []styled.Span{
		{Text: fmt.Sprintf("Fix %d of %d", i+1, len(e.Fixes)), Role: styled.Strong},
		span(styled.Plain, " for "+e.Subject.FullName()+", up to "+actorsText(f.Actors(e.Subject))+": "+f.Message),
	}
	if where := fixWhere(f); where != "" {
		spans = append(spans, span(styled.Good, " → "+where))
	}
	p.add("", "  ", spans...)
	for j := range f.OtherBlockers {
		p.beside(&f.OtherBlockers[j])
	}
	p.carriedOut(f)
	return p.lines
}

// CauseFixLines lays out one fix of a cause.
func CauseFixLines(c *explain.Cause, i int, opts Options) []styled.Line {
	f := &c.Fixes[i]
	p := newPage(&explain.Explanation{Subject: f.Of}, opts)
	message := f.Message
	if len(f.Loses) > 0 {
		message += "; then " + words.Shorten(fullNames(f.Loses), maxSubjects) + " no longer " + words.Plural(len(f.Loses), "fits", "fit")
	}
	p.add("", "  ", styled.Span{Text: fmt.Sprintf("Fix %d of %d", i+1, len(c.Fixes)), Role: styled.Strong},
		span(styled.Plain, ", up to "+actorsText(f.Actors(f.Of))+": "+message+" → "), span(styled.Good, freesText(f)))
	p.carriedOut(&f.Fix)
	return p.lines
}

// carriedOut shows what a fix changes, and the commands.
func (p *page) carriedOut(f *explain.Fix) {
	p.changes(f.Changes)
	p.blank()
	if len(f.Commands) == 0 {
		p.add("", "  ", styled.Span{Text: "Commands", Role: styled.Strong}, styled.Span{Text: "  none"})
	} else {
		p.add("", "  ", styled.Span{Text: "Commands", Role: styled.Strong})
	}
	p.commands(f.Commands, "    ")
	for _, r := range f.Remarks {
		p.add("  ", "  ", span(styled.Dim, r))
	}
}

// changes shows what becomes of objects.
func (p *page) changes(changes []explain.ObjectChange) {
	for _, c := range changes {
		name := c.Name
		if c.Namespace != "" {
			name = c.Namespace + "/" + name
		}
		p.blank()
		p.add("", "  ", styled.Span{Text: "Change", Role: styled.Strong}, span(styled.Plain, "  "+changeVerb(c)+c.Kind+" "), span(styled.Name, name))
		for _, op := range c.Patch {
			spans := []styled.Span{span(styled.Plain, op.Op+" "), span(styled.Dim, op.Path)}
			if op.Op != "remove" {
				spans = append(spans, span(styled.Plain, " "+valueText(op.Value)))
			}
			p.add("    ", "      ", spans...)
		}
	}
}

func changeVerb(c explain.ObjectChange) string {
	if c.Creates {
		return "create "
	}
	return ""
}

// valueText is a value of a patch, in JSON.
func valueText(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

// howTo shows how a fix of the list is carried out: with Verbose all commands, else the first one of the
// first fix that has any.
func (p *page) howTo(i int) {
	f := &p.e.Fixes[i]
	first := slices.IndexFunc(p.e.Fixes, func(f explain.Fix) bool { return len(f.Commands) > 0 })
	switch {
	case p.opts.Verbose:
		p.commands(f.Commands, "       ")
	case i != first:
		return
	default:
		p.commands(f.Commands[:1], "       ")
		if len(f.Commands) > 1 {
			rest := "; --fix shows all"
			if p.opts.Screen {
				rest = p.opts.more("shows all")
			}
			p.add("     ", "     ", styled.Span{Text: "then " + words.Count(len(f.Commands)-1, "more command") + rest, Role: styled.Dim})
		}
	}
	for _, r := range f.Remarks {
		p.add("     ", "     ", span(styled.Dim, r))
	}
}

// commands shows commands in such a way that they can be pasted: a line that is too long goes on behind a
// backslash, or behind the bar of a pipe.
func (p *page) commands(commands []string, indent string) {
	for _, c := range commands {
		for i, line := range foldCommand(inspect.Sanitize(c), p.opts.Width-len(indent)) {
			if i > 0 {
				line = "  " + line
			}
			p.lines = append(p.lines, styled.Line{{Text: indent}, {Text: line, Role: styled.Accent}})
		}
	}
}

// foldCommand folds a command into lines of at most so many columns, so that a shell reads them as it reads
// the command. A flag stays with its value where there is room. From the second line on there is room for two
// columns of indentation.
func foldCommand(command string, width int) []string {
	if styled.Width(command) <= width {
		return []string{command}
	}
	f := folder{width: width}
	for _, words := range together(shellWords(command)) {
		if len(words) > 1 && styled.Width(strings.Join(words, " ")) > f.room(1) {
			for _, word := range words {
				f.add(word)
			}
			continue
		}
		f.add(strings.Join(words, " "))
	}
	return append(f.out, strings.Join(f.line, " "))
}

// folder puts words into lines.
type folder struct {
	width     int
	out, line []string
}

// room is what a line has beside its backslash, given how many come before it.
func (f *folder) room(before int) int { return f.width - len(` \`) - 2*min(before, 1) }

// add puts a word into the line that is begun, or into a new one.
func (f *folder) add(word string) {
	switch {
	case word == "|": // it takes the place of the backslash
		f.out, f.line = append(f.out, strings.Join(f.line, " ")+" |"), nil
		return
	case len(f.line) > 0 && styled.Width(strings.Join(f.line, " "))+1+styled.Width(word) > f.room(len(f.out)):
		f.end()
	}
	if styled.Width(word) <= f.room(len(f.out)) {
		f.line = append(f.line, word)
		return
	}
	text, ok := unquote(word)
	if !ok {
		f.line = append(f.line, word)
		return
	}
	f.line = append(f.line, `"$(printf %s`)
	f.end()
	for piece := f.piece(text); len(piece) < len(text); piece = f.piece(text) {
		f.line = append(f.line, quoted(piece))
		f.end()
		text = text[len(piece):]
	}
	f.line = append(f.line, quoted(text)+`)"`)
}

// piece is as much of the beginning of a text as a line has room for in quotes.
func (f *folder) piece(text string) string {
	end := 0
	for end < len(text) {
		_, size := utf8.DecodeRuneInString(text[end:])
		if end > 0 && styled.Width(quoted(text[:end+size]))+len(`)"`) > f.room(1) {
			break
		}
		end += size
	}
	return text[:end]
}

// end ends the line that is begun.
func (f *folder) end() { f.out, f.line = append(f.out, strings.Join(f.line, " ")+` \`), nil }

// together joins words that should stay on a line: a flag and its value, and where output goes.
func together(words []string) [][]string {
	var out [][]string
	for i, word := range words {
		opens := i > 0 && (words[i-1] == ">" || strings.HasPrefix(words[i-1], "-") && len(words[i-1]) > 1 && !strings.Contains(words[i-1], "="))
		if opens && word != "|" && word != ">" && !strings.HasPrefix(word, "-") {
			out[len(out)-1] = append(out[len(out)-1], word)
			continue
		}
		out = append(out, []string{word})
	}
	return out
}

// shellWords splits a command at blanks that are not in single quotes.
func shellWords(command string) []string {
	var out []string
	quoted, start := false, 0
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && !quoted:
			i++
		case command[i] == '\'':
			quoted = !quoted
		case command[i] == ' ' && !quoted:
			out, start = append(out, command[start:i]), i+1
		}
	}
	return append(out, command[start:])
}

// quoted is a text as a shell reads it in single quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// unquote is what a shell makes of a word. ok is false if that takes more than to remove quotes.
func unquote(word string) (text string, ok bool) {
	var b strings.Builder
	in := false
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '\'':
			in = !in
		case !in && c == '\\' && i+1 < len(word):
			i++
			b.WriteByte(word[i])
		case !in && strings.IndexByte("\\$`\"*?[]{}()<>|&;!#~", c) >= 0:
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), !in
}
