package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// popup lies over everything and takes all keys.
type popup struct {
	title string
	lines []widget.Line
	top   int
	// confirm is what happens on "y"; nil makes it a popup that any key but those that scroll closes.
	confirm func() tea.Cmd
}

func (p *popup) over(th *theme.Theme, frame string, width, height int) string {
	room := max(1, height-4)
	p.top = max(0, min(p.top, len(p.lines)-room))
	title := p.title
	if len(p.lines) > room {
		title += "  ↓ ↑ for the rest"
	}
	return widget.Popup(th, frame, title, p.lines[p.top:min(len(p.lines), p.top+room)], width, height)
}

func (m *model) pressPopup(k tea.KeyPressMsg) tea.Cmd {
	p := m.popup
	switch k.String() {
	case "up", "k":
		p.top = max(0, p.top-1)
		return nil
	case "down", "j":
		p.top++
		return nil
	case "pgup":
		p.top = max(0, p.top-m.height/2)
		return nil
	case "pgdown", "space":
		p.top += m.height / 2
		return nil
	}
	if p.confirm == nil {
		m.popup = nil
		return nil
	}
	switch k.String() {
	case "y":
		m.popup = nil
		return p.confirm()
	case "n", "esc", "q":
		m.popup = nil
	}
	return nil
}

// helpPopup lists all keys, made from the keys themselves.
func (m *model) helpPopup() *popup {
	p := &popup{title: "keys of " + strings.ToLower(m.views[m.current].title)}
	own := m.top().Keys()
	sections := []struct {
		title string
		keys  keymap.Map
	}{{"Here", own}, {"Everywhere", m.keys()}}
	wide := 0
	for _, k := range slices.Concat(own, m.keys()) {
		wide = max(wide, widget.Width(k.Label()))
	}
	for i, section := range sections {
		if i > 0 {
			p.lines = append(p.lines, widget.Line{})
		}
		p.lines = append(p.lines, widget.Text(theme.Strong, section.title))
		for _, k := range section.keys {
			p.lines = append(p.lines, helpLines(k, wide, m.width-6)...)
		}
	}
	return p
}

// helpLines tell of a key in lines of at most so many columns.
func helpLines(k keymap.Key, wide, width int) []widget.Line {
	label, role, text := theme.Accent, theme.Plain, k.Help
	if k.Off != "" {
		label, role, text = theme.Dim, theme.Dim, k.Help+" – "+inspect.Sanitize(k.Off)
	}
	var lines []widget.Line
	for i, part := range widget.Wrap(text, max(20, width-wide-4)) {
		shown := ""
		if i == 0 {
			shown = k.Label()
		}
		lines = append(lines, widget.Line{{Text: "  " + widget.Pad(shown, wide) + "  ", Role: label}, {Text: part, Role: role}})
	}
	return lines
}
