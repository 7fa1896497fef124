//go:build unix

package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNamedFilesEnd: wherever a user names a file, a pipe that nobody writes to is not waited for without end, and a device without
// end is not read to its end.
func TestNamedFilesEnd(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	const silent = "it is a pipe that nobody writes to"
	for name, args := range map[string][]string{
		"--from":               {"get", "claims", "--from", "FILE"},
		"-f":                   {"explain", "--demo", "-f", "FILE"},
		"diff":                 {"diff", "FILE", "--demo"},
		"expression":           {"cel", "--demo", "-f", "FILE"},
		"template":             {"get", "nodes", "--demo", "-o", "go-template-file=FILE"},
		"path":                 {"explain", "claim", "train-0", "-n", "ml", "--demo", "-o", "jsonpath-file=FILE"},
		"columns":              {"get", "nodes", "--demo", "-o", "custom-columns-file=FILE"},
		"baseline":             {"check", "--demo", "--baseline", "FILE"},
		"prices":               {"plan", "nodes", "pending", "--demo", "--prices", "FILE"},
		"flags of the kubelet": {"node", "cni", "--cni-conf-dir", t.TempDir(), "--kubelet-flags", "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for file, says := range map[string]string{pipe: silent, "/dev/zero": ""} {
				given := slices.Clone(args)
				for i := range given {
					given[i] = strings.ReplaceAll(given[i], "FILE", file)
				}
				done := make(chan struct{})
				var code int
				var notes string
				go func() {
					defer close(done)
					_, code, notes = printedBy(given...)
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatalf("%v does not end", given)
				}
				if code == 0 || !strings.Contains(notes, says) {
					t.Errorf("%v: exit code %d, want an error that says %q:\n%s", given, code, says, notes)
				}
			}
		})
	}
}
