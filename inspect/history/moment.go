package history

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// operation says what became of an object.
type operation byte

const (
	put     operation = 'P' // it is there, and all of it follows
	patched operation = 'D' // it changed: a delta follows
	deleted operation = 'X' // it is gone
)

// key names an object.
type key struct {
	resource        inspect.Resource
	namespace, name string
}

// change is what became of an object in a moment.
type change struct {
	key
	op operation
	// data is the object as protobuf, or the difference to the one before, of which old is the length in
	// bytes.
	data []byte
	old  int
}

// moment is when something changed, and what.
type moment struct {
	at int64 // nanoseconds of Unix time
	// about is not nil if something changed that is no object.
	about   *archive.Header
	changes []change
}

// append writes a moment that follows one at the time before.
func (m *moment) append(out []byte, before int64) ([]byte, error) {
	out = binary.AppendUvarint(out, uint64(m.at-before)) //nolint:gosec // moments are in order
	var about []byte
	if m.about != nil {
		var err error
		if about, err = json.Marshal(m.about); err != nil {
			return nil, fmt.Errorf("encoding what is known of the cluster: %w", err)
		}
	}
	out = appendText(out, about)
	out = binary.AppendUvarint(out, uint64(len(m.changes)))
	for i := range m.changes {
		c := &m.changes[i]
		out = append(out, byte(c.op))
		out = appendText(out, []byte(c.resource))
		out = appendText(out, []byte(c.namespace))
		out = appendText(out, []byte(c.name))
		switch c.op {
		case put:
			out = appendText(out, c.data)
		case patched:
			out = binary.AppendUvarint(out, uint64(c.old)) //nolint:gosec // not negative
			out = appendText(out, c.data)
		case deleted:
		}
	}
	return out, nil
}

func appendText(out, text []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

var errBlock = errors.New("a block has not the form of one")

// decodeMoments returns what a block of changes holds. The moments share its memory.
func decodeMoments(h *header, data []byte) ([]moment, error) {
	r := &blockReader{data: data}
	var out []moment
	time, left := h.From, int(h.Changes)
	for len(r.data) > 0 && !r.bad {
		time += int64(r.number(int(max(0, h.To-time))))
		m := moment{at: time}
		if about := r.text(); len(about) > 0 {
			m.about = &archive.Header{}
			if err := json.Unmarshal(about, m.about); err != nil {
				return nil, fmt.Errorf("reading what is known of the cluster: %w", err)
			}
		}
		n := r.number(left)
		left -= n
		for range n {
			if m.changes = append(m.changes, r.change()); r.bad {
				break
			}
		}
		if out = append(out, m); uint64(len(out)) > uint64(h.Moments) {
			break
		}
	}
	if r.bad || uint64(len(out)) != uint64(h.Moments) {
		return nil, errBlock
	}
	return out, nil
}

// blockReader takes a block apart. Once it is bad it stays so, and gives nothing.
type blockReader struct {
	data []byte
	bad  bool
}

func (r *blockReader) number(most int) int {
	value, rest, ok := uvarint(r.data, most)
	if r.bad = r.bad || !ok; r.bad {
		return 0
	}
	r.data = rest
	return value
}

func (r *blockReader) text() []byte {
	n := r.number(len(r.data))
	if r.bad || n > len(r.data) {
		r.bad = true
		return nil
	}
	text := r.data[:n:n]
	r.data = r.data[n:]
	return text
}

func (r *blockReader) change() change {
	if r.bad || len(r.data) == 0 {
		r.bad = true
		return change{}
	}
	c := change{op: operation(r.data[0])}
	r.data = r.data[1:]
	c.key = key{inspect.Resource(r.text()), string(r.text()), string(r.text())}
	switch c.op {
	case put:
		c.data = r.text()
	case patched:
		c.old = r.number(1 << 40)
		c.data = r.text()
	case deleted:
	default:
		r.bad = true
	}
	return c
}
