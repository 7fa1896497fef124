package mcpserver

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// oneQuestion is a connection with one request in its input, and no answer to it.
type oneQuestion struct {
	mcp.Connection
	read bool
}

func (o *oneQuestion) Connect(context.Context) (mcp.Connection, error) { return o, nil }

func (o *oneQuestion) Read(context.Context) (jsonrpc.Message, error) {
	if o.read {
		return nil, io.EOF
	}
	o.read = true
	id, err := jsonrpc.MakeID("1")
	return &jsonrpc.Request{ID: id, Method: "tools/call"}, err
}

func (o *oneQuestion) Close() error { return nil }

// TestDrainingEnds: an answer that is still to come is waited for until the connection is closed, which may
// happen twice, or the context ends. Nothing else in the test could end the wait.
func TestDrainingEnds(t *testing.T) {
	for _, how := range []string{"closed", "cancelled"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			conn, err := draining{&oneQuestion{}, time.Hour}.Connect(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(ctx); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Read(ctx)
				ended <- err
			}()
			select {
			case err := <-ended:
				t.Fatalf("does not wait for the answer: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			if how == "cancelled" {
				cancel()
			} else {
				for range 2 {
					if err := conn.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			select {
			case err := <-ended:
				if err != io.EOF { //nolint:errorlint // the SDK compares it so
					t.Errorf("the input ends with %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("waits on")
			}
		})
	}
}
