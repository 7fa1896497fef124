package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// encodeJSON writes a value as kubectl indents it. Characters that could steer a terminal are written
// as \u escapes, which JSON reads back as they were.
func encodeJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return escapeUnsafe(b.Bytes()), nil
}

// escapeUnsafe escapes what Sanitize would. In JSON, such characters other than the encoder's own line
// breaks can only be inside strings.
func escapeUnsafe(data []byte) []byte {
	if !bytes.ContainsFunc(data, func(r rune) bool { return r != '\n' && inspect.Unsafe(r) }) {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		switch {
		case r == '\n' || !inspect.Unsafe(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// yamlMark surrounds the code point of a character that the YAML encoder would leave as it is. That
// there is a control character in it makes the encoder quote the string.
const yamlMark = "\x01"

// encodeYAML writes a value as kubectl does, with escapes as in encodeJSON.
func encodeYAML(value any) ([]byte, error) {
	tree, err := toTree(value)
	if err != nil {
		return nil, err
	}
	out, err := yaml.Marshal(mapStrings(tree, markUnsafe))
	if err != nil {
		return nil, fmt.Errorf("encoding YAML: %w", err)
	}
	return unmark(out), nil
}

// markUnsafe replaces the characters above ASCII that Sanitize would escape. The YAML encoder escapes
// ASCII control characters by itself.
func markUnsafe(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7E && inspect.Unsafe(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r > 0x7E && inspect.Unsafe(r) {
			fmt.Fprintf(&b, "%s%08X%s", yamlMark, r, yamlMark)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unmark turns marks into YAML escapes. In encoded YAML a mark is the four characters \x01.
func unmark(data []byte) []byte {
	const mark = `\x01`
	parts := strings.Split(string(data), mark)
	if len(parts) == 1 {
		return data
	}
	var b strings.Builder
	b.WriteString(parts[0])
	for i := 1; i < len(parts); i++ {
		if i+1 < len(parts) && isCodePoint(parts[i]) {
			b.WriteString(`\U` + parts[i] + parts[i+1])
			i++
			continue
		}
		b.WriteString(mark + parts[i])
	}
	return []byte(b.String())
}

func isCodePoint(s string) bool {
	return len(s) == 8 && strings.Trim(s, "0123456789ABCDEF") == ""
}

// mapStrings returns a copy of a decoded JSON value with every string replaced, keys too.
func mapStrings(value any, replace func(string) string) any {
	switch value := value.(type) {
	case string:
		return replace(value)
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = mapStrings(v, replace)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for k, v := range value {
			out[replace(k)] = mapStrings(v, replace)
		}
		return out
	}
	return value
}
