package cel

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// driver types and looks, as a user would, without a terminal.
type driver struct {
	*testing.T
	s             *Screen
	w             *screen.World
	width, height int
	copied, said  string
	// offers are what is to be chosen from, if anything is.
	offers []screen.Offer
}

func drive(t *testing.T, width, height int) *driver {
	t.Helper()
	d := &driver{T: t, s: New(), w: screentest.Demo(t), width: width, height: height - 5} // header and status line are not ours
	d.send(screen.Shown{})
	return d
}

// send delivers a message and does all the work that follows from it.
func (d *driver) send(msg tea.Msg) {
	d.Helper()
	for _, asked := range screentest.Settle(d.w, d.s, msg) {
		switch asked := asked.(type) {
		case screen.Copy:
			d.copied = asked.Text
		case screen.Say:
			d.said = asked.Text
		case screen.Choose:
			d.offers = asked.Offers
		}
	}
}

var named = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"backspace": {Code: tea.KeyBackspace}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
}

// choose takes the offer, of those that have all of some words, with a number.
func (d *driver) choose(words string, number int) {
	d.Helper()
	for _, o := range d.offers {
		if !passes(strings.Fields(words), o.Text+" "+o.Note) {
			continue
		}
		if number--; number < 0 {
			d.offers = nil
			d.send(tea.BatchMsg{o.Take(d.w)})
			return
		}
	}
	d.Fatalf("nothing is offered that has %q", words)
}

// press presses keys; ^x is ctrl and x, and any other word is typed.
func (d *driver) press(keys ...string) {
	d.Helper()
	for _, key := range keys {
		if k, ok := named[key]; ok {
			d.send(tea.KeyPressMsg(k))
			continue
		}
		if len(key) == 2 && key[0] == '^' {
			d.send(tea.KeyPressMsg{Code: rune(key[1] | 0x20), Mod: tea.ModCtrl})
			continue
		}
		if len(key) > 1 { // as fast as a paste, so that not every letter is tried
			d.send(tea.PasteMsg{Content: key[:len(key)-1]})
			key = key[len(key)-1:]
		}
		d.send(tea.KeyPressMsg{Text: key, Code: rune(key[0])})
	}
}

// frame is what is on the screen, after a check that it fits.
func (d *driver) frame() string {
	d.Helper()
	lines := strings.Split(d.s.View(d.w, d.width, d.height), "\n")
	if len(lines) > d.height {
		d.Errorf("%d lines on a screen of %d", len(lines), d.height)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > d.width {
			d.Errorf("line %d has %d columns of %d: %s", i, n, d.width, line)
		}
	}
	return strings.Join(lines, "\n")
}

func (d *driver) shows(texts ...string) {
	d.Helper()
	frame := d.frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			d.Errorf("%q is not on the screen:\n%s", text, frame)
		}
	}
}
