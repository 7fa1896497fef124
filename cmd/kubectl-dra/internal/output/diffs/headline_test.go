package diffs

import (
	"testing"
)

// TestDiffHeadline: that nothing flipped is said only where everything was read and decided.
func TestDiffHeadline(t *testing.T) {
	for _, test := range []struct {
		flips, changes int
		certain        bool
		want           string
	}{
		{1, 1, false, "1 claim or pod has another verdict, or other devices"},
		{2, 1, true, "2 claims and pods have another verdict, or other devices"},
		{0, 1, true, "No verdict flipped"},
		{0, 1, false, "No verdict is known to have flipped"},
		{0, 0, true, "Nothing changed"},
		{0, 0, false, "Nothing is known to have changed"},
	} {
		if got := diffHeadline(test.flips, test.changes, test.certain); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
