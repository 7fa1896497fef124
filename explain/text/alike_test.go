package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// TestAlike: what is the same answer for many is written once, with their names; an answer with other words,
// another fix or devices is written by itself.
func TestAlike(t *testing.T) {
	refused := func(name, predicate string, fixes ...string) *explain.Explanation {
		e := &explain.Explanation{
			Subject: explain.Subject{Kind: "Pod", Namespace: "ml", Name: name}, Verdict: explain.Unsatisfiable,
			Message: "ml/" + name + " " + predicate, Predicate: predicate,
		}
		for _, fix := range fixes {
			e.Fixes = append(e.Fixes, explain.Fix{Message: fix})
		}
		return e
	}
	var all []*explain.Explanation
	for i := range 50 {
		all = append(all, refused(fmt.Sprintf("w-%d", i), "needs 2 devices"))
	}
	fits := refused("fits", "can be scheduled")
	fits.Verdict = explain.Allocatable
	all = append(all, refused("other", "needs 3 devices"), refused("fixed", "needs 2 devices", "ask for 1"), fits, fits)
	var out strings.Builder
	if err := RenderAll(&out, all, Options{}); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if n := strings.Count(got, "✗"); n != 3 {
		t.Errorf("%d answers:\n%s", n, got)
	}
	if n := strings.Count(got, "✓"); n != 2 {
		t.Errorf("%d of what fits:\n%s", n, got)
	}
	if want := "The same is true of 50: ml/w-0, ml/w-1, ml/w-2, ml/w-3, ml/w-4, ml/w-5 and 44\n  more; this is the answer for the first (-v shows each)\n\n✗ ml/w-0 needs 2 devices\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	out.Reset()
	if err := RenderAll(&out, all, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "✗"); n != 52 {
		t.Errorf("%d answers with -v", n)
	}
}

// TestStuckNames: the object that made many pods stands for them, unless all are asked for; few pods are
// named.
func TestStuckNames(t *testing.T) {
	var list []explain.StuckSubject
	add := func(namespace, owner string, names ...string) {
		for _, name := range names {
			list = append(list, explain.StuckSubject{Subject: explain.Subject{Kind: "Pod", Namespace: namespace, Name: name}, Owner: owner})
		}
	}
	add("ml", "StatefulSet w", "w-0", "w-1")
	add("dev", "StatefulSet w", "w-0", "w-1")
	add("ml", "", "lone")
	add("ml", "StatefulSet w", "w-2")
	p := &page{}
	if got, want := p.stuckNames(list), "3 of StatefulSet ml/w, dev/w-0, dev/w-1, ml/lone"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Verbose = true
	if got, want := p.stuckNames(list), "ml/w-0, ml/w-1, dev/w-0, dev/w-1, ml/lone, ml/w-2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
