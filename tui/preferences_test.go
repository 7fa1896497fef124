package tui

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/preferences"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// preferring starts on the demo cluster with preferences, which must be in order.
func preferring(t *testing.T, p Preferences, view string, width, height int) *driver {
	t.Helper()
	for _, err := range CheckPreferences(&p) {
		t.Fatal(err)
	}
	return start(t, Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", Cluster: "demo", View: view, Profile: colorprofile.NoTTY,
		Clock: demo.Now, NoWriter: "the demo cluster cannot be written", Preferences: p,
	}, width, height)
}

// TestChosenColumns: a table shows the columns that the user wants, in their order; what filters and sorting
// are about stays.
func TestChosenColumns(t *testing.T) {
	d := preferring(t, Preferences{Views: map[string]preferences.ViewPreferences{"claims": {Columns: []string{"age", "name"}}}}, "claims", 120, 24)
	titles := strings.Fields(strings.Split(d.frame(), "\n")[3])
	if !slices.Equal(titles[:2], []string{"AGE", "NAME"}) || slices.Contains(titles, "STATE") {
		t.Errorf("the columns are %q", titles)
	}
	all := d.m.state().Status
	d.press("/", "state=pending", "enter")
	if now := d.m.state().Status; now == all || !strings.Contains(now, " of ") {
		t.Errorf("a column that is not shown filters nothing: %q, %q", all, now)
	}
	d.press("s")
	if got := strings.Split(d.frame(), "\n")[3]; !strings.Contains(got, "AGE ▴") {
		t.Errorf("s does not sort by the first column that is shown: %q", got)
	}
}

// TestChosenColumnsOfNodes: columns that depend on what there is stay, and a click finds the device that it
// hits.
func TestChosenColumnsOfNodes(t *testing.T) {
	p := Preferences{Views: map[string]preferences.ViewPreferences{"nodes": {Columns: []string{"remark", "node"}}}}
	usual, own := preferring(t, Preferences{}, "nodes", 118, 40), preferring(t, p, "nodes", 118, 40)
	seen := map[string]bool{}
	for _, d := range []*driver{usual, own} {
		y := slices.IndexFunc(strings.Split(d.frame(), "\n"), func(l string) bool { return strings.Contains(l, "gpu-b-03") })
		for x := range 118 { // where cells are marks without names
			d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			d.m.pages = nil // which a second click opens
			if ref := d.m.state().Selection; ref.Kind == "Device" {
				if hit := []rune(strings.Split(d.frame(), "\n")[y])[x]; unicode.IsLetter(hit) {
					t.Errorf("a click on %q of a name selects %s", hit, ref)
				}
				seen[ref.Name] = true
			}
		}
		if len(seen) < 8 {
			t.Errorf("%d devices were hit:\n%s", len(seen), d.frame())
		}
		seen = map[string]bool{}
	}
}

// TestOwnKeys: an action has the keys that the user wants, and no others; the status line and the help say
// so. All that by default has a meaning keeps it.
func TestOwnKeys(t *testing.T) {
	d := preferring(t, Preferences{Keys: map[string][]string{"explain": {"f5", "Z"}, "allocate": {}, "quit": {"ctrl+q"}, "help": {"f1"}}}, "claims", 120, 60)
	d.shows("f5 explain", "f1 help")
	d.press("e")
	d.shows("no such key: e")
	d.press("A")
	d.shows("no such key: A")
	d.send(tea.KeyPressMsg{Code: tea.KeyF5})
	if len(d.m.pages) != 1 || d.m.pages[0].kind != "explain" {
		t.Fatalf("f5 does not explain:\n%s", d.frame())
	}
	d.press("esc", "Z")
	if len(d.m.pages) != 1 {
		t.Fatalf("Z does not explain:\n%s", d.frame())
	}
	d.press("esc")
	f := frame{d.m}
	for x := range 20 {
		if f.keyAt(x) == "f5" {
			d.send(tea.MouseClickMsg{X: x, Y: 59, Button: tea.MouseLeft})
			break
		}
	}
	if len(d.m.pages) != 1 {
		t.Errorf("a click on f5 does not explain:\n%s", d.frame())
	}
	d.send(tea.KeyPressMsg{Code: tea.KeyF1})
	d.shows("keys of the page explain", "ctrl+q")
}

// TestEveryKeyCanBeWritten: what keys are by default can be written in a file, and means the same press.
func TestEveryKeyCanBeWritten(t *testing.T) {
	for _, k := range keyboards() {
		for _, key := range slices.Concat(k.Own, k.Root) {
			if key.Name == "" {
				t.Errorf("%s: %v has no name", k.Of, key.Press)
			}
			for _, press := range key.Press {
				if msg, ok := preferences.ParseKey(press); !ok || msg.String() != press {
					t.Errorf("%s of %q cannot be written: %q", press, key.Name, msg.String())
				}
			}
		}
	}
}

// TestOwnTheme: a background that is named is not asked for, colours are those that are wanted, and what is
// to be said is there until the first key.
func TestOwnTheme(t *testing.T) {
	p := Preferences{Theme: preferences.ThemePreferences{Background: "light", Colors: map[string]string{"used": "#010203"}}, Owners: map[string]string{"ml": "bad"}}
	d := start(t, Options{
		Source: Static(demoSnapshot(t)), Profile: colorprofile.TrueColor, Clock: demo.Now, Preferences: p, Notice: "x.yaml is ignored: \x1b[31m", View: "nodes",
	}, 100, 30)
	d.send(tea.BackgroundColorMsg{Color: nil})
	if got := d.m.world.Theme.Paint(styled.Used, "x"); !strings.Contains(got, "38;2;1;2;3") {
		t.Errorf("%q", got)
	}
	if want := theme.New(false, colorprofile.TrueColor).Paint(styled.Good, "x"); d.m.world.Theme.Paint(styled.Good, "x") != want {
		t.Error("the background is not light")
	}
	d.shows(`x.yaml is ignored: \x1b[31m`)
	d.press("j")
	if strings.Contains(d.frame(), "ignored") {
		t.Error("what was said stays")
	}
	if d.m.world.Owners["ml"] != styled.Bad {
		t.Error("owners have no colours")
	}
	for _, few := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII} {
		if got := p.Palette().New(false, few).Paint(styled.Used, "x"); got != theme.New(false, few).Paint(styled.Used, "x") {
			t.Errorf("%s: %q", few, got)
		}
	}
}
