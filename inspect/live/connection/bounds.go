package connection

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Bounds are what one answer must keep to. The zero value has the defaults.
type Bounds struct {
	// Bytes is the most that a body may have, after it was decompressed; 0 means DefaultBytes.
	Bytes int64
	// Lines says that the body goes on for as long as the server likes, and Bytes bounds each of its lines.
	// It may be silent for any time. That is how events are watched.
	Lines bool
	// Begin is how long the server may take to begin its answer; 0 means DefaultBegin.
	Begin time.Duration
	// Idle is how long the server may take for LeastProgress bytes of the body; 0 means DefaultIdle.
	Idle time.Duration
	// Paused, if not nil, says while it is true that the client does not want the body to go on: that is no
	// silence of the server.
	Paused *atomic.Bool
	// RetryAfter, if not nil, is set to the seconds of the header Retry-After.
	RetryAfter *atomic.Int64
	// ContentType, if not nil, is set to the header of that name.
	ContentType *atomic.Value
}

// The defaults. An API server ends what takes longer than a minute by itself. The times count only where the
// context of a request, or the timeout of the client, sets no deadline: whoever does knows better.
const (
	DefaultBytes  = 16 << 20
	DefaultBegin  = 75 * time.Second
	DefaultIdle   = 30 * time.Second
	LeastProgress = 1 << 10
	// LongestRetryAfter is the longest time, in seconds, for which a client waits by itself because a server
	// asks for it. A longer wait is for the caller to decide on.
	LongestRetryAfter = 5
)

type boundsKey struct{}

// With returns a context for requests whose answers are bounded so. Where ctx has a RetryAfter and b has
// none, it stays.
func With(ctx context.Context, b Bounds) context.Context {
	if outer, ok := ctx.Value(boundsKey{}).(Bounds); ok && b.RetryAfter == nil {
		b.RetryAfter = outer.RetryAfter
	}
	return context.WithValue(ctx, boundsKey{}, b)
}

// boundsOf returns the bounds of a request, complete.
func boundsOf(ctx context.Context) Bounds {
	b, _ := ctx.Value(boundsKey{}).(Bounds)
	if b.Bytes == 0 {
		b.Bytes = DefaultBytes
	}
	if b.Begin == 0 {
		b.Begin = DefaultBegin
	}
	if b.Idle == 0 {
		b.Idle = DefaultIdle
	}
	return b
}

// TooLargeError says that an answer was larger than its bounds.
type TooLargeError struct {
	Limit int64 // in bytes
	Line  bool  // of one line
}

// Error names the limit.
func (e *TooLargeError) Error() string {
	what := "the answer"
	if e.Line {
		what = "an event"
	}
	return fmt.Sprintf("%s has more than %s, the most that is read of one", what, size(e.Limit))
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// SilentError says that a server let us wait for longer than the bounds allow. It is a timeout to package
// net.
type SilentError struct {
	After time.Duration
	Body  bool // in the middle of its answer
}

// Error says what did not come.
func (e *SilentError) Error() string {
	if e.Body {
		return fmt.Sprintf("the answer stopped: less than %s in %s", size(LeastProgress), e.After)
	}
	return fmt.Sprintf("no answer in %s", e.After)
}

// Timeout implements net.Error.
func (*SilentError) Timeout() bool { return true }

// Temporary implements net.Error.
func (*SilentError) Temporary() bool { return true }
