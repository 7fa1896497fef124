package widget

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

func TestHitsIn(t *testing.T) {
	for _, tt := range []struct {
		line, text string
		want       [][2]int
	}{
		{"gpu-0 and GPU-1", "gpu", [][2]int{{0, 3}, {10, 13}}},
		{"aaaa", "aa", [][2]int{{0, 2}, {2, 4}}},
		{"装置 gpu", "gpu", [][2]int{{5, 8}}}, // two columns each
		{"Ärger", "ä", [][2]int{{0, 1}}},
		{"short", "longer than that", nil},
		{"", "x", nil},
	} {
		var got [][2]int
		for _, h := range hitsIn(0, tt.line, tt.text) {
			got = append(got, [2]int{h.from, h.to})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", tt.text, tt.line, diff)
		}
	}
}

// TestSeek: the search begins with what is shown, goes round, and does not change the text.
func TestSeek(t *testing.T) {
	var p Page
	var lines []styled.Line
	for _, text := range []string{"one gpu", "", "", "", "", "two gpus", "", "", "", "three"} {
		lines = append(lines, styled.Line{{Text: text[:len(text)/2], Role: styled.Dim}, {Text: text[len(text)/2:], Link: "x"}})
	}
	p.SetLines(lines)
	p.View(theme.None(), 20, 3)
	p.Scroll(2)
	p.Seek("")
	p.Seek("GPU")
	if at, of := p.Found(); at != 2 || of != 2 || p.Margin(0)+p.Margin(1)+p.Margin(2) != "  ▸" {
		t.Errorf("at %d of %d, margin %q", at, of, p.Margin(0)+p.Margin(1)+p.Margin(2))
	}
	p.SeekNext(1)
	if got := p.View(theme.None(), 20, 3); p.Margin(0) != "▸" || got != "one gpu             \n                    \n                    " {
		t.Errorf("%q", got)
	}
	p.Seek("nowhere")
	if at, of := p.Found(); at != 0 || of != 0 {
		t.Errorf("at %d of %d", at, of)
	}
}
