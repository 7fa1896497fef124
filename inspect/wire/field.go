package wire

import (
	"encoding/binary"
	"errors"
)

// The types of fields in an encoded message.
const (
	Varint    = 0
	Fixed64   = 1
	Delimited = 2 // a message or a text
	Fixed32   = 5
)

// ErrBroken says that what should be a message is none.
var ErrBroken = errors.New("broken protobuf message")

// Field returns the first field of a message: its number, its type, its size with its tag, and what is in it if it is
// delimited. The size is 0 if there is no whole field.
func Field(message []byte) (number uint64, kind, size int, body []byte) {
	tag, n := binary.Uvarint(message)
	if n <= 0 || tag>>3 == 0 {
		return 0, 0, 0, nil
	}
	rest := message[n:]
	kind = int(tag & 7) //nolint:gosec // three bits
	length := 0
	switch kind {
	case Varint:
		if _, length = binary.Uvarint(rest); length <= 0 {
			return 0, 0, 0, nil
		}
	case Fixed64:
		length = 8
	case Fixed32:
		length = 4
	case Delimited:
		l, m := binary.Uvarint(rest)
		if m <= 0 || l > uint64(len(rest)-m) { //nolint:gosec // not negative
			return 0, 0, 0, nil
		}
		length = m + int(l) //nolint:gosec // not more than there is
		body = rest[m:length]
	default: // groups, which no Kubernetes object has
		return 0, 0, 0, nil
	}
	if length > len(rest) {
		return 0, 0, 0, nil
	}
	return tag >> 3, kind, n + length, body
}

// Values returns how many fields an encoded message has, with those of the messages in it, up to a limit. Texts that look
// like messages count as such.
func Values(message []byte, limit int) int {
	count, _ := values(message, limit, 0)
	return count
}

// mostNested is deeper than the messages of Kubernetes are nested.
const mostNested = 24

// values returns false as well if it is no message.
func values(message []byte, limit, depth int) (count int, ok bool) {
	for len(message) > 0 && count < limit {
		_, kind, size, body := Field(message)
		if size <= 0 {
			return count, false
		}
		message = message[size:]
		count++
		if kind == Delimited && depth < mostNested {
			if inner, ok := values(body, limit-count, depth+1); ok {
				count += inner
			}
		}
	}
	return min(count, limit), true
}
