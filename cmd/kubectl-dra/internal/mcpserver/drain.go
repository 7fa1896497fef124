package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// draining is a transport whose input ends only when what was read of it is answered. Without it the SDK
// cancels all questions as soon as the input ends, and who pipes questions in hears nothing.
type draining struct {
	mcp.Transport
	patience time.Duration // how long answers are waited for once the input has ended
}

// Connect implements [mcp.Transport].
func (t draining) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // of the transport itself
	}
	return &drainingConn{
		Connection: conn, patience: t.patience, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

// listening is a request that is answered only when its connection ends.
const listening = "subscriptions/listen"

// drainingConn is a connection of draining.
type drainingConn struct {
	mcp.Connection
	patience time.Duration

	mutex    sync.Mutex
	open     map[jsonrpc.ID]bool // requests that were read and have no answer yet
	answered chan struct{}       // has an element after one was answered
	gaveUp   bool                // those that are open are answered no more

	once   sync.Once
	closed chan struct{} // closed by Close
}

// Read returns the next message. When there is none, for whatever reason, it says so after the last answer.
func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		return nil, err //nolint:wrapcheck // the SDK looks at it
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() && request.Method != listening {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.open[request.ID] = true
	}
	return message, nil
}

// Write writes a message, and notes what it answers.
func (c *drainingConn) Write(ctx context.Context, message jsonrpc.Message) error {
	response, ok := message.(*jsonrpc.Response)
	if ok && c.toldOtherwise(response.ID) {
		return nil
	}
	err := c.Connection.Write(ctx, message)
	if ok {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.open, response.ID)
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err //nolint:wrapcheck // the SDK looks at it
}

// Close ends the waiting too: nothing can be written any more.
func (c *drainingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close() //nolint:wrapcheck // the SDK looks at it
}

// drain waits until nothing is open, or nobody should wait any longer.
func (c *drainingConn) drain(ctx context.Context) {
	patience := time.NewTimer(c.patience)
	defer patience.Stop()
	for c.waiting() {
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-patience.C:
			c.giveUp(ctx)
			return
		}
	}
}

// giveUp answers what is open with an error: whoever asked is to know that nothing else comes.
func (c *drainingConn) giveUp(ctx context.Context) {
	c.mutex.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.open, c.gaveUp = map[jsonrpc.ID]bool{}, true
	c.mutex.Unlock()
	for _, id := range open {
		err := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("not answered: the input ended, and other questions took %v (--timeout)", c.patience)}
		if c.Connection.Write(ctx, &jsonrpc.Response{ID: id, Error: err}) != nil {
			return // nobody reads it
		}
	}
}

// toldOtherwise reports whether the question was answered by giving up.
func (c *drainingConn) toldOtherwise(id jsonrpc.ID) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.gaveUp && !c.open[id]
}

func (c *drainingConn) waiting() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.open) > 0
}
