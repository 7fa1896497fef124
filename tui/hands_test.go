package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// cursor is the row at the cursor.
func (d *driver) cursor() string {
	d.Helper()
	for line := range strings.SplitSeq(d.frame(), "\n") {
		if strings.HasPrefix(line, "▸") {
			return squeezed(line)
		}
	}
	d.Fatalf("nothing is pointed at:\n%s", d.frame())
	return ""
}

func TestFirstAndLastRow(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	first := d.cursor()
	d.press("G")
	if last := d.cursor(); !strings.Contains(last, "vpn-gateway") {
		t.Errorf("G goes to %q", last)
	}
	d.press("g")
	if got := d.cursor(); got != first {
		t.Errorf("g goes to %q, not to %q", got, first)
	}
	d.press("b", "G", "g") // below a heading
	if got := d.cursor(); !strings.Contains(got, "render") && !strings.Contains(got, "dev") {
		t.Errorf("g goes to %q", got)
	}
	d.shows("by namespace")
}

// TestFilterGoesToTheName: a filter that is the whole name of an object goes to it, wherever the cursor was;
// a key that writes must not act on another one whose name only has it.
func TestFilterGoesToTheName(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	d.press("/", "pretrain-1", "enter", "esc", "/", "train-1", "enter")
	if got := d.cursor(); !strings.Contains(got, " train-1") {
		t.Errorf("the filter train-1 points at %q", got)
	}
	d.press("esc", "/", "train", "enter")
	if got := d.cursor(); !strings.Contains(got, " train-1") {
		t.Errorf("the filter train, which is no name, goes from train-1 to %q", got)
	}
}

// TestKeysAreWrittenAsInTheHelp: what is no key is told of as the help writes keys, and the help of a page is
// about that.
func TestKeysAreWrittenAsInTheHelp(t *testing.T) {
	d := drive(t, 120, 40, "claims")
	d.press("ctrl+r")
	d.shows("no such key: ^R")
	d.press("e", "?")
	d.shows("keys of the page explain")
}

func TestHalfPages(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	d.frame() // a page is what was drawn
	d.press("*")
	all := d.m.state().Marked
	d.press("esc", "g")
	at := func() int { return slices.Index(all, d.m.state().Selection) }
	d.press("ctrl+d")
	half := at()
	d.press("g", "pgdown")
	page := at()
	if half < 3 || half >= page || page > 2*half+2 {
		t.Errorf("half a page goes %d rows on, a page %d", half, page)
	}
	d.press("G", "ctrl+u")
	if got := at(); got != len(all)-1-half {
		t.Errorf("half a page up from the end is row %d", got)
	}
}

// TestSortAtOnce: → and ← sort by the columns that are shown, and by no others.
func TestSortAtOnce(t *testing.T) {
	d := drive(t, 60, 30, "claims") // where AGE and NAMESPACE have no room
	d.frame()
	for _, want := range []string{"NAME ▴", "STATE ▴", "WHERE OR WHY NOT ▴"} {
		d.press("right")
		d.shows(want)
	}
	d.press("right")
	if strings.Contains(d.frame(), "▴") {
		t.Errorf("after the last column:\n%s", d.frame())
	}
	d.press("left")
	d.shows("WHERE OR WHY NOT ▴")
	d.press("S")
	d.shows("WHERE OR WHY NOT ▾")
}

func TestMarkedRowsAreAskedAboutTogether(t *testing.T) {
	d := drive(t, 120, 50, "claims")
	d.frame()
	d.press("space", "space")
	d.shows("2 marked, 44 claims", "▸")
	if n := strings.Count(d.frame(), "●"); n < 2 {
		t.Errorf("%d rows are marked on the screen:\n%s", n, d.frame())
	}
	d.press("e")
	d.shows("── explain 2 objects", "dev/transcode-8k needs", "dev/video-transcode-1 needs")
	d.press("esc", "y")
	d.shows("── yaml 2 objects", "name: transcode-8k")
	d.press("esc")
	if got := d.m.copied(); got != "dev/transcode-8k\ndev/video-transcode-1" {
		t.Errorf("copied %q", got)
	}
	d.m.options.Writer = dry{}
	d.press("A")
	d.shows("one claim at a time")
	d.press("esc", "esc")
	if got := d.m.state().Marked; len(got) > 0 {
		t.Errorf("after Esc %v are marked", got)
	}
	d.press("*")
	d.shows("44 marked")
	d.press("/", "ml", "enter", "*")
	d.shows("31 marked, 13 of 44 claims") // those that the filter hides are marked still
}

// TestSupposingSeveral: w supposes it of all that are marked, and takes all of it back.
func TestSupposingSeveral(t *testing.T) {
	d := drive(t, 160, 50, "claims")
	d.press("/", "pretrain", "enter", "*", "w")
	if got := len(d.m.hypotheses); got != 2 { // pretrain-2 holds nothing
		t.Fatalf("%d changes are supposed", got)
	}
	d.shows("WHAT IF", "and 1 more")
	d.press("w")
	if got := len(d.m.hypotheses); got != 0 {
		t.Errorf("%d changes are still supposed", got)
	}
}

// TestBackToWhereOneCameFrom: Esc goes back through places that names led to, but a number begins anew.
func TestBackToWhereOneCameFrom(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	d.send(screen.Selected{Ref: claimRef("ml", "train-0")})
	d.press("enter", ":", "gpu-b-03", "enter")
	d.shows("[3 Nodes]")
	d.press(":", "classes", "enter")
	d.shows("[Classes]")
	d.press("esc")
	d.shows("[3 Nodes]", "▸ gpu-b-03")
	d.press("esc")
	d.shows("[1 Claims]", "── detail ml/train-0")
	d.press("esc")
	d.shows("train-0")
	d.press(":", "pools", "enter", "2", "esc")
	d.shows("[2 Devices]", "nothing to go back to")
}

// TestTwiceTheSameClick: the first click selects, the second opens, and keys in the status line can be
// clicked.
func TestClicks(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	row := func() tea.MouseClickMsg {
		for y, line := range strings.Split(d.frame(), "\n") {
			if strings.Contains(line, "rerank-0") {
				return tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft}
			}
		}
		t.Fatal("no such row")
		return tea.MouseClickMsg{}
	}
	d.send(row())
	if got := d.m.state().Selection; got != claimRef("infer", "rerank-0") {
		t.Fatalf("selected %v", got)
	}
	d.send(row())
	d.shows("── detail infer/rerank-0")
	click := func(text string) {
		lines := strings.Split(d.frame(), "\n")
		last := lines[len(lines)-1]
		at := strings.Index(last, text)
		if at < 0 {
			t.Fatalf("no %q in %q", text, last)
		}
		d.send(tea.MouseClickMsg{X: styled.Width(last[:at]) + 1, Y: len(lines) - 1, Button: tea.MouseLeft})
	}
	click("Esc back")
	click("e explain")
	d.shows("── explain infer/rerank-0")
	click("y yaml")
	d.shows("yaml infer/rerank-0 ─")
	d.send(tea.MouseClickMsg{X: 14, Y: 1, Button: tea.MouseLeft})
	d.shows("[2 Devices]")
}

func TestSuspend(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	cmd := d.m.press(tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl})
	if cmd == nil {
		t.Fatal("nothing happens")
	}
	if _, ok := cmd().(tea.SuspendMsg); !ok {
		t.Error("it does not stop")
	}
}

func TestQuitByName(t *testing.T) {
	for _, word := range []string{"q", "quit", "q!"} {
		d := drive(t, 100, 30, "claims")
		d.m.input = nil
		d.press(":", word)
		_, cmd := d.m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		if !quits(d, cmd) {
			t.Errorf(":%s does not leave", word)
		}
	}
}

// quits runs a command and what follows from it, and reports whether the program ends.
func quits(d *driver, cmd tea.Cmd) bool {
	for _, msg := range runAll(cmd) {
		if _, ok := msg.(tea.QuitMsg); ok {
			return true
		}
		if _, next := d.m.Update(msg); quits(d, next) {
			return true
		}
	}
	return false
}

// TestAllNamespaces: 0 shows all namespaces again, as in k9s, and ^A lists where one can go.
func TestAllNamespaces(t *testing.T) {
	d := drive(t, 120, 30, "claims")
	d.press("0")
	d.shows("all namespaces are shown")
	d.press("n", "infer", "enter")
	d.shows("ns: infer")
	d.press("0")
	d.shows("ns: all", "ml train-0")
	d.press("ctrl+a")
	d.shows("view, also key 1", "a view, a kind, or the name of anything")
}
