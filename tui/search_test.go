package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestSearchOnPages: / looks for text on every page. What is typed is text and no command, n and N go from
// match to match, and Esc ends the search before it closes the page.
func TestSearchOnPages(t *testing.T) {
	claim := screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-0"}
	for _, kind := range []screen.Page{screen.Explain, screen.Detail, screen.YAML} {
		d := drive(t, 80, 24, "claims")
		d.send(screen.Open{Page: kind, Ref: claim})
		d.pass()
		d.press("/", "q", "D", "A", "w", "1") // each of which would do something else
		d.shows("/qDAw1", "no match")
		if d.m.popup != nil || len(d.m.pages) != 1 || len(d.m.hypotheses) > 0 {
			t.Fatalf("%s: what is typed is carried out", kind)
		}
		d.press("esc")
		d.shows("ml/train-0")
		d.press("/", "G", "P", "U", "enter")
		d.shows("search GPU", "match 1 of", "▸")
		d.press("n")
		d.shows("match 2 of")
		d.press("N", "N")
		if frame := d.frame(); strings.Contains(frame, "match 1 of") || strings.Contains(frame, "match 2 of") {
			t.Errorf("%s: N before the first match does not go to the last:\n%s", kind, frame)
		}
		d.press("esc")
		if frame := d.frame(); strings.Contains(frame, "search GPU") || len(d.m.pages) != 1 {
			t.Errorf("%s: Esc does not end the search:\n%s", kind, frame)
		}
		d.press("esc")
		if len(d.m.pages) != 0 {
			t.Errorf("%s: Esc does not close the page", kind)
		}
	}
}

// TestSearchInHelp: the same in the help, which any other key closes.
func TestSearchInHelp(t *testing.T) {
	d := drive(t, 80, 24, "claims")
	d.press("?", "/", "s", "o", "r", "t")
	d.shows("/sort", "▸")
	if d.m.popup == nil {
		t.Fatal("what is typed closes the help")
	}
	at := func() int { n, _ := d.m.popup.page.Found(); return n }
	first := at()
	d.press("enter", "n")
	if d.m.popup == nil || at() <= first {
		t.Errorf("n does not go on from match %d", first)
	}
	d.press("N")
	if d.m.popup == nil || at() != first {
		t.Error("N does not go back")
	}
	d.press("x")
	if d.m.popup != nil {
		t.Error("the help stays open")
	}
}
