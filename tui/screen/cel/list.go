package cel

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// deviceList is the list of devices of the newest answer to a selector that compiles.
type deviceList struct {
	a     *answer // nil before the first
	table *widget.Table
	rows  *deviceRows // of the table
	which listFilter
	// words narrow the list, as the user typed them; which devices they let pass is worked out in the background.
	words     string
	narrowing screen.Job[*deviceRows]
}

// show lists the devices of a newer answer. The one under the cursor stays, if it is among those that are listed.
func (l *deviceList) show(w *screen.World, a *answer) tea.Cmd {
	id, had := l.selected()
	if before := l.a; before == nil || strings.TrimSpace(before.text) == "" || a.rest == 0 && before.rest > 0 {
		had = false // nobody has chosen it, or what is nearest is of interest now
	}
	l.a = a
	cmd := l.fill(w)
	if had && l.words == "" {
		l.moveTo(id)
	}
	return cmd
}

// another lists other devices of the same answer: of those that match, those that fail and all, the next.
func (l *deviceList) another(w *screen.World) tea.Cmd {
	l.which = (l.which + 1) % listFilters
	return l.fill(w)
}

// narrowTo lists only the devices whose names have some words. What the selector does stays what it is:
// a filter hides devices, but does not change what there is.
func (l *deviceList) narrowTo(w *screen.World, words string) tea.Cmd {
	l.words = words
	return l.fill(w)
}

// fill puts the devices into the table. Where words narrow them, that is done in the background, and those stay
// that are listed until then.
func (l *deviceList) fill(w *screen.World) tea.Cmd {
	a := l.a
	if a == nil {
		return nil
	}
	order, words := l.which.order(a), strings.Fields(strings.ToLower(l.words))
	if len(words) == 0 {
		l.narrowing.Stop()
		l.set(&deviceRows{a, order})
		return nil
	}
	return l.narrowing.Start(w, func(ctx context.Context) (*deviceRows, error) {
		narrowed := &deviceRows{a: a}
		for i, subject := range order {
			if i%1000 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			d := &a.lab.devices[subject]
			if passes(words, strings.ToLower(d.ID.Pool+"/"+d.ID.Device+" "+string(d.Node)+" "+d.ID.Driver)) {
				narrowed.order = append(narrowed.order, subject)
			}
		}
		return narrowed, nil
	})
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

func (l *deviceList) set(rows *deviceRows) {
	l.rows = rows
	l.table.SetRows(rows, rows.a.natural, 0)
}

// take takes in the devices that the words let pass; handled says that the message was about them.
func (l *deviceList) take(msg tea.Msg) (handled bool) {
	r, ok := l.narrowing.Take(msg)
	if ok && r.Err == nil {
		id, had := l.selected()
		l.set(r.Value)
		if had {
			l.moveTo(id)
		}
	}
	return ok
}

// moveTo points at a device, if it is listed.
func (l *deviceList) moveTo(id inspect.DeviceID) {
	for row, subject := range l.rows.order {
		if l.rows.a.lab.devices[subject].ID == id {
			l.table.MoveTo(row)
			return
		}
	}
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
