package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// popup lies over everything and takes all keys.
type popup struct {
	title string
	lines []styled.Line
	top   int
	// confirm is what happens after yes and Enter. If it is nil, every key that does not scroll closes the popup.
	confirm func() tea.Cmd
	// stays says that only Enter and Esc close the popup.
	stays bool
	// answer is what was typed to confirm.
	answer widget.Prompt
}

func (p *popup) over(th *theme.Theme, frame string, width, height int) string {
	room := p.room(height)
	p.top = max(0, min(p.top, len(p.lines)-room))
	title := p.title
	if len(p.lines) > room {
		title += "  ↓ ↑ for the rest"
	}
	return widget.Popup(th, frame, title, p.lines[p.top:min(len(p.lines), p.top+room)], width, height)
}

// The actions of a popup.
const (
	accept     keymap.Action = "write"
	decline    keymap.Action = "leave as it is"
	closePopup keymap.Action = "close"
	lineUp     keymap.Action = "up"
	lineDown   keymap.Action = "down"
	screenUp   keymap.Action = "page up"
	screenDown keymap.Action = "page down"
)

// keys are the keys that work while the popup is shown. Only those with a Short are told of.
func (p *popup) keys(height int) keymap.Map {
	scroll := ""
	if len(p.lines) > p.room(height) {
		scroll = "scroll"
	}
	keys := keymap.Map{
		{Action: lineUp, Press: []string{"up"}, Show: "↑ ↓", Short: scroll},
		{Action: lineDown, Press: []string{"down"}},
		{Action: screenUp, Press: []string{"pgup"}},
		{Action: screenDown, Press: []string{"pgdown"}},
	}
	if p.stays {
		return append(keys, keymap.Key{Action: closePopup, Press: []string{"enter", "esc"}, Show: "⏎ Esc", Short: "close"})
	}
	if p.confirm == nil {
		keys[0].Press, keys[1].Press = append(keys[0].Press, "k"), append(keys[1].Press, "j")
		keys[3].Press = append(keys[3].Press, "space")
		return append(keys, keymap.Key{Action: closePopup, Show: "any other key", Short: "closes"})
	}
	return append(keymap.Map{
		{Action: accept, Press: []string{"enter"}, Show: yes + " ⏎", Short: "write it"},
		{Action: decline, Press: []string{"esc"}, Show: "Esc", Short: "leave all as it is"},
	}, keys...)
}

// keyLine tells of the keys.
func (p *popup) keyLine(height int) styled.Line {
	var line styled.Line
	for _, k := range p.keys(height) {
		if k.Short != "" {
			line = append(line, keyText(k)...)
		}
	}
	return line
}

// room is how many lines are shown at once.
func (p *popup) room(height int) int { return max(1, height-4) }

func (m *model) pressPopup(k tea.KeyPressMsg) tea.Cmd {
	p := m.popup
	switch p.keys(m.height).Action(k.String()) {
	case lineUp:
		p.top = max(0, p.top-1)
	case lineDown:
		p.top++
	case screenUp:
		p.top = max(0, p.top-m.height/2)
	case screenDown:
		p.top += m.height / 2
	case accept:
		if !strings.EqualFold(strings.TrimSpace(p.answer.Value()), yes) {
			return nil // nobody means to write by pressing Enter
		}
		m.popup = nil
		return p.confirm()
	case decline, closePopup:
		m.popup = nil
	default:
		if p.stays {
			return nil
		}
		if p.confirm == nil {
			m.popup = nil
			return nil
		}
		p.answer.Press(k)
	}
	return nil
}

// layOutHelp lays the help out anew when the size has changed.
func (m *model) layOutHelp() {
	if m.popup == nil || m.popup.confirm != nil || m.popup.stays {
		return
	}
	top := m.popup.top
	m.popup = m.helpPopup()
	m.popup.top = top
}

// helpPopup lists all keys, made from the keys themselves: those of the screen and those of all screens, side by
// side where there is room.
func (m *model) helpPopup() *popup {
	p := &popup{title: "keys of " + strings.ToLower(m.views[m.current].title)}
	here, everywhere := m.top().Keys(), m.keys()
	if room := m.width - 8; room >= 2*leastHelp {
		left, right := helpSection("Here", here, room/2-2), helpSection("Everywhere", everywhere, room/2)
		p.lines = beside(left, right)
		return p
	}
	p.lines = slices.Concat(helpSection("Here", here, m.width-6), []styled.Line{nil}, helpSection("Everywhere", everywhere, m.width-6))
	return p
}

// leastHelp is how many columns the help needs to be read well.
const leastHelp = 54

// beside puts lines next to each other.
func beside(left, right []styled.Line) []styled.Line {
	wide := 0
	for _, l := range left {
		wide = max(wide, l.Width())
	}
	lines := make([]styled.Line, max(len(left), len(right)))
	for i := range lines {
		if i < len(left) {
			lines[i] = slices.Clone(left[i])
		}
		if i < len(right) {
			lines[i] = append(lines[i], styled.Span{Text: strings.Repeat(" ", wide+3-lines[i].Width())})
			lines[i] = append(lines[i], right[i]...)
		}
	}
	return lines
}

// helpSection lists keys under a title, in at most so many columns.
func helpSection(title string, keys keymap.Map, width int) []styled.Line {
	wide := 0
	for _, k := range keys {
		wide = max(wide, styled.Width(k.Label()))
	}
	lines := []styled.Line{styled.Text(styled.Strong, title)}
	for _, k := range keys {
		lines = append(lines, helpLines(k, wide, width)...)
	}
	return lines
}

// helpLines tell of a key in lines of at most so many columns.
func helpLines(k keymap.Key, wide, width int) []styled.Line {
	label, role, text := styled.Accent, styled.Plain, k.Help
	if k.Off != "" {
		label, role, text = styled.Dim, styled.Dim, k.Help+" – "+inspect.Sanitize(k.Off)
	}
	var lines []styled.Line
	for i, part := range styled.WrapText(text, max(20, width-wide-4)) {
		shown := ""
		if i == 0 {
			shown = k.Label()
		}
		lines = append(lines, styled.Line{{Text: "  " + styled.Pad(shown, wide) + "  ", Role: label}, {Text: part, Role: role}})
	}
	return lines
}
