package words

import (
	"cmp"
	"strings"
)

// CompareNames orders names, and other texts, so that numbers in them count by value: gpu-2 comes before
// gpu-10. Texts that only differ in leading zeros compare by their bytes.
func CompareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if n, m := digits(x), digits(y); n > 0 && m > 0 {
			p, q := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits is the length of the run of digits with which a text begins.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
