package yamlpatch

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// An entry is a key of a mapping with its value, or an item of a sequence.
type entry struct {
	parent *yaml.Node
	key    string // of a mapping
	index  int    // in the content of the parent; -1 if the entry is not there yet
}

func (e *entry) inMapping() bool { return e.parent.Kind == yaml.MappingNode }

func (e *entry) inFlow() bool { return e.parent.Style&yaml.FlowStyle != 0 }

// width is the number of nodes that an entry has in the content of its parent.
func (e *entry) width() int {
	if e.inMapping() {
		return 2
	}
	return 1
}

// first is the node that the entry begins with: the key, or the item.
func (e *entry) first() *yaml.Node { return e.parent.Content[e.index] }

// value is the value or the item, or nil if the entry is not there yet.
func (e *entry) value() *yaml.Node {
	if e.index < 0 {
		return nil
	}
	return e.parent.Content[e.index+e.width()-1]
}

// locate returns the entries on the way of a JSON pointer, from the outermost to the one that it names. It
// returns nil if there is no such place.
func (d *document) locate(pointer string) []entry {
	var path []entry
	at := d.root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if at == nil {
			return nil
		}
		token = unescaped(token)
		e := entry{parent: at, key: token, index: -1}
		switch at.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(at.Content) && e.index < 0; i += 2 {
				if at.Content[i].Value == token {
					e.index = i
				}
			}
		case yaml.SequenceNode:
			n, err := strconv.Atoi(token)
			switch {
			case err == nil && n >= 0 && n < len(at.Content):
				e.index = n
			case token != "-" && (err != nil || n != len(at.Content)):
				return nil
			}
		default:
			return nil
		}
		path, at = append(path, e), e.value()
	}
	return path
}

// lineOf returns the line on which a node begins, cut at that place.
func (d *document) lineOf(n *yaml.Node) (before, from string, ok bool) {
	if n.Line < 1 || n.Line > len(d.lines) {
		return "", "", false
	}
	line, at := d.lines[n.Line-1], 0
	for offset := range line + "\n" {
		if at++; at == n.Column { // columns are characters
			return line[:offset], line[offset:], true
		}
	}
	return "", "", false
}

// linesOf returns the lines of the last entry of a path: from the one on which it begins to the next entry,
// without the comments and blank lines before that.
func (d *document) linesOf(path []entry) (from, to int) {
	from, to = path[len(path)-1].first().Line-1, len(d.lines)
	for i := range slices.Backward(path) {
		e := &path[i]
		if next := e.index + e.width(); next < len(e.parent.Content) {
			to = e.parent.Content[next].Line - 1
			break
		}
	}
	for to > from+1 && !hasContent(d.lines[to-1]) {
		to--
	}
	return from, to
}

func hasContent(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#' && line != "..."
}

// with returns the text with other lines in place of some.
func (d *document) with(from, to int, by string) string {
	before := strings.Join(d.lines[:from], "")
	if before != "" && !strings.HasSuffix(before, "\n") { // the text does not end with a line break
		before, by = before+"\n", strings.TrimSuffix(by, "\n")
	}
	return before + by + strings.Join(d.lines[to:], "")
}

// splice applies an operation to a scalar or to the lines of one entry. It returns false if the place has no
// lines of its own.
func (d *document) splice(op Operation, path []entry) (string, bool) {
	e := &path[len(path)-1]
	switch {
	case op.Op != "remove" && e.value() != nil && (e.inMapping() || op.Op == "replace"):
		if text, ok := d.replaceScalar(e.value(), op.Value); ok {
			return text, true
		}
		if d.json {
			return "", false
		}
		return d.replaceLines(op.Value, path)
	case d.json || slices.ContainsFunc(path, func(e entry) bool { return e.inFlow() }) || len(e.parent.Content) == 0:
		return "", false
	case op.Op == "remove":
		return d.removeLines(path)
	}
	return d.insertLines(op.Value, path)
}

// replaceScalar writes a scalar in place of another on its line.
func (d *document) replaceScalar(old *yaml.Node, value any) (string, bool) {
	node, err := nodeOf(value, old)
	if err != nil || node.Kind != yaml.ScalarNode || old.Kind != yaml.ScalarNode {
		return "", false
	}
	was, errWas := d.scalar(old)
	is, errIs := d.scalar(node)
	before, from, ok := d.lineOf(old)
	rest, same := strings.CutPrefix(from, was)
	if errWas != nil || errIs != nil || !ok || was == "" || !same || strings.Contains(is, "\n") {
		return "", false
	}
	return d.with(old.Line-1, old.Line, before+is+rest), true
}

// replaceLines writes the lines of a key anew, with another value.
func (d *document) replaceLines(value any, path []entry) (string, bool) {
	e := &path[len(path)-1]
	before, _, ok := d.lineOf(e.first())
	if !ok || !e.inMapping() || strings.Trim(before, " -") != "" {
		return "", false
	}
	node, err := nodeOf(value, e.value())
	if err != nil {
		return "", false
	}
	key := *e.first()
	key.HeadComment, key.FootComment, node.FootComment = "", "", "" // which stand above and below the lines
	text, err := d.encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{&key, node}})
	if err != nil {
		return "", false
	}
	from, to := d.linesOf(path)
	return d.with(from, to, before+indented(text, strings.Repeat(" ", key.Column-1))), true
}

// removeLines removes the lines of an entry. Comments above it stay.
func (d *document) removeLines(path []entry) (string, bool) {
	e := &path[len(path)-1]
	if e.index < 0 || !d.beginsLine(e) {
		return "", false
	}
	from, to := d.linesOf(path)
	if len(e.parent.Content) > e.width() {
		return d.with(from, to, ""), true
	}
	if len(path) < 2 || !path[len(path)-2].inMapping() {
		return "", false
	}
	holder := path[len(path)-2].first() // the key of what becomes empty
	before, text, ok := d.lineOf(holder)
	comment, ok2 := strings.CutPrefix(text, holder.Value+":")
	if !ok || !ok2 || holder.Line > from {
		return "", false
	}
	empty := " {}"
	if !e.inMapping() {
		empty = " []"
	}
	between := strings.Join(d.lines[holder.Line:from], "")
	return d.with(holder.Line-1, to, before+holder.Value+":"+empty+comment+between), true
}

// beginsLine reports whether nothing but blanks, and the dash of an item, stands before an entry on its line.
func (d *document) beginsLine(e *entry) bool {
	before, _, ok := d.lineOf(e.first())
	before = strings.TrimSpace(before)
	return ok && (before == "" && e.inMapping() || before == "-" && !e.inMapping())
}

// insertLines adds an entry behind those of its parent, or before an item.
func (d *document) insertLines(value any, path []entry) (string, bool) {
	e := &path[len(path)-1]
	added, err := nodeOf(value, nil)
	if err != nil {
		return "", false
	}
	node := &yaml.Node{Kind: e.parent.Kind, Content: []*yaml.Node{added}}
	if e.inMapping() {
		node.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.key}, added}
	}
	indent := strings.Repeat(" ", max(0, e.parent.Column-1))
	text, err := d.encode(node)
	if err != nil {
		return "", false
	}
	text = indent + indented(text, indent)
	if e.index >= 0 {
		at := e.first().Line - 1
		return d.with(at, at, text), d.beginsLine(e)
	}
	last := append(slices.Clip(path[:len(path)-1]), entry{parent: e.parent, index: len(e.parent.Content) - e.width()})
	_, at := d.linesOf(last)
	return d.with(at, at, text), true
}

// indented indents all lines but the first.
func indented(text, indent string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "")
}

// nodeOf is the node of a value, which may take the place of another.
func nodeOf(value any, old *yaml.Node) (*yaml.Node, error) {
	node := &yaml.Node{}
	if err := node.Encode(value); err != nil || old == nil {
		return node, err
	}
	const quotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if text, ok := value.(string); ok && old.Style&quotes != 0 {
		node.Style = old.Style & quotes
		if strings.Contains(strings.TrimSuffix(text, "\n"), "\n") {
			node.Style = yaml.LiteralStyle // in a folded one, line breaks would be blanks
		}
	}
	node.HeadComment, node.LineComment, node.FootComment = old.HeadComment, old.LineComment, old.FootComment
	return node, nil
}

// edit applies an operation to nodes.
func edit(op Operation, e *entry) bool {
	node, err := nodeOf(op.Value, e.value())
	if err != nil || op.Op == "remove" && e.index < 0 {
		return false
	}
	c := &e.parent.Content
	switch {
	case op.Op == "remove":
		*c = slices.Delete(*c, e.index, e.index+e.width())
	case e.inMapping() && e.index >= 0:
		(*c)[e.index+1] = node
	case e.inMapping():
		*c = append(*c, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.key}, node)
	case e.index < 0:
		*c = append(*c, node)
	case op.Op == "replace":
		(*c)[e.index] = node
	default:
		*c = slices.Insert(*c, e.index, node)
	}
	if len(*c) == 0 {
		e.parent.Style |= yaml.FlowStyle
	}
	return true
}

// openFlow turns flow style into blocks where it goes over several lines: the encoder would put all on one.
func openFlow(n *yaml.Node) {
	if n.Style&yaml.FlowStyle != 0 && lastLine(n) > n.Line {
		n.Style &^= yaml.FlowStyle
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode { // the encoder cannot write a comment behind a bracket
				c.HeadComment, c.LineComment = strings.TrimSpace(c.HeadComment+"\n"+c.LineComment), ""
			}
		}
	}
	for _, c := range n.Content {
		openFlow(c)
	}
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// dropComments drops the comments within a node, where the encoder cannot write them.
func dropComments(n *yaml.Node) {
	for _, c := range n.Content {
		c.HeadComment, c.LineComment, c.FootComment = "", "", ""
		dropComments(c)
	}
}

// whole is the whole document written anew.
func (d *document) whole() (string, error) {
	encoded, err := d.encode(d.node)
	if err == nil && strings.HasPrefix(d.text(), "---") {
		encoded = "---\n" + encoded
	}
	return encoded, err
}

var firstIndent = regexp.MustCompile(`\n([ \t]+)"`)

// notEscaped are what JSON is written without, though Go's encoder escapes them.
var notEscaped = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">")

// indentedJSON writes JSON with the indentation that another text has.
func indentedJSON(data []byte, like string) (string, error) {
	var out bytes.Buffer
	out.WriteString(like[:strings.IndexByte(like, '{')])
	if indent := firstIndent.FindStringSubmatch(like); indent == nil {
		out.Write(data)
	} else if err := json.Indent(&out, data, "", indent[1]); err != nil {
		return "", err
	}
	out.WriteString(like[strings.LastIndexByte(like, '}')+1:])
	return notEscaped.Replace(out.String()), nil
}

// scalar writes a scalar without its comments.
func (d *document) scalar(n *yaml.Node) (text string, err error) {
	switch {
	case !d.json:
		text, err = d.encode(&yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style})
	case n.ShortTag() == "!!str":
		var quoted []byte
		quoted, err = json.Marshal(n.Value)
		text = notEscaped.Replace(string(quoted))
	default:
		text = n.Value
	}
	return strings.TrimSuffix(text, "\n"), err
}

// encode writes a node as the document is written.
func (d *document) encode(n *yaml.Node) (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if !d.indented {
		encoder.CompactSeqIndent()
	}
	if err := encoder.Encode(n); err != nil {
		return "", err
	}
	err := encoder.Close()
	return b.String(), err
}

// indentsLists reports whether the first list below a key is indented.
func indentsLists(n *yaml.Node) (indented, found bool) {
	for i, c := range n.Content {
		isList := c.Kind == yaml.SequenceNode && c.Style&yaml.FlowStyle == 0 && len(c.Content) > 0
		if n.Kind == yaml.MappingNode && i%2 == 1 && isList {
			return c.Column > n.Content[i-1].Column, true
		}
		if indented, found = indentsLists(c); found {
			return indented, true
		}
	}
	return false, false
}
