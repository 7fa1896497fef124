package widget

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// randomLines are a few lines, some of them coloured, empty or wide.
func randomLines(q *rand.Rand) string {
	lines := make([]string, q.IntN(6))
	for i := range lines {
		lines[i] = []string{"", "a", "gpu-0 ×2", "\x1b[31mheld\x1b[m by train", "漢字漢字", strings.Repeat("─", 12)}[q.IntN(6)]
	}
	return strings.Join(lines, "\n")
}

// TestFit holds texts that are made to fit, alone and beside each other, against lines that are cut and
// filled up one by one.
func TestFit(t *testing.T) {
	q := rand.New(rand.NewPCG(2, 1))
	fit := func(s string, width, height int) []string {
		lines := make([]string, height)
		for i, line := range strings.Split(s, "\n") {
			if i < height {
				lines[i] = line
				if ansi.StringWidth(line) > width {
					lines[i] = ansi.Truncate(line, width, "")
				}
			}
		}
		return lines
	}
	for n := range 20_000 {
		left, right, width, height := randomLines(q), randomLines(q), q.IntN(14), q.IntN(7)
		if got, want := Fit(left, width, height), strings.Join(fit(left, width, height), "\n"); got != want {
			t.Fatalf("text %d: %q in %dx%d is %q, want %q", n, left, width, height, got, want)
		}
		want := fit(left, width, height)
		for i, b := range fit(right, 6, height) {
			want[i] += styled.Blanks(width-ansi.StringWidth(want[i])) + "│ " + b
		}
		if got := Beside(theme.None(), left, right, width, 8, height); got != strings.Join(want, "\n") {
			t.Fatalf("texts %d: %q beside %q in %d+8x%d is %q, want %q", n, left, right, width, height, got, want)
		}
	}
}
