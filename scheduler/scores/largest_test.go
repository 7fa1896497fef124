package scores

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLargest compares with sorting, of numbers that are close together and of such that are not.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		numbers := make([]int64, 1+rng.IntN(20))
		spread := []int64{1, 5, 30, 1 << 40}[rng.IntN(4)]
		for i := range numbers {
			numbers[i] = rng.Int64N(spread) - spread/2
		}
		but := rng.IntN(len(numbers))
		sorted := slices.Sorted(slices.Values(numbers))
		if got, want := largest(numbers, but), sorted[len(sorted)-1-but]; got != want {
			t.Fatalf("largest of %d but %d: %d, want %d", numbers, but, got, want)
		}
	}
}
