package allocator

import "testing"

// FuzzAllocate turns bytes into a problem and compares with the scheduler's allocator.
func FuzzAllocate(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(40) {
		d := seeded(3_000_000 + seed)
		generate(d)
		f.Add(d.log)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		q := generate(recorded(choices))
		if got := compare(q, codesSeen{}); got.differs != "" {
			t.Fatalf("%s\n%s", got.differs, q)
		}
	})
}

// TestProblemsReplay: the recorded choices of a problem give the same problem again. Otherwise a
// disagreement could neither be made smaller nor be repeated.
func TestProblemsReplay(t *testing.T) {
	for seed := range uint64(50) {
		d := seeded(seed)
		want := generate(d).String()
		if got := generate(recorded(d.log)).String(); got != want {
			t.Fatalf("seed %d: the replay differs:\n%s\nwant:\n%s", seed, got, want)
		}
	}
}

// TestShrinkKeepsTheDisagreement: what is left of the choices still has the property, and nothing else.
func TestShrinkKeepsTheDisagreement(t *testing.T) {
	sum := func(choices []byte) (n int) {
		for _, c := range choices {
			n += int(c)
		}
		return n
	}
	got := shrink([]byte{9, 0, 3, 200, 7, 1}, func(c []byte) bool { return sum(c) >= 100 })
	if len(got) != 1 || got[0] != 100 {
		t.Errorf("shrunk to %v, want [100]", got)
	}
}
