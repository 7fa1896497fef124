package documents

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// example is a question of which the answer has a code.
type example struct {
	// from is an archive of the repository with the cluster; "" is the demo cluster.
	from string
	// ask is the question, as arguments of explain.
	ask string
}

// ours are the archives of this package, which the others have no case for.
const ours = "cmd/kubectl-dra/internal/documents/testdata/examples/"

// answered is an example with its answer.
type answered struct {
	example
	about   string // the first line of the archive
	command string
	at      time.Time
	text    string
	items   []map[string]any // the answers as JSON
}

// file is the file of an archive that has the cluster.
func (e example) file(a *txtar.Archive) string {
	for _, name := range []string{"cluster.yaml", "cluster.json", "pod.yaml"} {
		if slices.ContainsFunc(a.Files, func(f txtar.File) bool { return f.Name == name }) {
			return name
		}
	}
	return ""
}

// answer asks the question of an example.
func (e example) answer(s *stage) *answered {
	s.t.Helper()
	out := &answered{example: e, at: demo.Now(), command: "explain " + e.ask + " --demo"}
	if e.from != "" {
		s.unpack(e.from)
		archive, err := txtar.ParseFile(filepath.Join(root, filepath.FromSlash(e.from)))
		if err != nil {
			s.t.Fatal(err)
		}
		out.about = strings.Join(strings.Fields(string(archive.Comment)), " ")
		out.command = "explain " + e.ask + " --from " + e.file(archive)
		if e.file(archive) == "pod.yaml" { // which is asked about in the demo cluster
			out.command = "explain -f pod.yaml --demo"
		}
		for _, f := range archive.Files {
			switch f.Name {
			case "features":
				out.command += " --features " + gatesOf(string(f.Data))
			case "ask":
				out.at = timeOf(s.t, string(f.Data))
			}
		}
	}
	s.at = out.at
	r := s.program(strings.Fields(out.command)...)
	if r.code == 2 || r.stdout == "" {
		s.t.Fatalf("kubectl dra %s ends with exit code %d: %s", out.command, r.code, r.stderr)
	}
	out.text = r.stdout
	var answers struct {
		Items []map[string]any `json:"items"`
	}
	data := []byte(s.program(append(strings.Fields(out.command), "-o", "json")...).stdout)
	if err := json.Unmarshal(data, &answers); err != nil {
		s.t.Fatal(err)
	}
	if answers.Items == nil {
		answers.Items = make([]map[string]any, 1)
		if err := json.Unmarshal(data, &answers.Items[0]); err != nil {
			s.t.Fatal(err)
		}
	}
	out.items = answers.Items
	return out
}

// gatesOf are feature gates, one on each line, as --features takes them.
func gatesOf(text string) string {
	var gates []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			gates = append(gates, line)
		}
	}
	return strings.Join(gates, ",")
}

// timeOf is the time at which a scenario of testdata/running is asked about.
func timeOf(t *testing.T, ask string) time.Time {
	t.Helper()
	_, text, _ := strings.Cut(ask, "\nat ")
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// entry is what an answer has under a key with a code, such as the reason of a group, or nil.
func (a *answered) entry(key, code string, below ...string) map[string]any {
	for _, item := range a.items {
		if found := entryIn(any(item), below, key, code); found != nil {
			return found
		}
	}
	return nil
}

// entryIn goes down a path of fields, and through all elements of lists.
func entryIn(v any, path []string, key, code string) map[string]any {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			if found := entryIn(element, path, key, code); found != nil {
				return found
			}
		}
	case map[string]any:
		if len(path) > 0 {
			return entryIn(v[path[0]], path[1:], key, code)
		}
		if v[key] == code {
			return v
		}
	}
	return nil
}

// shortened is an entry as JSON on one line, with lists cut to three elements.
func shortened(entry map[string]any) string {
	short := map[string]any{}
	for key, value := range entry {
		if list, ok := value.([]any); ok && len(list) > 3 {
			value = append(slices.Clone(list[:3]), "…")
		}
		short[key] = value
	}
	data, err := json.MarshalIndent(short, "", "  ")
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(data)
}

// section is an example as a page shows it: where the cluster is, the question with its answer, and the entry
// of the JSON form.
func (a *answered) section(entry map[string]any) string {
	var b strings.Builder
	if a.from != "" {
		fmt.Fprintf(&b, "The cluster is in [%s](../%s): %s\n\n<!-- unpack: %s -->\n", path.Base(a.from), a.from, quoted(lowered(a.about)), a.from)
		if !a.at.Equal(demo.Now()) {
			fmt.Fprintf(&b, "<!-- at: %s -->\n", a.at.Format(time.RFC3339))
		}
	}
	fmt.Fprintf(&b, "<!-- exits: 1 where nothing is certain -->\n```\n$ kubectl dra %s\n%s\n```\n\n", a.command, strings.TrimRight(a.text, "\n"))
	fmt.Fprintf(&b, "With `-o json` it is\n\n```json\n%s\n```\n", shortened(entry))
	return b.String()
}

// constant is a constant of the source with its comment.
type constant struct{ name, value, comment string }

// constants are those of a type in a file, in their order. The comment of each begins with its name and a
// colon.
func constants(t *testing.T, file, of string) []constant {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(file)), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []constant
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec) //nolint:forcetypeassert // constants have no others
			if kind, ok := value.Type.(*ast.Ident); !ok || kind.Name != of {
				continue
			}
			c := constant{name: value.Names[0].Name, value: strings.Trim(value.Values[0].(*ast.BasicLit).Value, `"`)} //nolint:forcetypeassert // they are texts
			if c.name != c.value {
				continue // another name of one
			}
			comment, found := strings.CutPrefix(strings.Join(strings.Fields(value.Doc.Text()), " "), c.name+": ")
			if !found {
				t.Errorf("%s: the comment of %s does not begin with %q", file, c.name, c.name+": ")
			}
			c.comment = comment
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s declares no %s", file, of)
	}
	return out
}

// sectionIn is what a page has below the heading of a code and its comment.
func sectionIn(page string, c constant) string {
	_, section, _ := strings.Cut(page, "\n### "+c.name+"\n\n")
	_, section, _ = strings.Cut(section, "\n\n")
	section, _, _ = strings.Cut(section, "\n### ")
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.TrimSuffix(section, "\n") + "\n"
}

// sampled is how many examples there are to each that a run without -update asks; make generate, which CI
// runs too, asks all.
const sampled = 5

// examplesOf asks the example of each constant, or without -update takes most answers from the page. A
// constant without an example fails the test, and so does one whose answer does not have it under the key,
// below a path of fields.
func examplesOf(t *testing.T, file string, codes []constant, examples map[string]example, key string, below ...string) map[string]string {
	t.Helper()
	s := newStage(t)
	out := map[string]string{}
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil && !*update {
		t.Fatal(err)
	}
	cache := map[example]*answered{}
	for i, c := range codes {
		e, ok := examples[c.name]
		if !ok {
			t.Errorf("%s has no example: add a question to the table, of the demo cluster or of an archive in testdata", c.name)
			continue
		}
		if !*update && i%sampled > 0 {
			out[c.name] = sectionIn(string(page), c)
			continue
		}
		if cache[e] == nil {
			cache[e] = e.answer(s)
		}
		a := cache[e]
		entry := a.entry(key, c.name, below...)
		if entry == nil {
			t.Errorf("the example of %s does not have it: kubectl dra %s (of %q) prints\n%s", c.name, a.command, e.from, a.text)
			continue
		}
		out[c.name] = a.section(entry)
	}
	for name := range examples {
		if !slices.ContainsFunc(codes, func(c constant) bool { return c.name == name }) {
			t.Errorf("there is an example of %s, and the source has no such code", name)
		}
	}
	return out
}
