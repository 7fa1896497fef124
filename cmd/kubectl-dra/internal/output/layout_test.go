package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLayoutKeepsColumns prints rows in three steps: columns stay in place, names are never cut, and text
// grows only into the room that the terminal has left.
func TestLayoutKeepsColumns(t *testing.T) {
	columns := []Column{{Header: "NAME"}, {Header: "NODE"}, {Header: "REASON", Cut: CutText, Least: 8}}
	opts := TableOptions{Width: 36, Layout: &Layout{}}
	var b strings.Builder
	for _, rows := range [][][]string{
		{{"a", "", ""}},
		{{"b", "node-1", "no device is large enough"}},
		{{"a-much-longer-name", "n", "no device is large enough"}},
		{{"c", "n", "short"}},
	} {
		if err := WriteTable(&b, columns, rows, opts); err != nil {
			t.Fatal(err)
		}
	}
	want := "NAME   NODE   REASON\n" +
		"a\n" +
		"b      node-1   no device is larg...\n" +
		"a-much-longer-name   n        no device is larg...\n" +
		"c                    n        short\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLayoutWithoutHeaders: a column that is empty at first still has its place.
func TestLayoutWithoutHeaders(t *testing.T) {
	opts := TableOptions{NoHeaders: true, Layout: &Layout{}}
	var b strings.Builder
	for _, row := range [][]string{{"a", "", "x"}, {"b", "n1", "y"}} {
		if err := WriteTable(&b, []Column{{Header: "NAME"}, {Header: "NODE"}, {Header: "Z"}}, [][]string{row}, opts); err != nil {
			t.Fatal(err)
		}
	}
	if want := "a             x\nb      n1     y\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestPrintStreamSeparatesDocuments(t *testing.T) {
	list := NewList("ClaimList", "resourceclaim", claimTable)
	list.Items = []Item{&Claim{Name: "a"}, &Claim{Name: "b"}}
	for format, want := range map[Format]string{
		{Name: "yaml"}: "---\n", {Name: "json"}: "{\"apiVersion\":\"kubectl-dra.dev/v1alpha1\",\"kind\":\"Claim\",\"metadata\":{\"name\":\"\"},\"namespace\":\"\",\"name\":\"a\"", {Name: "jsonpath", Argument: "{.name};"}: "a;b;",
	} {
		var b strings.Builder
		if err := format.PrintStream(&b, list, TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "ClaimList") {
			t.Errorf("-o %s: %q", format.Name, b.String())
		}
	}
}

func TestChangedIgnoresAge(t *testing.T) {
	if Changed(&Claim{Name: "a", Age: "1s"}, &Claim{Name: "a", Age: "2s"}) {
		t.Error("only the age differs")
	}
	if !Changed(&Claim{Name: "a", State: "Pending", Age: "1s"}, &Claim{Name: "a", State: "Allocated", Age: "1s"}) {
		t.Error("the state differs")
	}
	if Changed(&Device{Device: "x"}, &Device{Device: "x"}) || !Changed(&Device{State: "Free"}, &Device{State: "Allocated"}) {
		t.Error("devices have no age")
	}
}
