package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// maxCopied is how many bytes are put onto the clipboard. They travel to the terminal in an escape sequence
// of 4/3 of the length, of which the terminals that take least take 100,000 bytes.
const maxCopied = 74_000

// copied is what the copy key takes: names, each of which is one line, or what the screen knows better.
func (m *model) copied() string {
	if c, ok := m.top().(screen.CopyTexter); ok {
		return c.CopyText()
	}
	refs := m.subjects()
	names := make([]string, len(refs))
	for i, ref := range refs {
		if names[i] = ref.Name; len(refs) > 1 {
			names[i] = ref.String() // they may be of several namespaces
		}
		names[i] = inspect.Sanitize(names[i])
	}
	return strings.Join(names, "\n")
}

// copyText puts text onto the clipboard. It is made safe first, line by line: it may be pasted into a
// terminal, where an escape sequence or a hidden character would do what nobody saw.
func (m *model) copyText(text string) tea.Cmd {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = inspect.Sanitize(lines[i])
	}
	text = strings.Join(lines, "\n")
	if len(text) > maxCopied {
		// Half a text would look like a whole one.
		return m.say(styled.Warn, fmt.Sprintf("not copied: it has %d kB, and terminals take up to %d kB", len(text)/1000, maxCopied/1000))
	}
	m.remark = screen.Say{Text: "copied", Role: styled.Good}
	return tea.SetClipboard(text)
}
