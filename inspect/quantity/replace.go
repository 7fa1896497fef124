package quantity

import (
	"bytes"
	"encoding/json"
)

const maxExponentDigits = 3 // of MaxExponent

// Suspect reports whether encoded data, JSON or protobuf, may hold a text that is not Bounded. It is quick
// and errs on the side of caution: part of a UID may look like a number with an exponent.
func Suspect(data []byte) bool {
	run := 0
	for i, c := range data {
		switch {
		case isDigit(c) || c == '.':
			run++
			if run > MaxDigits {
				return true
			}
		case (c == 'e' || c == 'E') && (run > 0 || begins(data, i)) && hugeExponent(data[i+1:]):
			return true
		default:
			run = 0
		}
	}
	return false
}

// begins reports whether a text, but for a sign, space and escapes of space, may begin at i: "e2147483647" is
// a quantity, too.
func begins(data []byte, i int) bool {
	if i == 0 {
		return true
	}
	switch c := data[i-1]; {
	case c <= ' ', c >= 0x80, c == '"', c == '+', c == '-':
		return true
	}
	return i > 1 && data[i-2] == '\\'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hugeExponent reports whether data begins with a number, with or without a sign, of more digits than
// the exponent of any quantity needs.
func hugeExponent(data []byte) bool {
	if len(data) > 0 && (data[0] == '-' || data[0] == '+') {
		data = data[1:]
	}
	if len(data) <= maxExponentDigits {
		return false
	}
	for _, c := range data[:maxExponentDigits+1] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// Replace returns nil when no text or number of a JSON value is unbounded, or when it is no JSON. Else it
// returns the value with other text in place of those: where that cannot be decoded into an object, one of
// them stood for a quantity; where it can, the original can be decoded as well. Where a key that comes twice
// hides one of them, all of the value is replaced: decoders read what they then overwrite.
func Replace(raw []byte) []byte {
	if !Suspect(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil // escapes could hide such a number
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	all := count(raw)
	tree, found := replace(tree)
	if all != found {
		tree = "out of range"
	}
	guarded, err := json.Marshal(tree)
	if err != nil || all == 0 {
		return nil
	}
	return guarded
}

// nesting is an object or array that is open.
type nesting struct {
	object bool
	value  bool // of an object: a value comes next, not a key
}

// count counts the unbounded texts and numbers of a JSON value, but for the keys of objects.
func count(raw []byte) int {
	n := 0
	open := []nesting{{}}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	for token, err := decoder.Token(); err == nil; token, err = decoder.Token() {
		at := &open[len(open)-1]
		isKey := at.object && !at.value
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				open = open[:len(open)-1]
				continue
			}
			at.value = false
			open = append(open, nesting{object: v == '{'})
			continue
		case string:
			if !isKey && !Bounded(v) {
				n++
			}
		case json.Number:
			if !Bounded(v.String()) {
				n++
			}
		}
		at.value = isKey
	}
	return n
}

// replace replaces what is unbounded within a value, and returns how often.
func replace(value any) (replaced any, found int) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			var here int
			v[key], here = replace(v[key])
			found += here
		}
	case []any:
		for i := range v {
			var here int
			v[i], here = replace(v[i])
			found += here
		}
	case string:
		if !Bounded(v) {
			return "out of range: " + start(v), 1
		}
	case json.Number:
		if !Bounded(v.String()) {
			return "out of range: " + start(v.String()), 1
		}
	}
	return value, found
}

// start is the beginning of a text, long enough to be recognised.
func start(text string) string {
	const longest = 60
	if len(text) <= longest {
		return text
	}
	return text[:longest] + "…"
}
