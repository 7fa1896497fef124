package connection

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// body is an answer that keeps to its bounds or ends with an error.
type body struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // that of the request, which a body belongs to
	cancel context.CancelCauseFunc
	bounds Bounds

	size int64 // so far, or of the line so far

	mu     sync.Mutex
	timer  *time.Timer // nil if there is no hurry
	came   atomic.Int64
	closed bool
}

func newBody(ctx context.Context, cancel context.CancelCauseFunc, inner io.ReadCloser, bounds Bounds, hurry bool) *body {
	b := &body{ReadCloser: inner, ctx: ctx, cancel: cancel, bounds: bounds}
	if hurry {
		b.mu.Lock()
		b.timer = time.AfterFunc(bounds.Idle, b.look)
		b.mu.Unlock()
	}
	return b
}

// look ends the request when too little came since the last look.
func (b *body) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	paused := b.bounds.Paused != nil && b.bounds.Paused.Load()
	if b.came.Swap(0) < LeastProgress && !paused {
		b.cancel(&SilentError{After: b.bounds.Idle, Body: true})
		return
	}
	b.timer.Reset(b.bounds.Idle)
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.came.Add(int64(n))
	b.size += int64(n)
	if b.bounds.Lines {
		if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
			b.size = int64(n - end - 1)
		}
	}
	if b.size > b.bounds.Bytes {
		large := &TooLargeError{Limit: b.bounds.Bytes, Line: b.bounds.Lines}
		b.cancel(large)
		return n, large
	}
	if err != nil && err != io.EOF {
		if silent, ok := context.Cause(b.ctx).(*SilentError); ok { //nolint:errorlint // it was put there as it is
			err = silent
		}
	}
	return n, err //nolint:wrapcheck // a reader passes on what it reads
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.mu.Lock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	b.cancel(nil)
	return b.ReadCloser.Close() //nolint:wrapcheck // as in Read
}
