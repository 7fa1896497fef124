package cel

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// deviceList is the list of devices of the newest answer to a selector that compiles.
type deviceList struct {
	a     *answer // nil before the first
	table *widget.Table
	rows  *deviceRows // of the table
	// words narrow the list, as the user typed them.
	words string
}

// show lists the devices of a newer answer. The one under the cursor stays if it is still of interest.
func (l *deviceList) show(a *answer) {
	before := l.a
	if before == nil || strings.TrimSpace(before.text) == "" || a.idle() && !before.idle() {
		l.rows = nil // nobody has chosen the device, or what is nearest is of interest now
	}
	l.a = a
	l.fill(before != nil && before.text != a.text && !a.idle())
}

// fill puts the devices into the table whose names have the words. What the selector does stays what it is:
// a filter hides devices, but does not change what there is. The cursor stays on its device if that is
// listed and, where that is asked for, not refused by the selector.
func (l *deviceList) fill(unlessRefused bool) {
	if l.a == nil {
		return
	}
	id, had := l.selected()
	words := strings.Fields(strings.ToLower(l.words))
	l.rows = &deviceRows{a: l.a}
	cursor := 0
	for _, subject := range l.a.order {
		d := &l.a.lab.devices[subject]
		if len(words) > 0 && !passes(words, strings.ToLower(d.ID.Pool+"/"+d.ID.Device+" "+string(d.Node)+" "+d.ID.Driver)) {
			continue
		}
		if had && d.ID == id && (!unlessRefused || l.a.trial.OutcomeOf(subject).Result != bench.NoMatch) {
			cursor = len(l.rows.order)
		}
		l.rows.order = append(l.rows.order, subject)
	}
	l.table.SetRows(l.rows, l.a.natural, cursor)
}

// passes reports whether a text has all words, and none of those with a "!".
func passes(words []string, text string) bool {
	for _, word := range words {
		word, not := strings.CutPrefix(word, "!")
		if word != "" && strings.Contains(text, word) == not {
			return false
		}
	}
	return true
}

// subject is the number of the device under the cursor.
func (l *deviceList) subject() (int, bool) {
	if row := l.table.Cursor(); l.rows != nil && row >= 0 && row < len(l.rows.order) {
		return l.rows.order[row], true
	}
	return 0, false
}

// selected is the device under the cursor.
func (l *deviceList) selected() (inspect.DeviceID, bool) {
	subject, ok := l.subject()
	if !ok {
		return inspect.DeviceID{}, false
	}
	return l.rows.a.lab.devices[subject].ID, true
}
