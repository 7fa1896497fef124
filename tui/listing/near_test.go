package listing

import (
	"fmt"
	"testing"
)

// near finds a row wherever it has gone, and the place itself if it is gone.
func TestNear(t *testing.T) {
	config := diskConfig()
	made := 0
	config.Key = func(d *disk) string { made++; return d.name }
	var many []disk
	for i := range 1000 {
		many = append(many, disk{name: fmt.Sprint(i)})
	}
	a := arrange(config, many, order{sort: -1, grouping: -1})
	for _, row := range []int{0, 1, 499, 500, 501, 998, 999} {
		for _, at := range []int{0, 500, 999, 1500} {
			if got := a.near(at, fmt.Sprint(row)); got != row {
				t.Errorf("from %d, row %d is found at %d", at, row, got)
			}
		}
	}
	if got := a.near(7, "gone"); got != 7 {
		t.Errorf("a row that is gone is found at %d", got)
	}
	if made = 0; a.near(700, "705") != 705 || made > 20 {
		t.Errorf("%d keys are made to find a row five rows away", made)
	}
}
