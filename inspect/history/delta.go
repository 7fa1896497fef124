package history

import (
	"encoding/binary"
	"errors"
	"math"
)

// A delta says how one text is made of another: a sequence of pairs of how much is copied from where in the
// old text, and of what is new after it. All numbers are varints.

// span is the length of what is looked for in the old text, in bytes.
const span = 8

// makeDelta returns what makes the new text of the old one.
func makeDelta(old, updated []byte) []byte {
	places := map[[span]byte]int{}
	for i := 0; i+span <= len(old); i++ {
		key := [span]byte(old[i:])
		if _, known := places[key]; !known {
			places[key] = i
		}
	}
	var out []byte
	literal, last := 0, 0 // what is new begins there; what was copied last ended there in the old text
	copyFrom, length := 0, 0
	emit := func(end int) { // what was found before, and what is new after it
		out = binary.AppendUvarint(out, uint64(copyFrom)) //nolint:gosec // not negative
		out = binary.AppendUvarint(out, uint64(length))   //nolint:gosec // not negative
		out = binary.AppendUvarint(out, uint64(end-literal))
		out = append(out, updated[literal:end]...)
	}
	for i := 0; i+span <= len(updated); {
		from, found := matchAt(old, updated, places, i, last+i-literal)
		if !found {
			i++
			continue
		}
		emit(i)
		copyFrom, length = from, common(old[from:], updated[i:])
		i += length
		literal, last = i, from+length
	}
	emit(len(updated))
	return out
}

// matchAt says where in the old text that stands which is at i in the new one: preferably where it would
// stand if as much was replaced as is new.
func matchAt(old, updated []byte, places map[[span]byte]int, i, likely int) (from int, found bool) {
	key := [span]byte(updated[i:])
	if likely >= 0 && likely+span <= len(old) && [span]byte(old[likely:]) == key {
		return likely, true
	}
	from, found = places[key]
	return from, found
}

// common is how much is the same at the beginning of both.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

var errDelta = errors.New("the change does not belong to the object before it")

// deltaLength is how many bytes the new text has.
func deltaLength(old, delta []byte) (length int, err error) {
	err = eachPiece(old, delta, func(copied, added []byte) { length = min(length+len(copied)+len(added), math.MaxInt/2) })
	return length, err
}

// applyDelta makes the new text of the old one.
func applyDelta(old, delta []byte, length int) ([]byte, error) {
	out := make([]byte, 0, length)
	err := eachPiece(old, delta, func(copied, added []byte) { out = append(append(out, copied...), added...) })
	return out, err
}

// eachPiece calls f for the pieces of a delta: what is copied of the old text, and what comes after that.
func eachPiece(old, delta []byte, f func(copied, added []byte)) error {
	for len(delta) > 0 {
		from, rest, ok := uvarint(delta, len(old))
		if !ok {
			return errDelta
		}
		length, rest, ok := uvarint(rest, len(old)-from)
		if !ok {
			return errDelta
		}
		added, rest, ok := uvarint(rest, len(rest))
		if !ok || added > len(rest) {
			return errDelta
		}
		f(old[from:from+length], rest[:added])
		delta = rest[added:]
	}
	return nil
}

// uvarint reads a number that is not larger than most.
func uvarint(data []byte, most int) (value int, rest []byte, ok bool) {
	v, n := binary.Uvarint(data)
	if n <= 0 || v > uint64(max(0, most)) { //nolint:gosec // not negative
		return 0, nil, false
	}
	return int(v), data[n:], true //nolint:gosec // not more than most
}
