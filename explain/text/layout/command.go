package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Commands shows commands in such a way that they can be pasted: a line that is too long goes on behind a
// backslash, or behind the bar of a pipe.
func (p *Page) Commands(commands []string, indent string) {
	for _, c := range commands {
		for i, line := range foldCommand(inspect.Sanitize(c), p.Width-len(indent)) {
			if i > 0 {
				line = "  " + line
			}
			p.Lines = append(p.Lines, styled.Line{{Text: indent}, {Text: line, Role: styled.Accent}})
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
