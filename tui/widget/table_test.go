package widget

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// repeating is many rows, of which every so many is a heading.
type repeating struct{ rows, every int }

func (r repeating) Len() int { return r.rows }

func (r repeating) Row(i int) Row {
	if i%r.every == 0 {
		return Row{Heading: styled.Line{{Text: "heading"}}}
	}
	return Row{Cells: []styled.Line{{{Text: "a device with a long name"}}}}
}

// TestMeasureOfRepeatingRows: that rows repeat must not hide them from the measure, whatever the period.
func TestMeasureOfRepeatingRows(t *testing.T) {
	for _, every := range []int{2, 3, 5, 9, 17, 45} {
		for _, rows := range []int{100, 5000, 45000, 90000} {
			got := Measure([]Column{{Title: "DEVICE"}}, repeating{rows, every})
			if want := len("a device with a long name"); got[0] != want {
				t.Errorf("%d rows, a heading every %d: width %d, want %d", rows, every, got[0], want)
			}
		}
	}
}

// pools are rows of a pool and a device each.
type pools struct{}

func (pools) Len() int { return 1 }

func (pools) Row(int) Row {
	return Row{Cells: []styled.Line{styled.Text(styled.Plain, "gpu-a-01"), styled.Text(styled.Plain, "gpu-0")}}
}

// TestToldColumns: what the headings say is not said again on the screen, but in every line of plain text,
// which may be searched.
func TestToldColumns(t *testing.T) {
	table := NewTable([]Column{{Title: "POOL", ImpliedByHeading: true}, {Title: "DEVICE"}})
	table.SetRows(pools{}, Measure(table.Columns, pools{}), 0)
	if view := table.View(theme.None(), 60, 5); strings.Contains(view, "POOL") || !strings.Contains(view, "▸ gpu-0") || table.Visible(0) {
		t.Errorf("on the screen:\n%s", view)
	}
	if plain := table.Plain(theme.None(), 0); !strings.Contains(plain, "gpu-a-01  gpu-0") {
		t.Errorf("as text:\n%s", plain)
	}
	if wide := table.Wide(); wide != margin+len("DEVICE")+2 {
		t.Errorf("it takes %d columns", wide)
	}
}

// TestAsideSaysThatItIsCut: who sees no end cannot know that there is more.
func TestAsideSaysThatItIsCut(t *testing.T) {
	body := func(int) string { return "table" }
	text := func(int) []styled.Line { return make([]styled.Line, 12) }
	if out := Aside(theme.None(), body, text, 150, 12); strings.Contains(out, "more") {
		t.Errorf("nothing is cut:\n%s", out)
	}
	if out := Aside(theme.None(), body, text, 150, 10); !strings.Contains(out, "… 3 more lines") {
		t.Errorf("three lines are cut:\n%s", out)
	}
}
