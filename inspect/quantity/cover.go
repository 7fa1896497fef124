package quantity

import (
	"bytes"
	"encoding/binary"
)

// A quantity such as 1e-2000000000 takes forever to decode, so what could be one is found in the encoded data and
// covered in a copy. Where the copy can be decoded, nothing that was covered stood for a quantity, and the original
// can be decoded, too: a name may well look like that. The search must cost next to nothing beside decoding.

const (
	// exponentDigits is the least number of digits of an exponent that is not Bounded.
	exponentDigits = 4
	// mantissaDigits is the length of a run of digits from which on a number is looked at. One with more than
	// MaxDigits has at least one such run, for it has one point at most.
	mantissaDigits = MaxDigits / 2
)

// CoverJSON returns a copy of encoded JSON in which x stands for every number that is not Bounded, or nil when there is
// none. The copy has the same length.
func CoverJSON(data []byte) []byte { return cover(data, jsonNumber) }

// CoverProtobuf does the same with an encoded message.
func CoverProtobuf(data []byte) []byte { return cover(data, protobufNumber) }

// cover does it by a function that returns the texts around digits that may be numbers.
func cover(data []byte, number func(data []byte, from, to int) ([]span, int)) []byte {
	var covered []byte
	// A run of so many digits has one at a place that is looked at.
	for i := exponentDigits - 1; i < len(data); i += exponentDigits {
		if data[i]-'0' > 9 {
			continue
		}
		from, to := i, i+1
		for from > 0 && isDigit(data[from-1]) {
			from--
		}
		for to < len(data) && isDigit(data[to]) {
			to++
		}
		if i = to - 1; !isExponent(data, from, to) && to-from < mantissaDigits {
			continue
		}
		texts, end := number(data, from, to)
		i = max(i, end-1)
		for _, text := range texts {
			if Bounded(string(data[text.from:text.to])) {
				continue
			}
			if covered == nil {
				covered = bytes.Clone(data)
			}
			text.cover(covered)
		}
	}
	return covered
}

// isExponent reports whether a run of digits may be an exponent of more digits than a quantity needs. No digit need
// stand before it: "e2147483647" is a quantity, too.
func isExponent(data []byte, from, to int) bool {
	at := from - 1
	if to-from < exponentDigits || at < 0 {
		return false
	}
	if data[at] == '+' || data[at] == '-' {
		at--
	}
	return at >= 0 && data[at]|0x20 == 'e'
}

// span is a text within data.
type span struct {
	from, to int
	bare     bool // a number of JSON without quotes
}

// cover writes over the text what is no number.
func (s span) cover(data []byte) {
	for i := s.from; i < s.to; i++ {
		data[i] = 'x'
	}
	if s.bare {
		data[s.from], data[s.to-1] = '"', '"'
	}
}

func isNumeric(c byte) bool {
	return isDigit(c) || c == '.' || c == '+' || c == '-' || c|0x20 == 'e'
}

// longestVarint is the number of bytes that a length can have: zeros may be written out.
const longestVarint = 10

// protobufNumber returns the texts around digits that may be a field and are wholly numeric, and where what is
// numeric ends. Before a text is its length as a varint, of which only the last byte can look numeric itself, and
// before that the tag of the field, 1 in a quantity: 0x0A, or 0 at the end of a longer way to write it.
func protobufNumber(data []byte, from, to int) (texts []span, end int) {
	start := from
	for start > 0 && isNumeric(data[start-1]) {
		start--
	}
	for end = to; end < len(data) && isNumeric(data[end]); {
		end++
	}
	for text := start; text <= start+1 && text < end; text++ {
		for bytesOfLength := 1; bytesOfLength <= longestVarint; bytesOfLength++ {
			tag := text - bytesOfLength - 1
			if tag < 0 || data[tag] != 0x0A && data[tag] != 0 {
				continue
			}
			length, n := binary.Uvarint(data[tag+1 : text])
			if n == bytesOfLength && length <= uint64(end-text) { //nolint:gosec // not negative
				texts = append(texts, span{from: text, to: text + int(length)}) //nolint:gosec // not more than end
			}
		}
	}
	return texts, end
}

// jsonNumber returns the text around digits that is a number, or a string with nothing but a number and space, and
// where that ends. What is not ASCII may be space.
func jsonNumber(data []byte, from, to int) (texts []span, end int) {
	within := func(c byte) bool { return isNumeric(c) || c >= 0x80 || c == ' ' || '\t' <= c && c <= '\r' }
	start := from
	for start > 0 && within(data[start-1]) {
		start--
	}
	for end = to; end < len(data) && within(data[end]); {
		end++
	}
	switch {
	case start > 0 && end < len(data) && data[start-1] == '"' && data[end] == '"':
		return []span{{from: start, to: end}}, end
	case start > 0 && bytes.IndexByte([]byte(":[,"), data[start-1]) < 0,
		end < len(data) && bytes.IndexByte([]byte(",]}"), data[end]) < 0:
		return nil, end
	}
	text := span{from: start, to: end, bare: true}
	for text.from < text.to && !isNumeric(data[text.from]) {
		text.from++
	}
	for text.to > text.from && !isNumeric(data[text.to-1]) {
		text.to--
	}
	return []span{text}, end
}
