package record

import "testing"

func TestGallop(t *testing.T) {
	for n := range 40 {
		for want := range n + 1 {
			asked := 0
			got := gallop(n, func(i int) bool {
				if asked++; i < 0 || i >= n {
					t.Fatalf("asked for %d of %d", i, n)
				}
				return i < want
			})
			if got != want || want == 0 && asked > 1 {
				t.Errorf("of %d, %d is the first: got %d after %d questions", n, want, got, asked)
			}
		}
	}
}
