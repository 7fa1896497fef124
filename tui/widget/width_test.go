package widget

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestLineWidth: lines are as wide as the library says, whatever they consist of.
func TestLineWidth(t *testing.T) {
	parts := []string{
		"a", "Z", "~", " ", "gpu-0", "\x1b[31m", "\x1b[38;2;1;2;3m", "\x1b[4:3m", "\x1b[m", "\x1b[0", "\x1b", "\x1b]8;;x\x1b\\", "\x1b[2K", "\x1b[?25l",
		"é", "e\u0301", "\u0301", "\u200d", "\ufe0f", "\ufe0e", "漢", "👩‍💻", "🇩🇪", "✔", "⌛", "\t", "\r", "\x00", "\x7f", "\xff", "\x9b31m", "ﾞ", "각", "ᄀ",
	}
	for r := rune(0x80); r < 0x3000; r++ {
		if plainSign(r) {
			parts = append(parts, string(r), string(r))
		}
	}
	q := rand.New(rand.NewPCG(1, 1))
	for n := range 50_000 {
		var b strings.Builder
		for range 1 + q.IntN(6) {
			b.WriteString(parts[q.IntN(len(parts))])
		}
		if got, want := lineWidth(b.String()), ansi.StringWidth(b.String()); got != want {
			t.Fatalf("line %d: %q is %d columns wide, want %d", n, b.String(), got, want)
		}
	}
}

// TestLineWidthIsQuick: what lines consist of is not measured by the library.
func TestLineWidthIsQuick(t *testing.T) {
	for _, line := range []string{"▸ \x1b[1;38;5;12mteam-00\x1b[m  train-00000-3  ✗ stuck  (gpu ×9)  │ ├─ 0/8 ██▌░ …", "● held  ○ free  – none → node · 5d"} {
		if got, want := lineWidth(line), ansi.StringWidth(line); got != want {
			t.Errorf("%q is %d columns wide, want %d", line, got, want)
		}
		for _, r := range ansi.Strip(line) {
			if r > '~' && !plainSign(r) {
				t.Errorf("%s is measured by the library", fmt.Sprintf("%q", r))
			}
		}
	}
}
