package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPOverStdio has the program itself answer a client, several questions at once, until the client hangs
// up.
func TestMCPOverStdio(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.Command("kubectl-dra", "mcp", "--demo") //nolint:noctx // the client ends it
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Errorf("%v: %+v", err, tools)
	}
	var wait sync.WaitGroup
	for _, name := range []string{"train-0", "pretrain-2", "whisper-large"} {
		for range 3 {
			wait.Go(func() {
				namespace := "ml"
				if name == "whisper-large" {
					namespace = "infer"
				}
				r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "explain", Arguments: map[string]any{"type": "claim", "name": name, "namespace": namespace}})
				if err != nil || r.IsError {
					t.Errorf("%s: %v, %+v", name, err, r)
					return
				}
				if subject := r.StructuredContent.(map[string]any)["subject"].(map[string]any); subject["name"] != name { //nolint:forcetypeassert // of its schema
					t.Errorf("%s is answered with %v", name, subject)
				}
			})
		}
	}
	wait.Wait()
	if err := session.Close(); err != nil {
		t.Errorf("after the client hung up: %v", err)
	}
}

// greeting is what a client says first.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// TestMCPEnds: with stdin at its end the server ends well, with garbage in it after an error for each line,
// and with a signal as every command.
func TestMCPEnds(t *testing.T) {
	for _, c := range []struct {
		name, input string
		signal      os.Signal
		want        int
		stderr      string
	}{
		{"end of input", "", nil, 0, ""},
		{"garbage", "garbage\n", nil, 0, ""},
		{"bytes", "\x00\xff\xfe{{{\n\n", nil, 0, ""},
		{"a batch of nothing", "[]\n", nil, 0, ""},
		{"a line without end", strings.Repeat("[", 9<<20), nil, 0, ""},
		{"interrupted", greeting, os.Interrupt, 130, "error: interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("kubectl-dra", "mcp", "--demo") //nolint:noctx // a timer ends it
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // the test fails then
			stdout := bufio.NewReader(output)
			_, _ = io.WriteString(stdin, c.input) // it may have ended before all was read
			if c.signal == nil {
				_ = stdin.Close()
			} else {
				if answer, err := stdout.ReadString('\n'); err != nil || !strings.Contains(answer, `"id":1,"result"`) { // then it listens to signals
					t.Fatalf("%q, %v", answer, err)
				}
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			said, _ := io.ReadAll(stdout) // until it ends
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(cmd.Wait(), &exit) {
				code = exit.ExitCode()
			}
			if code != c.want || !strings.HasPrefix(stderr.String(), c.stderr) ||
				(strings.Count(string(said), `{"jsonrpc":"2.0","id":null,"error":{"code":-32`) == 1) != (c.signal == nil && c.input != "") {
				t.Errorf("exit code %d, stdout %q, stderr %q", code, said, stderr.String())
			}
		})
	}
}
