package output

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/extended"
)

var update = flag.Bool("update", false, "write the golden files again")

// Golden compares with testdata/name. Fields may be added to wire types, never renamed or dropped: a
// Golden file may grow but what is in it must stay.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func Snapshot(t *testing.T) *inspect.Snapshot {
	t.Helper()
	data, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result, err := manifest.ReadBytes("cluster.yaml", data, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{
		Time:     time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GatePartitionableDevicesType: true}),
	})
}

func testLists(t *testing.T) map[string]*List {
	s := Snapshot(t)
	claims := Claims(s, "")
	for _, item := range claims.Items {
		if c := item.(*Claim); c.State == "Pending" {
			c.Reason = "waits for " + c.Name
		}
	}
	return map[string]*List{
		"claims": claims, "devices": Devices(s), "pools": Pools(s), "nodes": Nodes(s), "classes": Classes(s), "extended": testExtended(t, s),
	}
}

func testExtended(t *testing.T, s *inspect.Snapshot) *List {
	survey, err := extended.All(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), s.Inventory())
	if err != nil {
		t.Fatal(err)
	}
	list := ExtendedResources(s, survey)
	list.AddTotals()
	return list
}

func TestListsOnTheWire(t *testing.T) {
	for name, list := range testLists(t) {
		var b bytes.Buffer
		if err := (Format{Name: "json"}).PrintList(&b, list, TableOptions{}); err != nil {
			t.Fatal(err)
		}
		Golden(t, name+".json", b.Bytes())
	}
}

func TestTables(t *testing.T) {
	for name, list := range testLists(t) {
		var b bytes.Buffer
		for _, opts := range []TableOptions{{Width: 80}, {Width: 80, Namespace: true, NoHeaders: true}, {Wide: true, Namespace: true}} {
			if err := PrintTable(&b, list, opts); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\n")
		}
		Golden(t, name+".txt", b.Bytes())
	}
}

// hostile is text that would change a terminal or mislead a reader if it were printed as it is.
const hostile = "a\x1b[31mred\u009b0m\u202egnp\u2066\n\x07\U000e0041\u3164\ufe0fZ\u0301\u0301\u0301\u0301\u0301"

var decoders = map[string]func([]byte, any) error{
	"json": json.Unmarshal,
	"yaml": func(data []byte, v any) error { return yaml.Unmarshal(data, v) },
}

func TestHostileTextSurvivesEncodingUnseen(t *testing.T) {
	value := map[string]any{"k" + hostile: hostile, "list": []any{"x\x01000000AA\x01y", `\x0100000041\x01`, "größe"}}
	for _, format := range []string{"json", "yaml"} {
		var b bytes.Buffer
		if err := (Format{Name: format}).PrintValue(&b, value); err != nil {
			t.Fatal(err)
		}
		if unsafeText(b.String()) {
			t.Errorf("%s is not safe to show:\n%q", format, b.String())
		}
		var back map[string]any
		if err := decoders[format](b.Bytes(), &back); err != nil {
			t.Fatalf("%s does not read back: %v\n%s", format, err, b.String())
		}
		if diff := cmp.Diff(value, back); diff != "" {
			t.Errorf("%s reads back differently (-want +got):\n%s", format, diff)
		}
	}
}

// TestEncodingsReadBack puts texts together from pieces that are special to one of the encodings.
func TestEncodingsReadBack(t *testing.T) {
	pieces := []string{
		`\x01`, "\x01", "00000041", "\ue000", "\ue000\ue000\x01", `\`, `"`, "'", "\n", "\t", " ", ": ", "#", "- ", "|", "~", "é", "e\u0301\u0301\u0301\u0301\u0301",
		"\u0301", "\u3164", "\u2028", "\u0085", "\u009b", "\x7f", "\ufeff", "\U000e0041", "\U000f0000", "long word ", "true", "1e3", "\ufffd", "🙂",
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts in every run
	texts := slices.Clone(pieces)
	for range effort.Of(5000, 1250) {
		text := ""
		for range 1 + random.IntN(8) {
			text += pieces[random.IntN(len(pieces))]
		}
		texts = append(texts, text, strings.Repeat(text, 12)) // long enough for lines to be folded
	}
	for _, text := range texts {
		value := map[string]any{"key " + text: text, "list": []any{text, map[string]any{"a": text}}}
		for _, format := range []string{"json", "yaml"} {
			var b bytes.Buffer
			if err := (Format{Name: format}).PrintValue(&b, value); err != nil {
				t.Fatal(err)
			}
			if unsafeText(b.String()) {
				t.Errorf("%s of %q is not safe to show: %q", format, text, b.String())
			}
			var back map[string]any
			if err := decoders[format](b.Bytes(), &back); err != nil {
				t.Fatalf("%s of %q does not read back: %v\n%s", format, text, err, b.String())
			}
			if diff := cmp.Diff(value, back); diff != "" {
				t.Fatalf("%s of %q reads back differently (-want +got):\n%s", format, text, diff)
			}
		}
	}
}

// hostileList is a list of one claim with hostile names everywhere.
func hostileList() *List {
	list := NewList("ClaimList", "resourceclaim", claimTable)
	list.Items = append(list.Items, &Claim{
		Namespace: hostile, Name: hostile, State: "Pending", Node: hostile, Reason: hostile,
		Devices: []string{hostile}, Pods: []string{hostile}, Age: "1m", Listed: Listed{Meta{Namespace: hostile, Name: hostile}},
	})
	return list
}

func TestNoFormatPrintsHostileText(t *testing.T) {
	for _, format := range []string{
		"", "wide", "name", "custom-columns=A:.name,B:.devices", `jsonpath={range .items[*]}{.name} {.devices}{"\n"}{end}`,
		"go-template={{range .items}}{{.name}} {{.reason}}{{end}}",
	} {
		f, err := ParseFormat(format, TableFormats)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.PrintList(&b, hostileList(), TableOptions{Namespace: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "red") {
			t.Errorf("-o %s does not show the name: %q", format, b.String())
		}
		if unsafeText(b.String()) {
			t.Errorf("-o %s is not safe to show: %q", format, b.String())
		}
	}
}

func TestCustomColumns(t *testing.T) {
	list := testLists(t)["claims"]
	f, err := ParseFormat("custom-columns=NAME:metadata.name,NS:{.namespace},FIRST:.devices[0],NONE:.nope.at.all", TableFormats)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.PrintList(&b, list, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "NAME      NS    FIRST                      NONE\n" +
		"held      ml    gpu.example.com/n1/gpu-0   <none>\n" +
		"train-0   ml    <none>                     <none>\n" +
		"watcher   ops   gpu.example.com/n1/gpu-0   <none>\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

func TestSort(t *testing.T) {
	tests := map[string]struct {
		list, by string
		want     []string
	}{
		"text":                {"claims", ".state", []string{"watcher", "train-0", "held"}}, // Deleting, Pending, Reserved
		"number":              {"pools", "{.generation}", []string{"mig.example.com/mig", "nic.example.com/fabric", "gpu.example.com/n1"}},
		"quantity":            {"devices", ".capacity.memory.used", []string{"mig.example.com/mig/half", "mig.example.com/mig/whole", "gpu.example.com/n1/gpu-2", "nic.example.com/fabric/nic-0", "gpu.example.com/n1/gpu-1", "gpu.example.com/n1/gpu-0"}},
		"age, youngest first": {"claims", ".age", []string{"train-0", "held", "watcher"}},
		"metadata.name":       {"claims", ".metadata.name", []string{"held", "train-0", "watcher"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list := testLists(t)[test.list]
			if err := list.Sort(test.by); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range list.Items {
				got = append(got, item.Meta().Name)
			}
			if name == "quantity" { // items without the field come first, in whatever order they had
				got, test.want = got[len(got)-2:], test.want[len(test.want)-2:]
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("order (-want +got):\n" + diff)
			}
		})
	}
	if err := testLists(t)["claims"].Sort(".nope"); err == nil {
		t.Error("sorting by a field that does not exist is no error")
	}
}

func TestFormatsThatCannotBeUsed(t *testing.T) {
	tests := map[string]string{
		"xml":                  `unknown output format "xml"`,
		"jsonpath":             "needs an argument",
		"json=x":               "takes no argument",
		"jsonpath={.items[}":   "jsonpath",
		"go-template={{":       "template",
		"custom-columns=NAME":  "want HEADER:.field",
		"custom-columns=A:.x[": `field ".x["`,
	}
	for text, want := range tests {
		_, err := ParseFormat(text, TableFormats)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("-o %s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestTableFits(t *testing.T) {
	columns := []Column{{Header: "NAME"}, {Header: "A", Cut: CutText, Rank: 1}, {Header: "B", Cut: CutList, Rank: 2}}
	name, text, list := strings.Repeat("n", 40), strings.Repeat("a", 60), "first-name,second-name,third-name"
	for width, want := range map[int]string{
		0:   name + "   " + text + "   " + list,
		200: name + "   " + text + "   " + list,
		100: name + "   " + strings.Repeat("a", 26) + "...   " + "first-name,second-name,+1",
		80:  name + "   " + strings.Repeat("a", 34) + "...",
		60:  name + "   " + strings.Repeat("a", 14) + "...",
		50:  name, // neither column fits
		30:  name, // never cut
	} {
		var b bytes.Buffer
		if err := WriteTable(&b, columns, [][]string{{name, text, list}}, TableOptions{NoHeaders: true, Width: width}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Errorf("width %d:\n%q, want\n%q", width, got, want)
		}
	}
}

// TestTableCountsColumns has text in which characters, bytes and columns are three different numbers.
func TestTableCountsColumns(t *testing.T) {
	columns := []Column{{Header: "A", Cut: CutText}, {Header: "B"}}
	rows := [][]string{{"日本語", "wide"}, {"re\u0301sume\u0301", "combining"}, {"plain", "plain"}, {strings.Repeat("日本", 9), "cut"}}
	const want = `
A              B
日本語         wide
résumé         combining
plain          plain
日本日本...    cut
`
	var b bytes.Buffer
	if err := WriteTable(&b, columns, rows, TableOptions{Width: 24}); err != nil {
		t.Fatal(err)
	}
	got := "\n" + strings.ReplaceAll(b.String(), "e\u0301", "é")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestNamesAreNeverCut(t *testing.T) {
	long := strings.Repeat("a-long-name-", 10)
	for what, list := range map[string]*List{
		"claim":             {Table: claimTable, Items: []Item{&Claim{Name: long, Pods: []string{"ns/" + long, "ns/b"}, Reason: "r", State: "Pending"}}},
		"device":            {Table: deviceTable, Items: []Item{&Device{Device: long, Pool: long, Driver: long, Claims: []string{long, long}}}},
		"pool":              {Table: poolTable, Items: []Item{&Pool{Pool: long, Driver: long}}},
		"node":              {Table: nodeTable, Items: []Item{&Node{Name: long}}},
		"class":             {Table: classTable, Items: []Item{&Class{Name: long}}},
		"extended resource": {Table: extendedTable, Items: []Item{&ExtendedResource{Name: "example.com/" + long, Node: long, Class: long}}},
		"storage":           {Table: storageTable, Items: []Item{&Storage{Name: "s", Nodes: []string{long, "n2"}, NodeTopology: &metav1.LabelSelector{}}}},
	} {
		for _, width := range []int{80, 200, 0} {
			var b bytes.Buffer
			if err := PrintTable(&b, list, TableOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), long) || strings.Contains(b.String(), "...") {
				t.Errorf("%s in %d columns:\n%s", what, width, b.String())
			}
		}
	}
}
