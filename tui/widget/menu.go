package widget

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// MenuEntry is something that a Menu offers.
type MenuEntry interface {
	// Title names the entry. It is safe to show.
	Title() string
	// Line is shown beside the title. It is asked for only when the entry is in sight.
	Line() styled.Line
	// Text is what the words that narrow the menu are looked for in, in any case.
	Text() string
}

// Menu is a list to choose from, which is narrowed by typing.
type Menu[E MenuEntry] struct {
	title   string
	prompt  Prompt
	entries []E
	shown   []int // the entries in which all words are that were typed
	cursor  int
	loading bool
}

// MenuEvent is what a key does to a Menu.
type MenuEvent uint8

// The events.
const (
	MenuStays  MenuEvent = iota
	MenuClosed           // the user wants none of the entries
	MenuTaken            // the user takes the entry that Chosen returns
)

// NewMenu makes a menu that waits for its entries. The title is safe to show.
func NewMenu[E MenuEntry](title string) *Menu[E] {
	return &Menu[E]{title: title, prompt: Prompt{Label: "narrow: "}, loading: true}
}

// Fill sets the entries. They must not be written afterwards.
func (m *Menu[E]) Fill(entries []E) {
	m.entries, m.loading = entries, false
	m.narrow()
}

// narrow leaves the entries in which all words are that were typed.
func (m *Menu[E]) narrow() {
	words := strings.Fields(strings.ToLower(m.prompt.Value()))
	m.shown = nil
	for i := range m.entries {
		text := strings.ToLower(m.entries[i].Text())
		found := true
		for _, word := range words {
			found = found && strings.Contains(text, word)
		}
		if found {
			m.shown = append(m.shown, i)
		}
	}
	m.cursor = min(m.cursor, max(0, len(m.shown)-1))
}

// menuPage is how many entries the page keys go on.
const menuPage = 7

// The actions of a Menu.
const (
	menuTake     keymap.Action = "take"
	menuDown     keymap.Action = "down"
	menuUp       keymap.Action = "up"
	menuPageDown keymap.Action = "page down"
	menuPageUp   keymap.Action = "page up"
	menuClose    keymap.Action = "back"
)

// Keys are the keys of every menu. All others are typed.
func (m *Menu[E]) Keys() keymap.Map {
	return keymap.Map{
		{Action: menuTake, Press: []string{"enter"}, Show: "⏎", Short: "take", Help: "take the entry"},
		{Action: menuDown, Press: []string{"down", "ctrl+n", "tab"}, Show: "↑↓", Short: "move", Help: "next entry"},
		{Action: menuUp, Press: []string{"up", "ctrl+p", "shift+tab"}, Help: "previous entry"},
		{Action: menuPageDown, Press: []string{"pgdown"}, Show: "PgDn", Help: "a page down"},
		{Action: menuPageUp, Press: []string{"pgup"}, Show: "PgUp", Help: "a page up"},
		{Action: menuClose, Press: []string{"esc"}, Show: "Esc", Short: "back", Help: "close the menu"},
	}
}

// Press handles a key.
func (m *Menu[E]) Press(k tea.KeyPressMsg) MenuEvent {
	switch m.Keys().Action(k.Keystroke()) {
	case menuClose:
		return MenuClosed
	case menuDown:
		m.move(1)
	case menuUp:
		m.move(-1)
	case menuPageDown:
		m.move(menuPage)
	case menuPageUp:
		m.move(-menuPage)
	case menuTake:
		if _, ok := m.Chosen(); ok {
			return MenuTaken
		}
	default:
		if m.prompt.Press(k) {
			m.narrow()
		}
	}
	return MenuStays
}

func (m *Menu[E]) move(by int) { m.cursor = clamp(m.cursor+by, 0, max(0, len(m.shown)-1)) }

// Insert types text, such as what was pasted.
func (m *Menu[E]) Insert(text string) {
	m.prompt.Insert(text)
	m.narrow()
}

// Chosen returns the entry under the cursor; ok is false when no entry is shown.
func (m *Menu[E]) Chosen() (entry E, ok bool) {
	if m.cursor >= len(m.shown) {
		return entry, false
	}
	return m.entries[m.shown[m.cursor]], true
}

// widestMenu is how many columns a menu takes at most.
const widestMenu = 110

// View draws the menu in at most width columns and height lines.
func (m *Menu[E]) View(th *theme.Theme, width, height int) []string {
	width = min(width, widestMenu)
	lines := []string{Rule(th, styled.Text(styled.Accent, m.title), width), Fit(" "+m.prompt.View(th, width-1), width, 1)}
	n := max(1, height-4)
	from := min(max(0, m.cursor-n/2), max(0, len(m.shown)-n))
	for i := from; i < min(from+n, len(m.shown)); i++ {
		lines = append(lines, Render(th, m.line(i), width))
	}
	switch {
	case m.loading:
		lines = append(lines, " …")
	case len(m.shown) == 0:
		lines = append(lines, Render(th, styled.Text(styled.Dim, " there is none"), width))
	}
	lines = append(lines, Render(th, styled.Text(styled.Dim, m.hint()), width))
	return lines[:min(len(lines), height)]
}

// hint tells of the keys and of how many entries there are.
func (m *Menu[E]) hint() string {
	text := ""
	for _, k := range m.Keys() {
		if k.Short != "" {
			text += " " + k.Label() + " " + k.Short + " "
		}
	}
	return text + fmt.Sprintf("  %d of %d", len(m.shown), len(m.entries))
}

func (m *Menu[E]) line(i int) styled.Line {
	entry := m.entries[m.shown[i]]
	mark := "  "
	if i == m.cursor {
		mark = "▸ "
	}
	const title = 34
	line := styled.Line{{Text: mark, Role: styled.Accent}, {Text: styled.Pad(entry.Title(), title) + "  ", Role: styled.Name}}
	return append(line, entry.Line()...)
}
