package yamlpatch

import (
	"bytes"
	"encoding/json"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// renderer writes values as what stands around them is written.
type renderer struct {
	json, flow bool
	// indented says that lists are indented below their keys.
	indented bool
}

func (d *document) renderer(p *place) renderer {
	return renderer{json: d.json, flow: p.flow || d.json, indented: d.root != nil && indentsLists(d.root)}
}

// indentsLists reports whether the first list below a key is indented.
func indentsLists(n *yaml.Node) bool {
	indented, found := false, false
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, c := range n.Content {
			if found {
				return
			}
			if n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == yaml.SequenceNode && c.Style&yaml.FlowStyle == 0 && len(c.Content) > 0 {
				indented, found = c.Column > n.Content[i-1].Column, true
				return
			}
			walk(c)
		}
	}
	walk(n)
	return indented
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any, []string:
		return false
	}
	return true
}

// inline writes a value on one line, which is JSON.
func (r renderer) inline(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSpace(b.String()), err
}

// scalar writes a scalar that takes the place of another, with its quotes.
func (r renderer) scalar(value any, old *yaml.Node) (string, error) {
	text, isText := value.(string)
	if r.json || !isScalar(value) || isText && strings.Contains(text, "\n") {
		return r.inline(value)
	}
	node := &yaml.Node{}
	if err := node.Encode(value); err != nil {
		return "", err
	}
	if quotes := old.Style & (yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle); isText && quotes != 0 {
		node.Style = quotes
	}
	data, err := yaml.Marshal(node)
	text = strings.TrimSuffix(string(data), "\n")
	if r.flow && node.Style == 0 && strings.ContainsAny(text, ",[]{}") {
		return r.inline(value)
	}
	return text, err
}

// block writes a scalar in place of a literal or folded one, with its indentation.
func (r renderer) block(old string, value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		inline, err := r.inline(value)
		return inline + "\n", err
	}
	lineBreak := "\n"
	if strings.Contains(old, "\r\n") {
		lineBreak = "\r\n"
	}
	header, rest, _ := strings.Cut(old, lineBreak)
	indicator, comment, _ := strings.Cut(header, " ")
	first := strings.TrimLeft(rest, "\r\n")
	indent := first[:len(first)-len(strings.TrimLeft(first, " "))]
	body, ends := strings.CutSuffix(text, "\n")
	style := indicator[:1]
	if strings.Contains(body, "\n") {
		style = "|" // in a folded one, line breaks would be blanks
	}
	if !ends {
		style += "-"
	}
	if comment != "" {
		style += " " + comment
	}
	out := style
	for line := range strings.SplitSeq(body, "\n") {
		if out += lineBreak; line != "" {
			out += indent + line
		}
	}
	return out + lineBreak, nil
}

// pair writes a key with a value.
func (r renderer) pair(key string, value any) (string, error) {
	if r.flow {
		name, err := r.inline(key)
		if err != nil {
			return "", err
		}
		if !r.json {
			if name, err = r.scalar(key, &yaml.Node{}); err != nil {
				return "", err
			}
		}
		text, err := r.inline(value)
		return name + ": " + text, err
	}
	return r.lines(map[string]any{key: value})
}

// item writes an item of a sequence.
func (r renderer) item(value any) (string, error) {
	if r.flow {
		return r.inline(value)
	}
	return r.lines([]any{value})
}

// lines writes a value in block style, without the last line break.
func (r renderer) lines(value any) (string, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if !r.indented {
		encoder.CompactSeqIndent()
	}
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	err := encoder.Close()
	return strings.TrimSuffix(b.String(), "\n"), err
}
