package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// encodeJSON writes a value, indented by so much. Characters that could steer a terminal are written as \u
// escapes, which JSON reads back as they were.
func encodeJSON(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return escapeUnsafe(b.Bytes()), nil
}

// escapeUnsafe escapes what Sanitize would. In JSON, such characters other than the encoder's own line
// breaks can only be inside strings.
func escapeUnsafe(data []byte) []byte {
	return escape(data, func(b *bytes.Buffer, r rune) {
		if r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
			return
		}
		fmt.Fprintf(b, `\u%04x`, r)
	})
}

// escape replaces what Sanitize would escape, but for line breaks.
func escape(data []byte, write func(b *bytes.Buffer, r rune)) []byte {
	if !unsafeText(string(data)) {
		return data
	}
	var b bytes.Buffer
	var guard inspect.Guard
	for _, r := range string(data) {
		if guard.Unsafe(r) && r != '\n' {
			write(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// unsafeText reports whether Sanitize would escape something, but for line breaks.
func unsafeText(s string) bool {
	var guard inspect.Guard
	for _, r := range s {
		if guard.Unsafe(r) && r != '\n' {
			return true
		}
	}
	return false
}

// encodeYAML writes a value as kubectl does, with escapes as in encodeJSON.
//
// YAML has escapes only in double quotes, and its encoder quotes a string when there is a control
// character in it. So strings that need escapes get a seal in front, which ends with a control character;
// it is taken off again, and what the encoder left as it is becomes escapes. A seal is one character longer
// than any row of that character in the value, so nothing else looks like one.
func encodeYAML(value any) ([]byte, error) {
	tree, err := toTree(value)
	if err != nil {
		return nil, err
	}
	longest, unsafe := 0, false
	eachString(tree, func(s string) {
		longest, unsafe = max(longest, longestRow(s)), unsafe || unsafeText(s)
	})
	seal := strings.Repeat(string(sealed), longest+1)
	if unsafe { // a copy of a large tree is made only if something in it differs
		tree = mapStrings(tree, func(s string) string {
			if unsafeText(s) {
				return seal + "\x01" + s
			}
			return s
		})
	}
	out, err := marshalYAML(tree)
	if err != nil || !unsafe {
		return out, err
	}
	out = bytes.ReplaceAll(out, []byte(seal+`\x01`), nil)
	return escape(out, func(b *bytes.Buffer, r rune) { fmt.Fprintf(b, `\U%08X`, r) }), nil
}

// marshalYAML writes a decoded JSON value. The encoder takes tens of times what it writes, so the items of a
// list are given to it one by one.
func marshalYAML(tree any) ([]byte, error) {
	var b bytes.Buffer
	write := func(part any) error {
		data, err := yaml.Marshal(part)
		if err != nil {
			return fmt.Errorf("encoding YAML: %w", err)
		}
		b.Write(data)
		return nil
	}
	object, _ := tree.(map[string]any)
	items, _ := object["items"].([]any)
	if len(items) == 0 {
		err := write(tree)
		return b.Bytes(), err
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "items" {
			if err := write(map[string]any{key: object[key]}); err != nil {
				return nil, err
			}
			continue
		}
		b.WriteString("items:\n")
		for _, item := range items {
			if err := write([]any{item}); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

// sealed is a character for private use, which the encoder writes as it is.
const sealed = '\uE000'

// longestRow is the length of the longest row of the character that seals are made of.
func longestRow(s string) (longest int) {
	row := 0
	for _, r := range s {
		if r != sealed {
			row = 0
			continue
		}
		row++
		longest = max(longest, row)
	}
	return longest
}

// eachString calls look for every string in a decoded JSON value, keys too.
func eachString(value any, look func(string)) {
	switch value := value.(type) {
	case string:
		look(value)
	case []any:
		for _, v := range value {
			eachString(v, look)
		}
	case map[string]any:
		for k, v := range value {
			look(k)
			eachString(v, look)
		}
	}
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
