package yamlpatch

import (
	"bytes"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// Where nodes stand in the text. The parser says where they begin.

// start is the offset at which a node begins; its anchor and tag are part of it.
func (d *document) start(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(d.lines) {
		return 0, errOdd
	}
	at := d.lines[n.Line-1]
	for range n.Column - 1 { // columns are characters
		if at >= len(d.text) {
			return 0, errOdd
		}
		_, size := utf8.DecodeRune(d.text[at:])
		at += size
	}
	return at, nil
}

// end is the offset behind a node.
func (d *document) end(n *yaml.Node) (int, error) {
	at, err := d.start(n)
	if err != nil {
		return 0, err
	}
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return 0, errOdd
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		return d.scalarEnd(n, at)
	case n.Style&yaml.FlowStyle != 0:
		return d.flowEnd(n, at)
	case len(n.Content) == 0:
		return 0, errOdd
	}
	last := n.Content[len(n.Content)-1]
	if n.Kind == yaml.MappingNode && isEmpty(last) {
		at, err := d.end(n.Content[len(n.Content)-2])
		if err != nil {
			return 0, err
		}
		return d.behind(at, ':')
	}
	return d.end(last)
}

// isEmpty reports whether a value is not written at all.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0
}

// flowEnd is the offset behind the bracket that closes a node in flow style.
func (d *document) flowEnd(n *yaml.Node, at int) (int, error) {
	if len(n.Content) > 0 {
		last := n.Content[len(n.Content)-1]
		if isEmpty(last) {
			return 0, errOdd
		}
		var err error
		if at, err = d.end(last); err != nil {
			return 0, err
		}
	} else {
		at++
	}
	closing := byte('}')
	if n.Kind == yaml.SequenceNode {
		closing = ']'
	}
	if next := d.skip(at); next < len(d.text) && d.text[next] == ',' { // a comma may be the last
		at = next + 1
	}
	return d.behind(at, closing)
}

// behind is the offset behind a character, which is the next but for blanks and comments.
func (d *document) behind(at int, c byte) (int, error) {
	if at = d.skip(at); at >= len(d.text) || d.text[at] != c {
		return 0, errOdd
	}
	return at + 1, nil
}

// skip is the offset of the next character that is no blank, no line break and in no comment.
func (d *document) skip(at int) int {
	for at < len(d.text) {
		switch c := d.text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#' && (at == 0 || strings.IndexByte(" \t\n", d.text[at-1]) >= 0):
			at = d.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

// lineEnd is the offset of the line break that ends a line, or the end of the text.
func (d *document) lineEnd(at int) int {
	if n := bytes.IndexByte(d.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(d.text)
}

// nextLine is the offset at which the next line begins, or the end of the text.
func (d *document) nextLine(at int) int { return min(d.lineEnd(at)+1, len(d.text)) }

// lineStart is the offset at which a line begins.
func (d *document) lineStart(at int) int { return bytes.LastIndexByte(d.text[:at], '\n') + 1 }

// scalarEnd is the offset behind a scalar that begins at an offset.
func (d *document) scalarEnd(n *yaml.Node, at int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := at + 1; i < len(d.text); i++ {
			switch d.text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, nil
			}
		}
		return 0, errOdd
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(d.text); i++ {
			if d.text[i] != '\'' {
				continue
			}
			if i+1 == len(d.text) || d.text[i+1] != '\'' {
				return i + 1, nil
			}
			i++
		}
		return 0, errOdd
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.blockEnd(at)
	}
	return d.plainEnd(n.Value, at)
}

// plainEnd is the offset behind a scalar without quotes. Where it goes over several lines, each line break and the blanks
// around it stand for a blank of its value, and empty lines for line breaks.
func (d *document) plainEnd(value string, at int) (int, error) {
	for i := 0; i < len(value); {
		if at >= len(d.text) {
			return 0, errOdd
		}
		if d.text[at] == value[i] && value[i] != ' ' && value[i] != '\n' {
			at, i = at+1, i+1
			continue
		}
		blanks := strings.TrimLeft(value[i:], " \n")
		next := at
		for next < len(d.text) && strings.IndexByte(" \t\r\n", d.text[next]) >= 0 {
			next++
		}
		if next == at || len(blanks) == len(value[i:]) {
			return 0, errOdd
		}
		at, i = next, len(value)-len(blanks)
	}
	return at, nil
}

// blockEnd is the offset behind a literal or folded scalar: the beginning of the line behind its last line.
func (d *document) blockEnd(at int) (int, error) {
	header := d.text[at:d.lineEnd(at)]
	if bytes.ContainsAny(bytes.SplitN(header, []byte("#"), 2)[0], "123456789") {
		return 0, errOdd // its indentation is given, and not to be seen
	}
	indent, end := -1, d.nextLine(at)
	for line := end; line < len(d.text); line = d.nextLine(line) {
		content := bytes.TrimLeft(d.text[line:d.lineEnd(line)], " ")
		if len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		width := d.lineEnd(line) - line - len(content)
		if indent < 0 {
			indent = width
		}
		if width < indent {
			break
		}
		end = d.nextLine(line)
	}
	if indent < 0 {
		return 0, errOdd
	}
	return end, nil
}
