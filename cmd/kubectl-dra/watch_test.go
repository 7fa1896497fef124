package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/schematest"
)

// TestWatchLines: what --watch prints as JSON is a document on each line, at once; it ends with Ctrl-C, and
// when nobody reads any more.
func TestWatchLines(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		lines  int
		hangUp bool
	}{
		"get":              {[]string{"get", "claims", "-A"}, 5, false},
		"get, and hang up": {[]string{"get", "claims", "-A"}, 1, true},
		"get devices":      {[]string{"get", "devices"}, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("kubectl-dra", append(c.args, "--demo", "--watch", "-o", "json")...) //nolint:noctx // a timer ends it
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdout = write
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close()
			defer time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // the test fails then
			lines := bufio.NewReader(read)
			for range c.lines {
				line, err := lines.ReadBytes('\n')
				if err != nil {
					t.Fatalf("%v; stderr %q", err, stderr.String())
				}
				if n, err := schematest.Validate(line); n != 1 || err != nil {
					t.Errorf("%s: %d documents, %v", line, n, err)
				}
			}
			want := 130
			if c.hangUp {
				_ = read.Close()
				want = -1 // ended by SIGPIPE
			} else {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = read.Close() }()
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want || c.hangUp && exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE { //nolint:forcetypeassert // of exec
				t.Errorf("ended with %v and %q", err, stderr.String())
			}
		})
	}
}
