package connection

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// LargeMemory is the memory for answers that are larger than others. There is one of it for all that is read
// of a server at the same time: so what a server sends at once takes no more, however many lists it is asked
// for.
type LargeMemory chan *bytes.Buffer

// ownBytes is how much of an answer is read before it is a large one, and keptBytes how much memory is kept
// for the next.
const (
	ownBytes  = 2 << 20
	keptBytes = 128 << 20
)

// NewLargeMemory returns a large memory that nobody has.
func NewLargeMemory() LargeMemory {
	m := make(LargeMemory, 1)
	m <- &bytes.Buffer{}
	return m
}

// ReadAll reads a body: into a buffer, or into the large memory as soon as nobody else needs that; until then
// paused is set. The data is valid until release is called, and as long as the buffer is not written to.
func (m LargeMemory) ReadAll(ctx context.Context, body io.Reader, into *bytes.Buffer, paused *atomic.Bool) (data []byte, release func(), err error) {
	into.Reset()
	if n, err := into.ReadFrom(io.LimitReader(body, ownBytes)); n < ownBytes || err != nil {
		return into.Bytes(), func() {}, err //nolint:wrapcheck // the caller says what was read
	}
	var large *bytes.Buffer
	paused.Store(true)
	select {
	case large = <-m:
	case <-ctx.Done():
		return nil, func() {}, ctx.Err() //nolint:wrapcheck // of the caller
	}
	paused.Store(false)
	release = func() {
		if large.Cap() > keptBytes {
			large = &bytes.Buffer{}
		}
		m <- large
	}
	large.Reset()
	large.Write(into.Bytes())
	err = appendAll(large, body)
	return large.Bytes(), release, err
}

// appendAll reads to the end. A buffer that grows by doubling touches six times the memory of the body, which
// takes longer than decoding it; io.ReadAll reads into pieces and copies them once.
func appendAll(b *bytes.Buffer, body io.Reader) error {
	room := b.AvailableBuffer()[:b.Available()]
	n, err := io.ReadFull(body, room)
	b.Write(room[:n])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was read
	}
	all, err := io.ReadAll(io.MultiReader(bytes.NewReader(b.Bytes()), body))
	*b = *bytes.NewBuffer(all)
	return err //nolint:wrapcheck // as above
}
