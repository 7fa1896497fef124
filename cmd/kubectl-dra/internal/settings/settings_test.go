package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui"
)

func TestParse(t *testing.T) {
	p, err := Parse([]byte(`view: nodes
views:
  claims: {columns: [state, name]}
theme:
  background: light
  colors: {used: "#0a789c", warn: "34"}
owners: {ml: accent, infer/chat-7b: good}
keys:
  explain: [x, f5]
  commands: [X]
  allocate: []
`))
	if err != nil {
		t.Fatal(err)
	}
	if p.View != "nodes" || !slices.Equal(p.Views["claims"].Columns, []string{"state", "name"}) || p.Owners["ml"] != "accent" ||
		!slices.Equal(p.Keys["explain"], []string{"x", "f5"}) {
		t.Errorf("%+v", p)
	}
	for _, empty := range []string{"", "# nothing", "{}", "view:", "keys: {}"} {
		if _, err := Parse([]byte(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// TestParseSaysWhere: an error names the field, what there is, and what may be meant.
func TestParseSaysWhere(t *testing.T) {
	for text, want := range map[string][]string{
		"veiw: nodes":                                  {"veiw: ", `did you mean "view"?`, "owners, theme, view, views"},
		"view: node":                                   {"view: ", `did you mean "nodes"?`, "claims, devices"},
		"view: [nodes]":                                {"view: it has to be text"},
		"- view":                                       {"an object"},
		"view: nodes\nview: claims":                    {`key "view" already set`},
		"view: nodes: 1":                               {"mapping values"},
		"views: {cel: {columns: [a]}}":                 {"views.cel: "},
		"views: {claims: {colums: [a]}}":               {"views.claims.colums: ", `did you mean "columns"?`},
		"views: {claims: {columns: name}}":             {"views.claims.columns: it has to be a list"},
		"views: {claims: {columns: [name, stat]}}":     {"views.claims.columns[1]: ", `did you mean "state"?`},
		"views: {claims: {columns: [name, name]}}":     {"views.claims.columns[1]: ", "twice"},
		"theme: {background: drak}":                    {"theme.background: ", `did you mean "dark"?`},
		"theme: {colors: {usde: '1'}}":                 {"theme.colors.usde: ", `did you mean "used"?`},
		"theme: {colors: {used: red}}":                 {"theme.colors.used: ", "#rrggbb"},
		"theme: {colors: {used: 34}}":                  {"theme.colors.used: ", "quotes"},
		"theme: {colors: {used: '256'}}":               {"theme.colors.used: ", "0 to 255"},
		"owners: {ml: acent}":                          {"owners.ml: ", `did you mean "accent"?`},
		"keys: {explian: [x]}":                         {"keys.explian: ", `did you mean "explain"?`},
		"keys: {explain: x}":                           {"keys.explain: it has to be a list"},
		"keys: {explain: [y]}":                         {"keys.explain[0]: ", "quotes"},
		"keys: {explain: [ctrl+c]}":                    {"keys.explain[0]: ", "always"},
		"keys: {explain: [hyper+x]}":                   {"keys.explain[0]: ", "no key"},
		"keys: {explain: [ctrl+i]}":                    {"no key"},
		"keys: {explain: [s]}":                         {"keys.explain: ", `"s"`, `"sort"`},
		"keys: {explain: [d]}":                         {"keys.explain: ", `"d"`, `"detail"`},
		"keys: {explain: ['1']}":                       {"keys.explain: ", `"claims"`},
		"keys: {explain: ['<']}":                       {"keys.explain: ", `"far back in time"`},
		"keys: {explain: [f5], fit: [f5]}":             {"keys.", `"f5"`, "explain", "fit"},
		"keys: {explain: ['N']}":                       {"keys.explain: ", `"match before"`},
		"keys: {sort: [e]}":                            {"keys.sort: ", `"explain"`},
		"view: node\nkeys: {explian: [x]}\nowners: 1":  {"owners: it has to be an object"},
		"view: node\nkeys: {explian: [x]}":             {"view: ", "(and 1 more)"},
		"view: \"\\e[31m\"":                            {"view: ", `\x1b[31m`},
		"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a]\nc: 1": {"a: there is no such field"},
	} {
		_, err := Parse([]byte(text))
		if err == nil {
			t.Errorf("%q is in order", text)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q is missing in %q", text, part, err)
			}
		}
	}
}

// TestRead: there may be no file, and one that cannot be read is said and ignored.
func TestRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv(Variable, "")
	unset := func() { _ = os.Unsetenv(Variable) } // Setenv brings it back
	unset()
	dir := filepath.Join(home, ".config", "kubectl-dra")
	path := filepath.Join(dir, "config.yaml")
	check := func(what, view, want string) {
		t.Helper()
		p, notice := Read()
		if p.View != view || want == "" && notice != "" || !strings.Contains(notice, want) {
			t.Errorf("%s: %+v, %q", what, p, notice)
		}
	}
	check("no file", "", "")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "view: nodes")
	check("a file", "nodes", "")
	write(path, "view: nodse")
	check("a broken file", "", path+" is ignored: view: ")

	xdg := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", xdg)
	write(filepath.Join(xdg, "kubectl-dra", "config.yaml"), "view: devices")
	check("XDG_CONFIG_HOME", "devices", "")
	t.Setenv("XDG_CONFIG_HOME", "relative")
	write(path, "view: nodes")
	check("a relative XDG_CONFIG_HOME", "nodes", "")

	t.Setenv(Variable, filepath.Join(home, "none.yaml"))
	check("a named file that is not there", "", "no such file")
	t.Setenv(Variable, "")
	check("no file is wanted", "", "")
	t.Setenv(Variable, home)
	check("a directory", "", "it is a directory")
	t.Setenv(Variable, os.DevNull)
	check("a device", "", "no regular file")

	large := filepath.Join(home, "large.yaml")
	write(large, "")
	if err := os.Truncate(large, 1<<30); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, large)
	check("1 GB", "", "larger than 256 KiB")

	link := filepath.Join(home, "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	t.Setenv(Variable, link)
	check("a link that was named", "nodes", "")
	unset()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(large, path); err != nil {
		t.Fatal(err)
	}
	check("a link", "", "symbolic link")
	if os.Getuid() != 0 {
		closed := filepath.Join(home, "closed.yaml")
		write(closed, "view: nodes")
		if err := os.Chmod(closed, 0); err != nil {
			t.Fatal(err)
		}
		t.Setenv(Variable, closed)
		check("a file that may not be read", "", "permission denied")
	}
}

// TestDocument: the file that docs/top.md shows is in order.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/top.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "```yaml\nview: ")
	text, _, _ = strings.Cut(text, "```")
	if p, err := Parse([]byte("view: " + text)); err != nil || !ok || len(p.Keys) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// FuzzParse: whatever is in a file, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte("view: nodes\nkeys: {explain: [x]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Parse(data); err == nil && len(tui.CheckPreferences(&p)) > 0 {
			t.Errorf("%v", tui.CheckPreferences(&p))
		}
	})
}

// TestDefaultsAreInOrder: every action can be given the keys that it has.
func TestDefaultsAreInOrder(t *testing.T) {
	if p := (tui.Preferences{Keys: map[string][]string{"explain": {"e"}, "detail": {"enter", "d"}}}); len(tui.CheckPreferences(&p)) > 0 {
		t.Error(tui.CheckPreferences(&p))
	}
}
