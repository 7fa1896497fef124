package yamlpatch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v3"
)

// randomNode is a node of some depth, in some style, with some comments, and lists the JSON pointers in it.
func randomNode(r *rand.Rand, depth int, path string, pointers *[]string) *yaml.Node {
	n := &yaml.Node{}
	if r.IntN(4) == 0 && path != "" {
		n.LineComment = "# " + path
	}
	switch kind := r.IntN(6); {
	case depth == 0 || kind < 2 && path != "":
		n.Kind, n.Tag = yaml.ScalarNode, "!!str"
		texts := []string{"plain", "it's: not", "a && b || c[\"x\"]", "two\nlines", "two\nlines\n", "5", "", "ä # ö"}
		n.Value = texts[r.IntN(len(texts))]
		n.Style = []yaml.Style{0, 0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}[r.IntN(6)]
	case kind < 4:
		n.Kind = yaml.SequenceNode
		for i := range r.IntN(4) {
			n.Content = append(n.Content, randomNode(r, depth-1, fmt.Sprintf("%s/%d", path, i), pointers))
		}
		*pointers = append(*pointers, path+"/-")
	default:
		n.Kind = yaml.MappingNode
		for i := range r.IntN(4) {
			key := fmt.Sprintf("k%d", i)
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, randomNode(r, depth-1, path+"/"+key, pointers))
		}
		*pointers = append(*pointers, path+"/new")
	}
	if n.Kind != yaml.ScalarNode && r.IntN(5) == 0 {
		n.Style = yaml.FlowStyle
	}
	if path != "" {
		*pointers = append(*pointers, path)
	}
	return n
}

// TestApplyToRandomTexts: what Apply returns is right, since it checks that itself. Here it is looked whether
// the comments at both ends are kept, which they may not be where there are some within flow style.
func TestApplyToRandomTexts(t *testing.T) {
	values := []any{"x", "a: b", "two\nlines", 7, []any{map[string]any{"k": "v"}}, map[string]any{"a": "b"}}
	done, lost := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var pointers []string
		root := randomNode(r, 4, "", &pointers)
		if root.Kind == yaml.ScalarNode {
			continue
		}
		var text bytes.Buffer
		encoder := yaml.NewEncoder(&text)
		encoder.SetIndent(2 + r.IntN(3))
		if r.IntN(2) == 0 {
			encoder.CompactSeqIndent()
		}
		if err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "spec"}, root}}); err != nil {
			t.Fatal(err)
		}
		pointer := pointers[r.IntN(len(pointers))]
		op := Operation{"add", "/spec" + pointer, values[r.IntN(len(values))]}
		if existing := !strings.HasSuffix(pointer, "/-") && !strings.HasSuffix(pointer, "/new"); existing {
			op.Op = []string{"add", "replace", "remove"}[r.IntN(3)]
		}
		if op.Op == "remove" {
			op.Value = nil
		}
		if yaml.Unmarshal(text.Bytes(), &yaml.Node{}) != nil {
			continue // the encoder does not write every comment where it can stand
		}
		const head, foot = "# head\nz: 1 # z\n", "\n# foot\n"
		before := head + text.String() + foot
		result, err := Apply([]byte(before), each(op))
		if err != nil {
			t.Errorf("seed %d: %+v: %v\n%s", seed, op, err, before)
			continue
		}
		done++
		if after := string(result.Text); !strings.HasPrefix(after, head) || !strings.HasSuffix(after, foot) {
			if lost++; !strings.Contains(before, "[") && !strings.Contains(before, "{") {
				t.Errorf("seed %d: %+v\n%s\nbecame\n%s", seed, op, before, after)
			}
		}
	}
	t.Logf("of %d texts %d lost comments", done, lost)
	if lost*20 > done {
		t.Errorf("of %d texts the comments are lost", lost)
	}
	if done < 500 {
		t.Errorf("only %d texts", done)
	}
}

// FuzzApply makes sure that no text makes Apply panic.
func FuzzApply(f *testing.F) {
	f.Add("a: {b: [1, 2]}\n", "/a/b/0", "remove")
	f.Add("a:\n- - x\n  - |2\n   y\n", "/a/0/1", "replace")
	f.Add("{\t\"a\": 1}", "/b", "add")
	f.Add("a: \"x\n", "/a", "replace")
	f.Add("? {a: b}\n: - c\n  # d\n", "/a/0", "add")
	f.Add("a: &x [*x]\n", "/a/0", "add")
	f.Fuzz(func(t *testing.T, text, path, op string) {
		if !strings.HasPrefix(path, "/") || len(text) > 1000 {
			return
		}
		result, err := Apply([]byte(text), each(Operation{Op: op, Path: path, Value: "v"}))
		if err == nil && result == nil {
			t.Error("neither a result nor an error")
		}
	})
}
