package markdown_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/markdown/markdowntest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// document has texts in places of all kinds.
func document(texts ...string) string {
	at := 0
	next := func() string { at++; return texts[at%len(texts)] }
	text := func() markdown.Inline { return markdown.Join(markdown.Text("x"), markdown.Text(next())) }
	bare := func() markdown.Inline { // a text that begins a block, of which something is left
		if s := next(); strings.TrimSpace(inspect.Sanitize(s)) != "" {
			return markdown.Text(s)
		}
		return markdown.Text("x")
	}
	code := func() markdown.Inline { return markdown.Join(markdown.Code(next()), markdown.Text("x")) }
	var d markdown.Document
	d.Headline(text())
	d.Paragraph(bare())
	d.Headline(bare())
	d.Bullets(bare(), text(), code())
	d.Paragraph(markdown.Join(markdown.Strong(bare()), text(), code(), text()))
	d.Table("", []string{"A", "B", "C"}, [][]markdown.Inline{{text(), code(), code()}, {code(), bare(), text()}, {code(), markdown.Text("x"), code()}})
	d.Numbered(1, bare(), func() {
		d.Bullets(bare(), code())
		d.Commands(next(), next())
	})
	d.Numbered(2, markdown.Strong(text()), nil)
	d.Commands(next())
	d.Paragraph(code())
	return d.String()
}

// TestHostileText puts every hostile text into every place: the structure is that of harmless text, there is
// nothing that does something, and what is read is what was written.
func TestHostileText(t *testing.T) {
	want := markdowntest.Read(document("harmless")).Outline
	for _, text := range markdowntest.Hostile() {
		check(t, want, text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		texts := make([]string, 1+random.IntN(5))
		for i := range texts {
			for range random.IntN(4) {
				texts[i] += markdowntest.Hostile()[random.IntN(len(markdowntest.Hostile()))]
				if random.IntN(2) == 0 {
					texts[i] += " "
				}
			}
		}
		check(t, want, texts...)
	}
}

func check(t *testing.T, want string, texts ...string) {
	t.Helper()
	source := document(texts...)
	page := markdowntest.Read(source)
	if page.Outline != want || len(page.Problems) > 0 {
		t.Fatalf("%q: %v\n%s\n%s", texts, page.Problems, page.Outline, source)
	}
	read := strings.Join(strings.Fields(page.Text), "")
	for _, text := range texts {
		wrote := strings.Join(strings.Fields(inspect.Sanitize(text)), "")
		if !strings.Contains(read, wrote) {
			t.Fatalf("%q does not appear in what is read:\n%s\n%s", text, page.Text, source)
		}
	}
}

func FuzzDocument(f *testing.F) {
	for _, text := range markdowntest.Hostile() {
		f.Add(text, "x "+text)
	}
	want := markdowntest.Read(document("harmless")).Outline
	f.Fuzz(func(t *testing.T, a, b string) { check(t, want, a, b) })
}

func TestText(t *testing.T) {
	for _, test := range [][2]string{
		{"ml/train-0 needs 5 devices of class gpu.example.com; no node has more than 4 free", "`ml/train-0` needs 5 devices of class `gpu.example.com`; no node has more than 4 free"},
		{"(2 of them, in use)", "(2 of them, in use)"},
		{"the term device.driver == 'x' && size > 5 is false", "the term `device.driver == 'x' && size > 5` is false"},
		{"accept v >= 5 instead of > 8.0.1", "accept `v >= 5` instead of `> 8.0.1`"},
		{"1. first", "`1`. first"},
		{"it's kube-scheduler's own", "it's kube-scheduler's own"},
		{"ask @team, or #5", "ask `@team`, or `#5`"},
		{"for pod train-0 (spec.nodeName)", "for pod `train-0` (`spec.nodeName`)"},
		{`device.attributes["a"].b is "x"`, "`device.attributes[\"a\"].b` is \"x\""},
		{"isGreaterThan(quantity('1Gi')) fails", "`isGreaterThan(quantity('1Gi'))` fails"},
	} {
		if got := markdown.Text(test[0]).String(); got != test[1] {
			t.Errorf("Text(%q) = %s", test[0], got)
		}
	}
}

// TestBars: a bar behind a backslash ends a cell for some parsers, for others it does not.
func TestBars(t *testing.T) {
	var d markdown.Document
	d.Table("", []string{"A"}, [][]markdown.Inline{{markdown.Code(`a|b\|c`)}})
	if got := d.String(); !strings.Contains(got, "`a\\|b\\¦c`") {
		t.Error(got)
	}
}
