package widget

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// dish is an entry of a menu.
type dish struct{ name, made string }

func (d dish) Title() string     { return d.name }
func (d dish) Line() styled.Line { return styled.Text(styled.Dim, d.made) }
func (d dish) Text() string      { return d.name + " " + d.made }

func typing(s string) tea.KeyPressMsg { return tea.KeyPressMsg{Text: s, Code: []rune(s)[0]} }

func TestMenu(t *testing.T) {
	m := NewMenu[dish]("Dishes")
	if got := m.Press(tea.KeyPressMsg{Code: tea.KeyEnter}); got != MenuStays {
		t.Errorf("enter in a menu that is not filled is %d", got)
	}
	m.Fill([]dish{{"soup", "of Onions"}, {"pie", "of onions"}, {"pie", "of apples"}})
	for _, key := range "onions pie" {
		m.Press(typing(string(key)))
	}
	if got, ok := m.Chosen(); !ok || got.made != "of onions" {
		t.Errorf("words in any order and case narrow the menu to %v", got)
	}
	if view := strings.Join(m.View(theme.None(), 60, 20), "\n"); !strings.Contains(view, "1 of 3") || strings.Contains(view, "apples") {
		t.Errorf("the menu shows what was narrowed away:\n%s", view)
	}
	for range "onions pie" {
		m.Press(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	m.Press(tea.KeyPressMsg{Code: tea.KeyPgDown})
	m.Press(tea.KeyPressMsg{Code: tea.KeyUp})
	if got, _ := m.Chosen(); got.made != "of onions" {
		t.Errorf("one before the last is %v", got)
	}
	if got := m.Press(tea.KeyPressMsg{Code: tea.KeyEnter}); got != MenuTaken {
		t.Errorf("enter is %d", got)
	}
	if got := m.Press(tea.KeyPressMsg{Code: tea.KeyEscape}); got != MenuClosed {
		t.Errorf("esc is %d", got)
	}
}

// TestMenuTellsOfItsKeys: the last line is made of the keys.
func TestMenuTellsOfItsKeys(t *testing.T) {
	m := NewMenu[dish]("Dishes")
	m.Fill([]dish{{"soup", ""}})
	lines := m.View(theme.None(), 60, 20)
	if got, want := strings.TrimRight(lines[len(lines)-1], " "), " ⏎ take  ↑↓ move  Esc back   1 of 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
