package widget

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// linked is a page of twenty lines with links in some of them.
func linked() *Page {
	lines := make([]styled.Line, 20)
	for i := range lines {
		lines[i] = styled.Line{{Text: "plain "}}
	}
	lines[1] = styled.Line{{Text: "to "}, {Text: "a", Link: "a"}, {Text: " and "}, {Text: "b", Link: "b"}}
	lines[4] = styled.Line{{Text: "to "}, {Text: "c", Link: "c"}}
	lines[15] = styled.Line{{Text: "to "}, {Text: "d", Link: "d"}}
	p := &Page{}
	p.SetLines(lines)
	return p
}

// TestStepsAlongLinks: the cursor goes from link to link while they are in sight, and the page scrolls where
// there are none.
func TestStepsAlongLinks(t *testing.T) {
	p := linked()
	draw := func() string { return p.View(theme.None(), 20, 6) }
	draw()
	if p.Link() != "" {
		t.Fatalf("in the beginning the cursor is on %q", p.Link())
	}
	var path []string
	step := func(by, times int) {
		for range times {
			p.Step(by)
			draw()
			if n := len(path); p.Link() != "" && (n == 0 || path[n-1] != p.Link()) {
				path = append(path, p.Link())
			}
		}
	}
	step(1, 40)
	if got := strings.Join(path, ""); got != "abcd" {
		t.Errorf("down leads along %q", got)
	}
	if p.More() != 0 {
		t.Error("down does not lead to the end")
	}
	path = nil
	step(-1, 60)
	if got := strings.Join(path, ""); got != "dcba" {
		t.Errorf("up leads along %q", got)
	}
	if p.top != 0 {
		t.Errorf("up ends at line %d", p.top)
	}
}

func TestLinkUnderTheCursorIsMarked(t *testing.T) {
	p := linked()
	p.View(theme.None(), 20, 6)
	p.Step(1)
	p.Step(1)
	view := p.View(theme.None(), 20, 6)
	if !strings.Contains(view, "to a and▸b") {
		t.Errorf("the cursor is not to be seen:\n%s", view)
	}
	for line := range strings.SplitSeq(view, "\n") {
		if styled.Width(line) != 20 {
			t.Errorf("%q is %d columns wide", line, styled.Width(line))
		}
	}
}

// TestCursorStaysWithItsLink: also when lines come before it, and it is on none when its link has gone.
func TestCursorStaysWithItsLink(t *testing.T) {
	p := linked()
	p.View(theme.None(), 20, 6)
	p.Step(1)
	p.Step(1) // at b
	lines := append([]styled.Line{{{Text: "new", Link: "new"}}}, p.lines...)
	if p.SetLines(lines); p.Link() != "b" {
		t.Errorf("the cursor has gone to %q", p.Link())
	}
	if p.SetLines([]styled.Line{{{Text: "x", Link: "x"}}}); p.Link() != "" {
		t.Errorf("the cursor is on %q", p.Link())
	}
	p = linked()
	p.View(theme.None(), 20, 6)
	p.Step(1)
	if p.Scroll(10); p.Link() != "" {
		t.Errorf("out of sight the cursor is on %q", p.Link())
	}
}

func TestClickOnALink(t *testing.T) {
	p := linked()
	p.View(theme.None(), 20, 6)
	if p.Click(0, 1) || p.Click(4, 1) {
		t.Error("there is no link")
	}
	if !p.Click(9, 1) || p.Link() != "b" {
		t.Errorf("a click on b leads to %q", p.Link())
	}
}

// TestCountBar: used, lost and free add up to the width, and none of them is missing that is there.
func TestCountBar(t *testing.T) {
	for _, tt := range []struct {
		used, lost, total int
		want              string
	}{
		{0, 0, 8, "··········"}, {8, 0, 8, "██████████"}, {0, 8, 8, "▒▒▒▒▒▒▒▒▒▒"}, {4, 4, 8, "█████▒▒▒▒▒"},
		{1, 0, 100, "█·········"}, {99, 0, 100, "█████████·"}, {1, 7, 8, "█▒▒▒▒▒▒▒▒▒"}, {0, 0, 0, "··········"}, {1, 1, 100, "█▒········"},
	} {
		if got := CountBar(tt.used, tt.lost, tt.total, 10).String(); got != tt.want {
			t.Errorf("%d used and %d lost of %d: %s, want %s", tt.used, tt.lost, tt.total, got, tt.want)
		}
	}
}

// TestSpareColumns are shown only where all others have the room that they want.
func TestSpareColumns(t *testing.T) {
	table := NewTable([]Column{{Title: "NAME", Min: 4}, {Title: "WHY", Min: 4}, {Title: "PODS", Spare: true, Min: 6}})
	rows := texts{{"some-claim", "a long reason that needs room", "some-pod"}}
	table.SetRows(rows, Measure(table.Columns, rows), 0)
	if view := table.View(theme.None(), 40, 3); strings.Contains(view, "PODS") || !strings.Contains(view, "some-claim  a long reason") {
		t.Errorf("on 40 columns:\n%s", view)
	}
	if view := table.View(theme.None(), 60, 3); !strings.Contains(view, "needs room  some-pod") {
		t.Errorf("on 60 columns:\n%s", view)
	}
	if !table.Visible(2) {
		t.Error("the column is shown and not visible")
	}
	if table.View(theme.None(), 40, 3); table.Visible(2) {
		t.Error("the column is visible and not shown")
	}
}

// texts are rows of plain text.
type texts [][]string

func (r texts) Len() int { return len(r) }

func (r texts) Row(i int) Row {
	var row Row
	for _, s := range r[i] {
		row.Cells = append(row.Cells, styled.Text(styled.Plain, s))
	}
	return row
}
