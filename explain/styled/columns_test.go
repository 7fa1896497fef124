package styled

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFitting(t *testing.T) {
	columns := []Column{{Natural: 20, Least: 12}, {Natural: 8, Least: 8}, {Natural: 4, Least: 2, Rank: 2}, {Natural: 30, Least: 6, Rank: 1}}
	for _, tt := range []struct {
		name string
		f    Fitting
		want []int
	}{
		{"all fit", Fitting{Width: 100, Gap: 2}, []int{20, 8, 4, 30}},
		{"the widest gives way", Fitting{Width: 60, Gap: 2}, []int{20, 8, 4, 22}},
		{"the widest give way", Fitting{Width: 50, Gap: 2}, []int{16, 8, 4, 16}},
		{"all grow alike", Fitting{Width: 50, Gap: 2, Evenly: true}, []int{19, 8, 4, 13}}, // from 12, 8, 2 and 6
		{"at their least", Fitting{Width: 34, Gap: 2}, []int{12, 8, 2, 6}},
		{"rank 2 goes first", Fitting{Width: 33, Gap: 2}, []int{12, 8, 0, 9}},
		{"then rank 1, and what fits beside the others comes back", Fitting{Width: 28, Gap: 2}, []int{12, 8, 4, 0}},
		{"or not", Fitting{Width: 28, Gap: 2, Strict: true}, []int{18, 8, 0, 0}},
		{"what has to be shown is", Fitting{Width: 10, Gap: 2}, []int{12, 8, 0, 0}},
	} {
		got := tt.f.Columns(columns)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if n := ColumnsWidth(got, tt.f.Gap); n > tt.f.Width && tt.f.Width > 10 {
			t.Errorf("%s: %d columns, not %d", tt.name, n, tt.f.Width)
		}
	}
}
