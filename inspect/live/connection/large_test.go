package connection

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// TestLargeMemory: of several large answers one is read at a time, and small ones do not wait.
func TestLargeMemory(t *testing.T) {
	m := NewLargeMemory()
	read := func(ctx context.Context, size int, paused *atomic.Bool) (int, func(), error) {
		data, release, err := m.ReadAll(ctx, bytes.NewReader(make([]byte, size)), &bytes.Buffer{}, paused)
		return len(data), release, err
	}
	var paused atomic.Bool
	n, release, err := read(t.Context(), 3*ownBytes, &paused)
	if n != 3*ownBytes || err != nil || paused.Load() {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if n, done, err := read(t.Context(), ownBytes-1, &paused); n != ownBytes-1 || err != nil {
		t.Errorf("a small answer beside a large one: %d bytes, %v", n, err)
	} else {
		done()
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, done, err := read(ended, 2*ownBytes, &paused); err == nil || !paused.Load() {
		t.Errorf("a second large answer is read beside the first: %v", err)
	} else {
		done()
	}
	came := make(chan int)
	go func() {
		n, done, _ := read(context.WithoutCancel(t.Context()), 2*ownBytes, &paused)
		done()
		came <- n
	}()
	release()
	if n := <-came; n != 2*ownBytes {
		t.Errorf("after the first it has %d bytes", n)
	}
}

// TestAppendAll: a body is whole wherever the buffer ends, and what came before an error is kept.
func TestAppendAll(t *testing.T) {
	body := make([]byte, 5000)
	for i := range body {
		body[i] = byte(i % 251)
	}
	for _, room := range []int{0, 1, 4999, 5000, 5001, 9000} {
		for _, failing := range []bool{false, true} {
			var b bytes.Buffer
			b.Grow(room)
			from := io.Reader(bytes.NewReader(body))
			if failing {
				from = io.MultiReader(from, iotest.ErrReader(io.ErrClosedPipe))
			}
			if err := appendAll(&b, from); errors.Is(err, io.ErrClosedPipe) != failing || !failing && err != nil {
				t.Errorf("with room for %d bytes: %v", room, err)
			}
			if !bytes.Equal(b.Bytes(), body) {
				t.Errorf("with room for %d bytes: there are %d bytes, or others", room, b.Len())
			}
		}
	}
}
