package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// maxCopied is how many bytes are put onto the clipboard. They travel to the terminal in an escape sequence
// of 4/3 of the length, of which the terminals that take least take 100,000 bytes.
const maxCopied = 74_000

// copied is what the copy key takes: names, each of which is one line, or what the screen knows better.
func (m *model) copied() string {
	if text := m.state().CopyText; text != nil {
		return text()
	}
	refs := m.subjects()
	if len(refs) == 1 {
		return inspect.Sanitize(refs[0].Name)
	}
	return strings.Join(words.Each(refs, func(ref screen.Ref) string { return inspect.Sanitize(ref.String()) }), "\n")
}

// copyText puts text onto the clipboard.
func (m *model) copyText(text string) tea.Cmd {
	text = safe(text)
	if len(text) > maxCopied {
		// Half a text would look like a whole one.
		return m.say(styled.Warn, fmt.Sprintf("not copied: it has %d kB, and terminals take up to %d kB", len(text)/1000, maxCopied/1000))
	}
	m.say(styled.Good, "copied")
	m.note(screen.Copied, m.state().Selection, inBrief(text))
	return tea.SetClipboard(text)
}

// saveText saves text, for terminals that do not let programs write to the clipboard.
func (m *model) saveText(text string) tea.Cmd {
	text, ref, save := safe(text), m.state().Selection, m.options.Save
	return func() tea.Msg {
		name, err := save(strings.TrimRight(text, "\n") + "\n")
		return saved{name, ref, err}
	}
}

// saved says where text is, or why it is nowhere.
type saved struct {
	name string
	ref  screen.Ref
	err  error
}

// tellSaved says so.
func (m *model) tellSaved(s saved) tea.Cmd {
	if s.err != nil {
		return m.say(styled.Bad, "not saved: "+s.err.Error())
	}
	m.note(screen.Saved, s.ref, "in "+s.name)
	return m.say(styled.Good, "saved in "+s.name)
}

// SaveHere writes text to a new file of the current directory that only the user may read, and returns its
// name.
func SaveHere(text string) (string, error) {
	stem := "kubectl-dra-" + time.Now().Format("20060102-150405")
	for i := range 100 {
		name := stem + ".txt"
		if i > 0 {
			name = fmt.Sprintf("%s-%d.txt", stem, i)
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the name is made here
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err //nolint:wrapcheck // it names the file
		}
		_, err = file.WriteString(text)
		return name, errors.Join(err, file.Close())
	}
	return "", errors.New("there are too many such files")
}

// safe is text without what could do in a terminal, into which it may be pasted, what nobody saw: escape
// sequences and hidden characters. Lines stay lines.
func safe(text string) string {
	return strings.Join(words.Each(strings.Split(text, "\n"), inspect.Sanitize), "\n")
}

// inBrief is the first line of a text.
func inBrief(text string) string {
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	if more {
		first += " and " + words.Count(strings.Count(rest, "\n")+1, "more line")
	}
	return first
}

// note writes what the user does into the history.
func (m *worlds) note(kind screen.EventKind, ref screen.Ref, text string) {
	if m.tally.History == nil {
		return // nothing was seen yet
	}
	m.tally.Note([]screen.Event{{Time: m.now(), Kind: kind, Ref: ref, Text: text, By: "you", Seen: true}})
	m.set(func(w *screen.World) { w.History = m.tally.History })
}

// noteSupposed writes into the history what is supposed now and was not, and the other way round.
func (m *worlds) noteSupposed() {
	for _, c := range without(m.hypotheses, m.noted) {
		m.note(screen.Supposed, c.Ref, c.String())
	}
	for _, c := range without(m.noted, m.hypotheses) {
		m.note(screen.Unsuppose, c.Ref, c.String())
	}
	m.noted = m.hypotheses
}
