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
		case run > 0 && (c == 'e' || c == 'E') && hugeExponent(data[i+1:]):
			return true
		default:
			run = 0
		}
	}
	return false
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
// them stood for a quantity; where it can, the original can be decoded as well.
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
	tree, found := replace(tree)
	guarded, err := json.Marshal(tree)
	if err != nil || !found {
		return nil
	}
	return guarded
}

// replace replaces what is unbounded within a value and reports whether there was any.
func replace(value any) (replaced any, found bool) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			var here bool
			v[key], here = replace(v[key])
			found = found || here
		}
	case []any:
		for i := range v {
			var here bool
			v[i], here = replace(v[i])
			found = found || here
		}
	case string:
		if !Bounded(v) {
			return "out of range: " + start(v), true
		}
	case json.Number:
		if !Bounded(v.String()) {
			return "out of range: " + start(v.String()), true
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
