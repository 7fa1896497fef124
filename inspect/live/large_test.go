package live

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestLargeMemory: of several large answers one is read at a time, and small ones do not wait.
func TestLargeMemory(t *testing.T) {
	m := newLargeMemory()
	read := func(ctx context.Context, size int, paused *atomic.Bool) (int, func(), error) {
		data, release, err := m.readAll(ctx, bytes.NewReader(make([]byte, size)), &bytes.Buffer{}, paused)
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

// TestListThatTakesTooLong: where requests have a timeout, all pages together have one too.
func TestListThatTakesTooLong(t *testing.T) {
	p := newPaging(kinds()[0], time.Minute)
	next := &page{next: "a"}
	if err := p.add(next, nil, 0); err != nil {
		t.Fatal(err)
	}
	p.began = p.began.Add(-time.Hour)
	if err := p.add(&page{next: "b"}, nil, 0); err == nil {
		t.Error("it goes on after an hour")
	}
	if err := p.add(&page{}, nil, 0); err != nil {
		t.Errorf("the last page is refused: %v", err)
	}
}
