package widget

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/styled"
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
