package yamlpatch

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// place is where an operation takes place.
type place struct {
	parent *yaml.Node
	key    string // of a mapping
	index  int    // of the key in the content of a mapping, or of the item of a sequence; -1 where there is none yet
	flow   bool   // the parent is in flow style, or within such
	// holder is the key of the parent, if the parent is the value of one.
	holder *yaml.Node
}

// value is the node that is there, or nil.
func (p *place) value() *yaml.Node {
	switch {
	case p.index < 0:
		return nil
	case p.parent.Kind == yaml.MappingNode:
		return p.parent.Content[p.index+1]
	}
	return p.parent.Content[p.index]
}

// locate finds the place of a JSON pointer. It is nil if there is no such place.
func (d *document) locate(pointer string) *place {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	p := &place{parent: d.root}
	for i, token := range tokens {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		p.flow = p.flow || p.parent.Style&yaml.FlowStyle != 0
		if p.index = indexOf(p.parent, token); p.index < -1 {
			return nil
		}
		p.key = token
		if i == len(tokens)-1 {
			return p
		}
		next := p.value()
		if next == nil || next.Kind != yaml.MappingNode && next.Kind != yaml.SequenceNode {
			return nil
		}
		if p.holder = nil; p.parent.Kind == yaml.MappingNode {
			p.holder = p.parent.Content[p.index]
		}
		p.parent = next
	}
	return nil
}

// indexOf finds a token in a mapping or a sequence. It is -1 for what can be added, and less for what cannot be.
func indexOf(parent *yaml.Node, token string) int {
	switch parent.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(parent.Content); i += 2 {
			if parent.Content[i].Value == token {
				return i
			}
		}
		return -1
	case yaml.SequenceNode:
		n, err := strconv.Atoi(token)
		if token == "-" || err == nil && n == len(parent.Content) {
			return -1
		}
		if err == nil && n >= 0 && n < len(parent.Content) {
			return n
		}
	}
	return -2
}

// find is the node at a JSON pointer, or nil.
func (d *document) find(pointer string) *yaml.Node {
	if p := d.locate(pointer); p != nil {
		return p.value()
	}
	return nil
}

// splice applies an operation in place.
func (d *document) splice(op Operation) ([]byte, error) {
	p := d.locate(op.Path)
	if p == nil {
		return nil, fmt.Errorf("there is no %s", op.Path)
	}
	inserts := p.parent.Kind == yaml.SequenceNode && op.Op == "add"
	switch {
	case op.Op == "remove" && p.flow:
		return d.removeFlow(p)
	case op.Op == "remove":
		return d.removeBlock(p)
	case p.value() != nil && !inserts:
		return d.replace(p, op.Value)
	case p.flow || len(p.parent.Content) == 0:
		return d.insertFlow(p, op.Value)
	}
	return d.insertBlock(p, op.Value)
}

// with returns the text with a part of it replaced.
func (d *document) with(from, to int, by string) []byte {
	return bytes.Join([][]byte{d.text[:from], []byte(by), d.text[to:]}, nil)
}

// replace writes a value in place of another.
func (d *document) replace(p *place, value any) ([]byte, error) {
	old := p.value()
	from, err := d.start(old)
	if err != nil {
		return nil, err
	}
	to, err := d.end(old)
	if err != nil {
		return nil, err
	}
	r := d.renderer(p)
	block := !p.flow && old.Kind != yaml.ScalarNode && old.Style&yaml.FlowStyle == 0
	switch {
	case isEmpty(old), isScalar(value) && old.Kind != yaml.ScalarNode:
		return nil, errOdd
	case block && p.parent.Kind == yaml.MappingNode:
		return d.replaceLines(p, from, value)
	case block:
		return nil, errOdd
	}
	if old.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		text, err := r.block(string(d.text[from:to]), value)
		return d.with(from, to, text), err
	}
	text, err := r.scalar(value, old)
	if err != nil {
		return nil, err
	}
	return d.with(from, to, text), nil
}

// replaceLines writes a value on one line in place of one that begins at an offset, below its key.
func (d *document) replaceLines(p *place, from int, value any) ([]byte, error) {
	at, err := d.end(p.parent.Content[p.index])
	if err != nil {
		return nil, err
	}
	if at, err = d.behind(at, ':'); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(d.text[at:from])) > 0 { // a comment, which would be lost
		return nil, errOdd
	}
	to, err := d.linesEnd(p.value())
	if err != nil {
		return nil, err
	}
	text, err := renderer{}.inline(value)
	return d.with(at, to, d.newlines(" "+text+"\n")), err
}

// entry is what is written for a value: its key or dash, and the value.
func (d *document) entry(p *place, value any) (string, error) {
	r := d.renderer(p)
	if p.parent.Kind == yaml.MappingNode {
		return r.pair(p.key, value)
	}
	return r.item(value)
}

// insertBlock adds lines behind those of a mapping, or before an item of a sequence or behind all of them.
func (d *document) insertBlock(p *place, value any) ([]byte, error) {
	start, err := d.start(p.parent)
	if err != nil {
		return nil, err
	}
	indent := strings.Repeat(" ", start-d.lineStart(start)) // the first key may stand behind a dash
	text, err := d.entry(p, value)
	if err != nil {
		return nil, err
	}
	text = indent + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n"
	if p.index >= 0 { // before an item
		at, err := d.start(p.parent.Content[p.index])
		if err != nil {
			return nil, err
		}
		line := d.lineStart(at)
		if strings.TrimLeft(string(d.text[line:at]), " -") != "" {
			return nil, errOdd
		}
		return d.with(line, line, text), nil
	}
	at, err := d.linesEnd(p.parent)
	if err != nil {
		return nil, err
	}
	if at > 0 && d.text[at-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	return d.with(at, at, d.newlines(text)), nil
}

// newlines ends lines as the text does.
func (d *document) newlines(text string) string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// linesEnd is the offset behind the last line of a node.
func (d *document) linesEnd(n *yaml.Node) (int, error) {
	at, err := d.end(n)
	if err != nil || at > 0 && d.text[at-1] == '\n' {
		return at, err
	}
	rest := strings.TrimSpace(string(d.text[at:d.lineEnd(at)]))
	if rest != "" && !strings.HasPrefix(rest, "#") {
		return 0, errOdd
	}
	return d.nextLine(at), nil
}

// insertFlow adds a value to a mapping or a sequence in flow style, or to an empty one.
func (d *document) insertFlow(p *place, value any) ([]byte, error) {
	if p.parent.Style&yaml.FlowStyle == 0 && len(p.parent.Content) == 0 {
		return nil, errOdd
	}
	p.flow = true
	text, err := d.entry(p, value)
	if err != nil {
		return nil, err
	}
	start, err := d.start(p.parent)
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.parent.Content) == 0:
		return d.with(start+1, start+1, text), nil
	case p.index >= 0:
		at, err := d.start(p.parent.Content[p.index])
		if err != nil {
			return nil, err
		}
		return d.with(at, at, text+","+d.gap(p)), nil
	}
	at, err := d.end(p.parent.Content[len(p.parent.Content)-1])
	if err != nil {
		return nil, err
	}
	return d.with(at, at, ","+d.gap(p)+text), nil
}

// gap is what stands between the parts of a mapping or a sequence in flow style: what stands before the second part, or
// before the first if that begins a line.
func (d *document) gap(p *place) string {
	step := 1
	if p.parent.Kind == yaml.MappingNode {
		step = 2
	}
	first, err := d.start(p.parent.Content[0])
	if err != nil {
		return " "
	}
	if line := d.lineStart(first); strings.TrimSpace(string(d.text[line:first])) == "" {
		return d.newlines("\n") + string(d.text[line:first])
	}
	if len(p.parent.Content) > step {
		if second, err := d.start(p.parent.Content[step]); err == nil && d.text[second-1] == ',' {
			return ""
		}
	}
	return " "
}

// bounds are the offsets between which a part of a mapping or of a sequence stands: a key with its value, or an item.
func (d *document) bounds(p *place, index int) (from, to int, err error) {
	if from, err = d.start(p.parent.Content[index]); err != nil {
		return 0, 0, err
	}
	last := p.parent.Content[index]
	if p.parent.Kind == yaml.MappingNode {
		last = p.parent.Content[index+1]
		if isEmpty(last) {
			return 0, 0, errOdd
		}
	}
	to, err = d.end(last)
	return from, to, err
}

// removeFlow removes a part of a mapping or of a sequence in flow style, with the comma that belongs to it.
func (d *document) removeFlow(p *place) ([]byte, error) {
	if p.index < 0 {
		return nil, errOdd
	}
	from, to, err := d.bounds(p, p.index)
	if err != nil {
		return nil, err
	}
	step := 1
	if p.parent.Kind == yaml.MappingNode {
		step = 2
	}
	switch {
	case len(p.parent.Content) == step: // nothing is left but the brackets
		if from, err = d.start(p.parent); err != nil {
			return nil, err
		}
		if to, err = d.end(p.parent); err != nil {
			return nil, err
		}
		from, to = from+1, to-1
	case p.index == 0:
		if to, err = d.start(p.parent.Content[step]); err != nil {
			return nil, err
		}
	default:
		if _, from, err = d.bounds(p, p.index-step); err != nil {
			return nil, err
		}
	}
	return d.with(from, to, ""), nil
}

// removeBlock removes the lines of a part of a mapping or of a sequence. Comments above it stay.
func (d *document) removeBlock(p *place) ([]byte, error) {
	if p.index < 0 {
		return nil, errOdd
	}
	step := 1
	if p.parent.Kind == yaml.MappingNode {
		step = 2
	}
	from, err := d.start(p.parent.Content[p.index])
	if err != nil {
		return nil, err
	}
	line := d.lineStart(from)
	before := strings.TrimSpace(string(d.text[line:from]))
	if step == 1 {
		if before != "-" { // items within items, or a dash on a line of its own
			return nil, errOdd
		}
		before = ""
	}
	to, err := d.linesEnd(p.value())
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.parent.Content) == step:
		return d.removeLast(p, line, to, before)
	case before == "":
		return d.with(line, to, ""), nil
	case p.index == 0: // the first key behind a dash: the next one takes its place
		next, err := d.start(p.parent.Content[step])
		if err != nil {
			return nil, err
		}
		return d.with(from, next, ""), nil
	}
	return nil, errOdd
}

// removeLast removes the lines of the only part of a mapping or of a sequence, which is empty then.
func (d *document) removeLast(p *place, from, to int, before string) ([]byte, error) {
	if p.holder == nil || before != "" {
		return nil, errOdd
	}
	at, err := d.end(p.holder)
	if err != nil {
		return nil, err
	}
	if at, err = d.behind(at, ':'); err != nil || at > from {
		return nil, errOdd
	}
	empty := " {}"
	if p.parent.Kind == yaml.SequenceNode {
		empty = " []"
	}
	return bytes.Join([][]byte{d.text[:at], []byte(empty), d.text[at:from], d.text[to:]}, nil), nil
}
