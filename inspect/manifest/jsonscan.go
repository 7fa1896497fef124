package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The functions here find where JSON values begin and end without decoding or copying them, so that a
// large List is decoded item by item. They accept more than JSON: what lies within a value is checked
// by the decoder that reads it later. They use no recursion, so depth costs no stack.

// A scanError is a place where the data cannot be JSON, or is nested too deep.
type scanError struct {
	offset  int
	detail  string
	tooDeep bool
}

func (e *scanError) Error() string { return e.detail }

// extent is a half-open range of bytes.
type extent struct{ from, to int }

// skipSpace returns the offset of the first byte at or after i that is not JSON white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// skipString returns the offset behind the string that begins at i.
func skipString(data []byte, i int) (int, error) {
	start := i
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1, nil
		case '\n':
			return 0, &scanError{offset: start, detail: "a string is not closed on its line"}
		}
	}
	return 0, &scanError{offset: start, detail: "the text ends within a string"}
}

// skipValue returns the offset behind the value that begins at i, which is not white space. Lists and objects
// within each other may be maxDepth deep.
func skipValue(data []byte, i, maxDepth int) (int, error) {
	if i >= len(data) {
		return 0, &scanError{offset: len(data), detail: "the text ends where a value is expected"}
	}
	start, depth := i, 0
	for i < len(data) {
		switch c := data[i]; c {
		case '"':
			end, err := skipString(data, i)
			if err != nil {
				return 0, err
			}
			i = end
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, &scanError{offset: i, detail: fmt.Sprintf("lists and objects are nested more than %d deep", maxDepth), tooDeep: true}
			}
			i++
		case '}', ']':
			if depth == 0 {
				return 0, &scanError{offset: i, detail: "there is a closing bracket where a value is expected"}
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return 0, &scanError{offset: i, detail: "there is no value"}
			}
			i++
			continue
		default:
			i = skipLiteral(data, i)
		}
		if depth == 0 {
			return i, nil
		}
	}
	return 0, &scanError{offset: start, detail: "an object or list is not closed: the text is incomplete"}
}

// skipLiteral returns the offset behind a number, true, false, null or anything else that is one word.
func skipLiteral(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ',', ':', ' ', '\t', '\r', '\n', '{', '}', '[', ']', '"':
			return i
		}
		i++
	}
	return i
}

// head is what must be known of an object before it can be decoded.
type head struct {
	apiVersion, kind string
	items            extent // of the top-level field "items"; it is empty if there is none
	keys             []string
}

// maxHeadKeys bounds how many top-level keys are remembered for messages.
const maxHeadKeys = 16

// scanHead reads the top level of the object that data begins with.
func scanHead(data []byte, maxDepth int) (head, error) {
	var h head
	i := skipSpace(data, 1)
	for i < len(data) && data[i] != '}' {
		if data[i] != '"' {
			return h, &scanError{offset: i, detail: "a field name must be a string in double quotes"}
		}
		keyEnd, err := skipString(data, i)
		if err != nil {
			return h, err
		}
		key := stringAt(data, extent{i, keyEnd})
		if i = skipSpace(data, keyEnd); i >= len(data) || data[i] != ':' {
			return h, &scanError{offset: i, detail: "a field name must be followed by a colon"}
		}
		i = skipSpace(data, i+1)
		end, err := skipValue(data, i, maxDepth)
		if err != nil {
			return h, err
		}
		h.set(key, data, extent{i, end})
		if i = skipSpace(data, end); i < len(data) && data[i] == ',' {
			i = skipSpace(data, i+1)
		} else if i < len(data) && data[i] != '}' {
			return h, &scanError{offset: i, detail: "fields must be separated by commas"}
		}
	}
	return h, nil
}

func (h *head) set(key string, data []byte, value extent) {
	switch key {
	case "apiVersion":
		h.apiVersion = stringAt(data, value)
	case "kind":
		h.kind = stringAt(data, value)
	case "items":
		h.items = value
	}
	if len(h.keys) < maxHeadKeys {
		h.keys = append(h.keys, key)
	}
}

// stringAt decodes the string at an extent; anything else gives "".
func stringAt(data []byte, at extent) string {
	var s string
	_ = json.Unmarshal(data[at.from:at.to], &s) // anything else leaves it empty
	return s
}

// scanItems calls f for each element of the list at an extent, in order.
func scanItems(data []byte, list extent, maxDepth int, f func(extent) error) error {
	i := skipSpace(data, list.from+1)
	for i < list.to && data[i] != ']' {
		end, err := skipValue(data, i, maxDepth)
		if err != nil {
			return err
		}
		if err := f(extent{i, end}); err != nil {
			return err
		}
		if i = skipSpace(data, end); i < list.to && data[i] == ',' {
			i = skipSpace(data, i+1)
		} else if i < list.to && data[i] != ']' {
			return &scanError{offset: i, detail: "list items must be separated by commas"}
		}
	}
	return nil
}

// asScanError returns the scanError within err, if any.
func asScanError(err error) *scanError {
	var scan *scanError
	if errors.As(err, &scan) {
		return scan
	}
	return nil
}
