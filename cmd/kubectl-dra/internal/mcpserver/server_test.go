package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/diffs"
)

// client connects to a server that asks.
func client(t *testing.T, ask Asker, opts Options) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	if _, err := New(ask, opts).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func explain(ctx context.Context, session *mcp.ClientSession) (*mcp.CallToolResult, error) {
	return session.CallTool(ctx, &mcp.CallToolParams{Name: "explain"})
}

func textOf(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, content := range r.Content {
		b.WriteString(content.(*mcp.TextContent).Text + "\n") //nolint:forcetypeassert // there is nothing else
	}
	return b.String()
}

// large is an answer of many bytes.
func large(n int) *Answer {
	d := &diffs.Diff{APIVersion: output.APIVersion, Kind: "Diff"}
	for range n {
		d.Partial = append(d.Partial, "something that could not be read")
	}
	return &Answer{Value: d}
}

// TestLargeAnswers: what is longer than the limit is left out, and that is said.
func TestLargeAnswers(t *testing.T) {
	ask := func(context.Context, Question) (*Answer, error) { return large(1000), nil }
	r, err := explain(t.Context(), client(t, ask, Options{Timeout: time.Minute, MaxBytes: 1000}))
	if err != nil {
		t.Fatal(err)
	}
	if text := textOf(r); !r.IsError || r.StructuredContent != nil || !strings.Contains(text, "more than the limit of 750") || !strings.Contains(text, "[cut: ") || len(text) > 2000 {
		t.Errorf("error %v, %d bytes: %s", r.IsError, len(text), text)
	}
	r, err = explain(t.Context(), client(t, ask, Options{Timeout: time.Minute, MaxBytes: 1 << 20}))
	if err != nil || r.IsError || r.StructuredContent == nil {
		t.Errorf("%v: %+v", err, r)
	}
	const most = 48_000 // the JSON has 35,000
	talking := func(context.Context, Question) (*Answer, error) {
		a := large(1000)
		a.Notes = strings.Repeat("a note\n", most)
		return a, nil
	}
	r, err = explain(t.Context(), client(t, talking, Options{Timeout: time.Minute, MaxBytes: most}))
	if err != nil || r.IsError {
		t.Fatalf("%v: %+v", err, r)
	}
	data, err := json.Marshal(r.StructuredContent)
	if text := textOf(r); err != nil || len(data)+len(text) > most+1000 || !strings.Contains(text, "[cut: ") {
		t.Errorf("%d bytes of JSON and %d of text, %v", len(data), len(text), err)
	}
}

// TestLinesThatAreNoMessages: what cannot be read is answered with an error, and what follows with an answer.
func TestLinesThatAreNoMessages(t *testing.T) {
	ask := func(context.Context, Question) (*Answer, error) { return large(1), nil }
	for line, code := range map[string]int{
		"garbage":                                   -32700,
		strings.Repeat("[", 100_000):                -32700,
		"[]":                                        -32600,
		"[" + strings.TrimSpace(asking(7)) + "]":    -32600,
		`{"jsonrpc":"2.0","id":{},"method":"x"}`:    -32600,
		`{"jsonrpc":"1.0","id":1,"method":"x"}`:     -32600,
		`"text"`:                                    -32600,
		`"` + strings.Repeat("x", maxInput+9) + `"`: -32600,
	} {
		out, err := served(t, ask, greeting+line+"\n\n"+asking(2), Options{Timeout: time.Minute, MaxBytes: 1 << 20}, time.Minute)
		if err != nil || !strings.Contains(out, `"id":2,"result"`) || strings.Count(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,`, code)) != 1 {
			t.Errorf("after %.40q: %v, %s", line, err, out)
		}
	}
}

// TestTimeout: a question that takes too long is given up, and the next one is answered.
func TestTimeout(t *testing.T) {
	synctest.Test(t, testTimeout) // where nothing but waiting takes time
}

func testTimeout(t *testing.T) {
	var asked atomic.Int32
	ask := func(ctx context.Context, _ Question) (*Answer, error) {
		if asked.Add(1) == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return large(1), nil
	}
	session := client(t, ask, Options{Timeout: 20 * time.Millisecond, MaxBytes: 1 << 20})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := explain(ctx, session)
	if err != nil || !r.IsError || !strings.Contains(textOf(r), "it took longer than 20ms") {
		t.Errorf("%v: %+v", err, r)
	}
	if r, err = explain(t.Context(), session); err != nil || r.IsError {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestCancel: a question that the client no longer wants ends, and does not hold up others.
func TestCancel(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	var asked atomic.Int32
	ask := func(ctx context.Context, _ Question) (*Answer, error) {
		if asked.Add(1) > 1 {
			return large(1), nil
		}
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}
	session := client(t, ask, Options{Timeout: time.Minute, MaxBytes: 1 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := explain(ctx, session); !errors.Is(err, context.Canceled) {
		t.Errorf("the client hears %v", err)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("the question goes on")
	}
	if r, err := explain(t.Context(), session); err != nil || r.IsError {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestOneAfterTheOther: questions that come at once are all answered, one at a time.
func TestOneAfterTheOther(t *testing.T) {
	var now, most atomic.Int32
	ask := func(context.Context, Question) (*Answer, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return large(1), nil
	}
	session := client(t, ask, Options{Timeout: time.Minute, MaxBytes: 1 << 20})
	errs := make(chan error)
	for range 20 {
		go func() {
			_, err := explain(t.Context(), session)
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

// greeting is what a client says first.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func asking(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"explain","arguments":{}}}`+"\n", id)
}

// served serves a whole input, and returns the output and the error. It fails if that takes too long.
func served(t *testing.T, ask Asker, in string, opts Options, patience time.Duration) (string, error) {
	t.Helper()
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), New(ask, opts), strings.NewReader(in), &out, patience) }()
	select {
	case err := <-ended:
		return out.String(), err
	case <-time.After(2 * time.Minute):
		t.Fatal("the server goes on")
		return "", nil
	}
}

// TestPipe: all that was asked before the input ended is answered, also when what follows cannot be read.
func TestPipe(t *testing.T) {
	ask := func(ctx context.Context, _ Question) (*Answer, error) {
		select {
		case <-time.After(50 * time.Millisecond):
			return large(1), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	in := greeting + asking(2) + asking(3) + asking(2) + `{"jsonrpc":"2.0","id":4,"method":"tools/list"}` + "\n"
	for _, end := range []string{"", "{not JSON"} {
		out, err := served(t, ask, in+end, Options{Timeout: time.Minute, MaxBytes: 1 << 20}, time.Minute)
		if told := strings.Contains(out, `"id":null,"error":{"code":-32700,`); err != nil || told != (end != "") {
			t.Errorf("after %q: %v, %s", end, err, out)
		}
		for id := 1; id <= 4; id++ {
			if !strings.Contains(out, fmt.Sprintf(`"id":%d,"result"`, id)) {
				t.Errorf("after %q: %d has no answer in\n%s", end, id, out)
			}
		}
	}
}

// TestPipeWithoutReader: when nobody reads the answers, the server does not wait.
func TestPipeWithoutReader(t *testing.T) {
	ask := func(context.Context, Question) (*Answer, error) { return large(1), nil }
	read, write := io.Pipe()
	_ = read.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), New(ask, Options{Timeout: time.Minute, MaxBytes: 1 << 20}), strings.NewReader(greeting+asking(2)+asking(3)), write, time.Minute)
	}()
	select {
	case <-ended: //nolint:errcheck // that it ends is what counts
	case <-time.After(2 * time.Minute):
		t.Error("the server goes on")
	}
}

// TestHangUp: when the client is gone, the server ends after a while, and with it what it was asked.
func TestHangUp(t *testing.T) {
	synctest.Test(t, testHangUp) // where nothing but waiting takes time
}

func testHangUp(t *testing.T) {
	var asked, ended atomic.Int32
	ask := func(ctx context.Context, _ Question) (*Answer, error) {
		asked.Add(1)
		<-ctx.Done()
		ended.Add(1)
		return nil, ctx.Err()
	}
	in := greeting + asking(2) + asking(3) + `{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{}}` + "\n"
	out, _ := served(t, ask, in, Options{Timeout: time.Hour, MaxBytes: 1 << 20}, 50*time.Millisecond)
	if !strings.Contains(out, `"id":1,"result"`) {
		t.Errorf("not even the greeting is answered: %s", out)
	}
	for _, id := range []string{"2", "3"} {
		if n := strings.Count(out, `"id":`+id+`,"error":{"code":-32603,"message":"not answered: the input ended`); n != 1 {
			t.Errorf("question %s is given up %d times: %s", id, n, out)
		}
	}
	if asked.Load() != ended.Load() {
		t.Errorf("%d questions were asked, and %d ended", asked.Load(), ended.Load())
	}
}
