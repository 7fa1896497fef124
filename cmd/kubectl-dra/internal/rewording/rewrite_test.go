package rewording

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages whose messages are reworded: all that explain but for the layout of what they say,
// and the allocator, whose errors become messages.
var rooms = []string{
	"allocator", "scheduler/filters", "explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/cycle", "explain/diagnose", "explain/requirement", "explain/conflict", "explain/fix", "explain/headline", "explain/preemption", "explain/question", "explain/triage", "explain/plan", "explain/disruption", "explain/replay", "explain/together", "explain/fit", "explain/volume", "explain/spelling",
	"explain/plan/moves", "explain/plan/shapes", "explain/admission", "explain/flip",
}

const words = "explain/words"

// reword returns the source of a file with its prose reworded, and how many literals and fields that are.
func reword(source []byte, wordsItself bool) (out string, literals, fields int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", 0, 0, fmt.Errorf("parsing a file to reword: %w", err)
	}
	p := findProse(file)
	prefix := "reworded."
	inserts := map[int][]string{}
	insert := func(at token.Pos, text string) {
		offset := files.Position(at).Offset
		inserts[offset] = append(inserts[offset], text)
	}
	if wordsItself {
		prefix = ""
	} else if len(p.literals)+len(p.fields) > 0 {
		insert(file.Name.End(), "\nimport reworded \"github.com/kubectl-dra/kubectl-dra/explain/words\"\n")
	}
	for _, field := range p.fields { // around literals: what begins at the same place comes first
		insert(field.Pos(), prefix+"RewordedField(")
	}
	for _, literal := range p.literals {
		insert(literal.Pos(), prefix+"RewordedLiteral(")
		insert(literal.End(), ")")
	}
	for _, field := range p.fields {
		insert(field.End(), ")")
	}
	text := string(source)
	for _, c := range p.constants {
		at := files.Position(c.TokPos).Offset
		text = text[:at] + "var  " + text[at+len("const"):] // as long as before
	}
	var b strings.Builder
	for i := range len(text) + 1 {
		b.WriteString(strings.Join(inserts[i], ""))
		if i < len(text) {
			b.WriteByte(text[i])
		}
	}
	return b.String(), len(p.literals), len(p.fields), nil
}

// overlay writes reworded copies of all rooms, and the file that says which is in the place of which.
func overlay(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{filepath.Join(root, words, "reworded.go"): filepath.Join(root, "cmd/kubectl-dra/internal/rewording/testdata/reworded.go")}
	literals, fields := 0, 0
	for _, room := range rooms {
		names, err := filepath.Glob(filepath.Join(root, room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text, l, f, err := reword(source, room == words)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			literals, fields = literals+l, fields+f
			replace[name] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
			write(t, replace[name], []byte(text))
		}
	}
	if literals < 250 || fields < 60 {
		t.Errorf("only %d literals and %d fields are reworded", literals, fields)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	write(t, file, data)
	return file
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// build compiles this test with the reworded copies.
func build(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "reworded")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay(t, root), "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("compiling the reworded copies: %v\n%s", err, out)
	}
	return binary
}

// run has the reworded program answer.
func run(t *testing.T, binary, wording string) answers {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(slices.Clone(os.Environ()), wordingVariable+"="+wording)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			out = append(out, exit.Stderr...)
		}
		t.Fatalf("%s: %v\n%s", wording, err, out)
	}
	var a answers
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRooms: no package that explains is forgotten.
func TestRooms(t *testing.T) {
	var folders []string
	for _, pattern := range []string{"explain/*/doc.go", "explain/*/*/doc.go"} {
		found, err := filepath.Glob(filepath.Join("../../../..", pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
		folders = append(folders, found...)
	}
	// They say nothing of their own that others could read.
	others := []string{"explain/explaintest", "explain/remedy", "explain/styled", "explain/text", "explain/text/layout", "explain/text/plans"}
	for _, folder := range folders {
		room := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(folder)), "../../../../")
		if slices.Contains(rooms, room) == slices.Contains(others, room) {
			t.Errorf("%s is not among the packages that are reworded, nor among those that are left out", room)
		}
	}
}
