package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// columns is how wide comments are at most, as pages are; a tab counts as four.
const columns = 110

// TestCommentsAreNarrow checks lines that are comments and have more than one word. What an example prints
// is compared line by line, and stays as it is printed.
func TestCommentsAreNarrow(t *testing.T) {
	files, _, _ := sources(t)
	checked := 0
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source[:min(len(source), 400)]), "Code generated") { //nolint:mnd // its first lines
			continue
		}
		output := false
		for i, line := range strings.Split(string(source), "\n") {
			text, ok := strings.CutPrefix(strings.TrimSpace(line), "// ")
			output = ok && (output || strings.HasPrefix(text, "Output:"))
			if !ok || output {
				continue
			}
			checked++
			if width := len([]rune(strings.ReplaceAll(line, "\t", "    "))); width > columns && strings.Contains(text, " ") {
				t.Errorf("%s:%d: a comment of %d columns, want at most %d", name, i+1, width, columns)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d lines of comments were looked at", checked)
	}
}
