package manifest

import (
	"bytes"
	"encoding/json"
)

// resource.Quantity parses some short texts for hours: 1e-2000000000 makes it compute with two billion
// digits. The API server has the same weakness; a program that reads files of unknown origin may not.

const (
	maxExponentDigits = 3    // digits of an exponent; real quantities need two
	maxNumberDigits   = 1000 // digits of a number
)

// hasEndlessNumber reports whether data holds a number that resource.Quantity may need too long for:
// one with a huge exponent, or with very many digits.
func hasEndlessNumber(data []byte) bool {
	run := 0
	for i, c := range data {
		switch {
		case isDigit(c) || c == '.':
			run++
			if run > maxNumberDigits {
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

// guardQuantities returns nil when all numbers of an object are harmless. Else it returns the object
// with text in place of the others: where that cannot be decoded, one of them stood for a quantity.
func guardQuantities(raw []byte) []byte {
	if !hasEndlessNumber(raw) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil // escapes could hide such a number
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	tree, found := replaceEndless(tree)
	guarded, err := json.Marshal(tree)
	if err != nil || !found {
		return nil
	}
	return guarded
}

// replaceEndless replaces endless numbers within a value and reports whether there were any.
func replaceEndless(value any) (replaced any, found bool) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			var here bool
			v[key], here = replaceEndless(v[key])
			found = found || here
		}
	case []any:
		for i := range v {
			var here bool
			v[i], here = replaceEndless(v[i])
			found = found || here
		}
	case string:
		if hasEndlessNumber([]byte(v)) {
			return "out of range: " + printable(v, maxSnippetLength), true
		}
	case json.Number:
		if hasEndlessNumber([]byte(v)) {
			return "out of range: " + printable(v.String(), maxSnippetLength), true
		}
	}
	return value, found
}
