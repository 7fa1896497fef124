package quantity

import (
	"bytes"
	"encoding/binary"
)

// A quantity such as 1e-2000000000 takes forever to decode, so what could be one is found in the encoded data
// and covered in a copy. Where the copy can be decoded, nothing that was covered stood for a quantity, and
// the original can be decoded, too: a name may well look like that. The search must cost next to nothing
// beside decoding.

const (
	// exponentDigits is the least number of digits of an exponent that is not Bounded.
	exponentDigits = 4
	// mantissaDigits is the length of a run of digits from which on a number is looked at. One with more than
	// MaxDigits has at least one such run, for it has one point at most.
	mantissaDigits = MaxDigits / 2
)

// CoverProtobuf returns a copy of an encoded message in which x stands for every number that is not Bounded,
// or nil when there is none. The copy has the same length.
func CoverProtobuf(data []byte) []byte {
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
		texts, end := numbersAround(data, from, to)
		i = max(i, end-1)
		for _, text := range texts {
			if Bounded(string(data[text.from:text.to])) {
				continue
			}
			if covered == nil {
				covered = bytes.Clone(data)
			}
			copy(covered[text.from:text.to], bytes.Repeat([]byte("x"), text.to-text.from))
		}
	}
	return covered
}

// isExponent reports whether a run of digits may be an exponent of more digits than a quantity needs. No
// digit need stand before it: "e2147483647" is a quantity, too.
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
type span struct{ from, to int }

func isNumeric(c byte) bool {
	return isDigit(c) || c == '.' || c == '+' || c == '-' || c|0x20 == 'e'
}

// longestVarint is the number of bytes that a length can have: zeros may be written out.
const longestVarint = 10

// numbersAround returns the texts around digits that may be a field and are wholly numeric, and where what is
// numeric ends. Before a text is its length as a varint, of which only the last byte can look numeric itself,
// and before that the tag of the field, 1 in a quantity: 0x0A, or 0 at the end of a longer way to write it.
func numbersAround(data []byte, from, to int) (texts []span, end int) {
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
