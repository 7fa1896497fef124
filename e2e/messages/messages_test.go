package messages

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	heading = regexp.MustCompile(`^### (.*)$`)
	// source names a module, a file in it and a string of that file, as Go writes it.
	source = regexp.MustCompile(`^<!-- source: (\S+) (\S+) (".*") -->$`)
	quoted = regexp.MustCompile("`([^`]+)`")
	verb   = regexp.MustCompile(`%[a-z]`)
)

// TestMessages: each message that is explained names where it comes from, that file has it, and the heading
// shows it, with … for what is filled in.
func TestMessages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	var message string
	sources, messages := 0, 0
	seen := func() {
		if message != "" && sources == 0 {
			t.Errorf("%s: where does the message come from?", message)
		}
	}
	for line := range strings.SplitSeq(string(page), "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			seen()
			message, sources = m[1], 0
			messages++
		} else if strings.HasPrefix(line, "<!-- source:") {
			sources++
			check(t, line, message, modules)
		}
	}
	seen()
	if messages < 20 {
		t.Errorf("only %d messages were found", messages)
	}
}

// check compares a source comment with the file that it names and with the heading above it.
func check(t *testing.T, line, message string, modules map[string]string) {
	t.Helper()
	m := source.FindStringSubmatch(line)
	if m == nil {
		t.Errorf("not understood: %s", line)
		return
	}
	text, err := strconv.Unquote(m[3])
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if modules[m[1]] == "" {
		modules[m[1]] = directory(t, m[1])
	}
	file, err := os.ReadFile(filepath.Join(modules[m[1]], filepath.FromSlash(m[2]))) //nolint:gosec // a file of a module
	if err != nil {
		t.Error(err)
		return
	}
	if !strings.Contains(string(file), m[3]) && !strings.Contains(string(file), "`"+text+"`") {
		t.Errorf("%s has no %s", m[2], m[3])
	}
	shown := strings.TrimSuffix(verb.ReplaceAllString(strings.ReplaceAll(text, "%q", `"%s"`), "…"), ": …")
	for _, q := range quoted.FindAllStringSubmatch(message, -1) {
		if strings.Contains(q[1], strings.TrimSuffix(shown, "…")) {
			return
		}
	}
	if !strings.HasPrefix(text, "FailedPrepare") {
		t.Errorf("the heading %s does not show %q", message, shown)
	}
}

// directory is where the source of a module is, at the version that this module depends on. It is downloaded
// first, if nothing else has done so.
func directory(t *testing.T, module string) string {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "download", module).CombinedOutput(); err != nil {
		t.Fatalf("go mod download %s: %v\n%s", module, err, out)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return dir
}
