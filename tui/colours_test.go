package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// terminal is what a terminal can show.
type terminal struct {
	name    string
	profile colorprofile.Profile
	light   bool
	params  string // the parameters of sequences that it knows, or "" for any
}

// terminals are the others besides a dark one with all colours.
var terminals = []terminal{
	{"16 colours", colorprofile.ANSI, false, `^(0?|1|4|7|39|49|3[0-7]|9[0-7]|4[0-7]|10[0-7])$`},
	{"16 colours on light", colorprofile.ANSI, true, `^(0?|1|4|7|39|49|3[0-7]|9[0-7]|4[0-7]|10[0-7])$`},
	{"NO_COLOR", colorprofile.ASCII, false, `^(0?|1|4|7|39|49)$`},
	{"light", colorprofile.TrueColor, true, ""},
}

// shownOn is the frame of a driver on another terminal.
func (d *driver) shownOn(profile colorprofile.Profile, light bool) string {
	d.m.profile, d.m.dark = profile, !light
	d.m.applyTheme()
	return d.frame()
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// TestFewColours: with 16 colours or none all views, and some pages and popups, have the same text as with
// all, and no other sequences than such a terminal knows.
func TestFewColours(t *testing.T) {
	open := func(view string, at screen.Ref, keys ...string) {
		options := Options{Source: Static(demoSnapshot(t)), Origin: "demo", Cluster: "demo", View: view, Profile: colorprofile.TrueColor, Clock: demo.Now, NoWriter: "no"}
		d := start(t, options, 120, 40)
		if at.Kind != screen.None {
			d.send(screen.Selected{Ref: at})
		}
		d.press(keys...)
		want := ansi.Strip(d.shownOn(colorprofile.TrueColor, false))
		for _, on := range terminals {
			frame := d.shownOn(on.profile, on.light)
			if got := ansi.Strip(frame); got != want {
				t.Errorf("%s %s on %s: the text is another one:\n%s\nwith all colours\n%s", view, keys, on.name, got, want)
			}
			for _, match := range sgr.FindAllStringSubmatch(frame, -1) {
				for param := range strings.SplitSeq(match[1], ";") {
					if !regexp.MustCompile(on.params).MatchString(param) {
						t.Fatalf("%s %s on %s: %q", view, keys, on.name, match[0])
					}
				}
			}
		}
	}
	for i, v := range viewTable {
		if i%testwork.InFull(1, testwork.InUsual(8, 4)) == 0 {
			open(v.name, screen.Ref{})
		}
	}
	open("nodes", screen.Ref{}, "o")
	open("claims", claimRef("ml", "pretrain-1"), "w", "home")
	open("claims", claimRef("ml", "train-0"), "space", "space")
	for _, key := range []string{"e", "enter", "y", "?"} {
		open("claims", claimRef("ml", "train-0"), key)
	}
	open("devices", screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-03/gpu-0"}, "enter", "down", "down")
	open("claims", claimRef("ml", "train-0"), "e", "/", "numa", "enter")
}

// word is a word of a frame with the look that it has.
type word struct {
	column int
	text   string
	look   string
}

// wordsOf are the words of a line that is painted, with what of their look tells something: not the
// background of the selected row.
func wordsOf(line string) (out []word) {
	look, column := "", 0
	for line != "" {
		if at := sgr.FindStringSubmatchIndex(line); at != nil && at[0] == 0 {
			look, line = line[at[2]:at[3]], line[at[1]:]
			if i := strings.Index(look, "48;"); i >= 0 {
				look = strings.Trim(look[:i], ";")
			}
			continue
		}
		end := strings.IndexByte(line, '\x1b')
		if end < 0 {
			end = len(line)
		}
		text := line[:end]
		line = line[end:]
		for _, part := range strings.SplitAfter(text, " ") {
			if trimmed := strings.TrimSpace(part); trimmed != "" {
				out = append(out, word{column, trimmed, look})
			}
			column += ansi.StringWidth(part)
		}
	}
	return out
}

// TestColourIsNotAlone: what looks different in a column of a table reads different too.
func TestColourIsNotAlone(t *testing.T) {
	for _, v := range viewTable {
		if v.name == "cel" {
			continue // which is no table
		}
		options := Options{Source: Static(demoSnapshot(t)), Origin: "demo", Cluster: "demo", View: v.name, Profile: colorprofile.TrueColor, Clock: demo.Now, NoWriter: "no"}
		d := start(t, options, 200, 60)
		lines := strings.Split(d.m.views[d.m.current].screen.View(d.m.world, 200, 50), "\n")
		looks := map[string][]string{}
		for _, line := range lines[1:] {
			if strings.Contains(line, "───") {
				break // below it is a panel
			}
			words := wordsOf(line)
			if len(words) > 0 && words[0].look == "1" {
				continue // a heading
			}
			for _, w := range words {
				if strings.HasPrefix(w.text, "│") {
					break // beside it is a panel
				}
				key := fmt.Sprintf("%d %s", w.column, w.text)
				if !slices.Contains(looks[key], w.look) {
					looks[key] = append(looks[key], w.look)
				}
			}
		}
		if len(looks) == 0 && v.name != "priority" {
			t.Errorf("%s: no words", v.name)
		}
		for key, all := range looks {
			if len(all) > 1 {
				t.Errorf("%s: %q looks like %q", v.name, key, all)
			}
		}
	}
}
