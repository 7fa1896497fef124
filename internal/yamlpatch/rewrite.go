package yamlpatch

import (
	"bytes"
	"slices"

	yaml "go.yaml.in/yaml/v3"
)

// rewrite applies an operation to the nodes of a document, and writes the document anew.
func (d *document) rewrite(op Operation) ([]byte, error) {
	p := d.locate(op.Path)
	if p == nil || d.json {
		return nil, errOdd
	}
	node := &yaml.Node{}
	if err := node.Encode(op.Value); err != nil {
		return nil, err
	}
	if old := p.value(); old != nil && op.Op == "replace" {
		node.HeadComment, node.LineComment, node.FootComment = old.HeadComment, old.LineComment, old.FootComment
	}
	c := &p.parent.Content
	switch mapping := p.parent.Kind == yaml.MappingNode; {
	case op.Op == "remove" && p.index < 0:
		return nil, errOdd
	case op.Op == "remove" && mapping:
		*c = slices.Delete(*c, p.index, p.index+2)
	case op.Op == "remove":
		*c = slices.Delete(*c, p.index, p.index+1)
	case mapping && p.index >= 0:
		(*c)[p.index+1] = node
	case mapping:
		*c = append(*c, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: p.key}, node)
	case p.index < 0:
		*c = append(*c, node)
	case op.Op == "replace":
		(*c)[p.index] = node
	default:
		*c = slices.Insert(*c, p.index, node)
	}
	if len(p.parent.Content) == 0 {
		p.parent.Style |= yaml.FlowStyle
	}
	var b bytes.Buffer
	if bytes.HasPrefix(d.text, []byte("---")) {
		b.WriteString("---\n")
	}
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if !indentsLists(d.root) {
		encoder.CompactSeqIndent()
	}
	if err := encoder.Encode(d.node); err != nil {
		return nil, err
	}
	err := encoder.Close()
	return b.Bytes(), err
}
