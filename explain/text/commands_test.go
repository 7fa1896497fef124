package text

import (
	"strings"
	"testing"
)

// TestFoldCommand folds commands; a shell reads what is folded as it reads the command.
func TestFoldCommand(t *testing.T) {
	for _, tt := range []struct {
		command string
		width   int
		want    []string
	}{
		{"kubectl delete pod a -n b", 30, []string{"kubectl delete pod a -n b"}},
		{"kubectl delete pod a -n b", 20, []string{`kubectl delete pod \`, "a -n b"}},
		{"print --fix 1 | replace -f -", 20, []string{"print --fix 1 |", "replace -f -"}},
		{"print --fix 1 -o yaml | replace -f -", 20, []string{`print --fix 1 \`, "-o yaml |", "replace -f -"}},
		{"patch -p '[{\"a\": \"b | c\"}]' -n x", 12, []string{`patch \`, "-p '[{\"a\": \"b | c\"}]' \\", "-n x"}},
		{"print -o yaml > a.yaml", 20, []string{`print -o yaml \`, "> a.yaml"}},
	} {
		got := foldCommand(tt.command, tt.width)
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s in %d columns: %q, want %q", tt.command, tt.width, got, tt.want)
		}
	}
}
