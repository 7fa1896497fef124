package headline_test

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
)

// TestTogether: a sentence about several is true of each of them.
func TestTogether(t *testing.T) {
	b200 := explain.Lack{Class: "gpu", Needed: 1, OfClass: 8, Terms: []string{"model == B200"}, Missing: "model == B200", Have: `"A100", "H100"`}
	with := func(l explain.Lack, changes ...func(*explain.Lack)) *explain.Lack {
		for _, change := range changes {
			change(&l)
		}
		return &l
	}
	needs := func(n, most int) func(*explain.Lack) {
		return func(l *explain.Lack) { l.Needed, l.Most = n, most }
	}
	asks := func(terms ...string) func(*explain.Lack) { return func(l *explain.Lack) { l.Terms = terms } }
	together := func(l *explain.Lack) { l.Constraint = " with the same numa" }
	plain := explain.Lack{Class: "gpu", Needed: 4, Most: 2, OfClass: 8}
	for _, tt := range []struct {
		name  string
		n     int
		lacks []*explain.Lack
		want  string
	}{
		{"one", 1, []*explain.Lack{&plain}, "wants 4 devices of class gpu; no node has more than 2"},
		{"more than there are", 9, []*explain.Lack{with(plain, needs(9, 2)), with(plain, needs(9, 3), asks("a == 1"))}, "want 9 devices of class gpu; no node has more than 8"},
		{"more than there are, for one of them", 9, []*explain.Lack{with(plain, needs(9, 2)), with(plain, needs(8, 7))}, "want 8 to 9 devices of class gpu; no node has that many (at most 2 to 7)"},
		{
			"a term of no device", 9, []*explain.Lack{&b200, with(b200, needs(8, 0), asks("model == B200", "index >= 1"))},
			`want devices of class gpu with model == B200, which no node has (they have "A100", "H100")`,
		},
		{
			"other values", 9, []*explain.Lack{&b200, with(b200, func(l *explain.Lack) { l.Have = `"L40"` })}, "want devices of class gpu with model == B200, which no node has",
		},
		{"other terms of no device", 9, []*explain.Lack{&b200, with(b200, asks("model == B300"), func(l *explain.Lack) { l.Missing = "model == B300" })}, "want 1 device of class gpu; no node has any that fit"},
		{"a term of both", 9, []*explain.Lack{with(plain, asks("a == 1", "b == 1")), with(plain, asks("b == 1"))}, "want 4 devices of class gpu with b == 1; no node has more than 2 that fit"},
		{"the same terms", 9, []*explain.Lack{with(plain, asks("b == 1")), with(plain, asks("b == 1"), needs(3, 1))}, "want 3 to 4 devices of class gpu with b == 1; no node has that many (at most 1 to 2)"},
		{"together", 9, []*explain.Lack{with(plain, together), with(plain, together)}, "want 4 devices of class gpu with the same numa; no node has more than 2 together"},
		{"together, one of them", 9, []*explain.Lack{&plain, with(plain, together)}, "want 4 devices of class gpu; no node has more than 2 as each wants them"},
		{"free", 9, []*explain.Lack{with(plain, func(l *explain.Lack) { l.Taken = true }), with(plain, asks("a == 1"))}, "want 4 devices of class gpu; no node has more than 2 that can be had"},
		{"other classes", 9, []*explain.Lack{&plain, with(plain, func(l *explain.Lack) { l.Class, l.Excluded = "nic", true })}, "want 4 devices of class gpu or nic; no node that they may use has more than 2"},
		{"pools that are ignored", 9, []*explain.Lack{with(plain, needs(9, 2), func(l *explain.Lack) { l.OfClass = -1 }), with(plain, needs(9, 2))}, "want 9 devices of class gpu; no node has more than 2"},
	} {
		if got := headline.Together(tt.n, tt.lacks); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
