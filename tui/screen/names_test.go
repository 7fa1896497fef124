package screen

import "testing"

// FuzzCompareNames: the order of names is a total one, whatever they are.
func FuzzCompareNames(f *testing.F) {
	f.Add("gpu-2", "gpu-10", "gpu-02")
	f.Add("", "0", "00")
	f.Add("1a", "01", "1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if CompareNames(a, b) != -CompareNames(b, a) || (CompareNames(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q: %d, and turned round %d", a, b, CompareNames(a, b), CompareNames(b, a))
		}
		if CompareNames(a, b) <= 0 && CompareNames(b, c) <= 0 && CompareNames(a, c) > 0 {
			t.Errorf("%q, %q, %q are in order, but not the first and the last", a, b, c)
		}
	})
}
