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

// width is the number of nodes that an entry has in the content of its parent.
func (e *entry) width() int {
	if e.inMapping() {
		return 2
	}
	return 1
}

// value is the value or the item, or nil if the entry is not there yet.
func (e *entry) value() *yaml.Node {
	if e.index < 0 {
		return nil
	}
	return e.parent.Content[e.index+e.width()-1]
}

// locate returns the entry that a JSON pointer names. It returns nil if there is no such place.
func (d *document) locate(pointer string) *entry {
	var e *entry
	at := d.root
	for _, token := range Tokens(pointer) {
		if at == nil {
			return nil
		}
		token = unescaped(token)
		e = &entry{parent: at, key: token, index: -1}
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
		at = e.value()
	}
	return e
}

// replaceScalar writes a scalar in place of another on its line. It returns false if that takes more than the
// line.
func (d *document) replaceScalar(old *yaml.Node, value any) (string, bool) {
	node, err := nodeOf(value, old)
	if err != nil || node.Kind != yaml.ScalarNode || old.Kind != yaml.ScalarNode {
		return "", false
	}
	was, errWas := d.scalar(old)
	is, errIs := d.scalar(node)
	lines := strings.SplitAfter(d.text, "\n")
	if errWas != nil || errIs != nil || was == "" || strings.Contains(is, "\n") || old.Line < 1 || old.Line > len(lines) {
		return "", false
	}
	line := []rune(lines[old.Line-1]) // columns are characters
	before := string(line[:min(len(line), old.Column-1)])
	rest, same := strings.CutPrefix(lines[old.Line-1][len(before):], was)
	lines[old.Line-1] = before + is + rest
	return strings.Join(lines, ""), same
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
	old := e.value()
	if op.Op == "add" && !e.inMapping() {
		old = nil // which stays
	}
	node, err := nodeOf(op.Value, old)
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
	if err == nil && strings.HasPrefix(d.text, "---") {
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
