package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// popup lies over everything and takes all keys.
type popup struct {
	title string
	lines []styled.Line
	top   int
	// text is what lines are made of where they are not made otherwise, widest how many columns they may take, and fitted how many they
	// were made for.
	text           []styled.Line
	widest, fitted int
	// confirm is what happens after yes and Enter. If it is nil, every key that does not scroll closes the popup.
	confirm func() tea.Cmd
	// stays says that only Enter and Esc close the popup.
	stays bool
	// answer is what was typed to confirm.
	answer widget.Prompt
	// search is what is looked for in the lines, and seeking says that it is being typed.
	search  widget.Prompt
	seeking bool
	// origin is the first line that was shown when the search began, and hit the line that it is at.
	origin, hit int
}

func (p *popup) over(th *theme.Theme, frame string, width, height int) string {
	p.fit(width)
	room := p.room(height)
	p.top = max(0, min(p.top, len(p.lines)-room))
	title := p.title
	if len(p.lines) > room {
		title += "  ↓ ↑ for the rest"
	}
	return widget.Popup(th, frame, title, p.marked(p.lines[p.top:min(len(p.lines), p.top+room)]), width, height)
}

// fit breaks the lines of text that are wider than the popup can be on a screen of so many columns.
func (p *popup) fit(width int) {
	if inner := max(1, min(width-6, p.widest)); p.text != nil && p.fitted != inner {
		p.lines, p.fitted = styled.Narrow(p.text, inner), inner
	}
}

// marked are lines in which what is looked for is marked.
func (p *popup) marked(lines []styled.Line) []styled.Line {
	out := slices.Clone(lines)
	for i, line := range out {
		marked, ok := widget.Highlight(line, p.search.Value())
		if out[i] = marked; ok && strings.HasPrefix(marked[0].Text, "  ") { // which tells without colours too
			marked[0].Text = " ▸" + marked[0].Text[2:]
		}
	}
	return out
}

// seek goes to the next line from one on, or to the one before, which has what is looked for; after the last comes the first.
func (p *popup) seek(from, by int) {
	for n := range p.lines {
		at := ((from+n*by)%len(p.lines) + len(p.lines)) % len(p.lines)
		if _, ok := widget.Highlight(p.lines[at], p.search.Value()); ok {
			p.top, p.hit = at, at
			return
		}
	}
}

// pressSearch handles a key while it is typed what to look for.
func (p *popup) pressSearch(k tea.KeyPressMsg) {
	switch k.String() {
	case "enter":
		p.seeking = false
	case "esc":
		p.seeking = false
		p.search.SetValue("")
	default:
		if p.search.Press(k) {
			p.seek(p.origin, 1)
		}
	}
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
	seekText   keymap.Action = "search"
	nextMatch  keymap.Action = "next match"
	prevMatch  keymap.Action = "match before"
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
		keys = append(keys, keymap.Key{Action: seekText, Press: []string{"/"}, Short: "search"})
		if p.search.Value() != "" {
			keys = append(keys, keymap.Key{Action: nextMatch, Press: []string{"n"}, Short: "next"}, keymap.Key{Action: prevMatch, Press: []string{"N"}, Short: "before"})
		}
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
	if p.seeking {
		p.pressSearch(k)
		return nil
	}
	switch p.keys(m.height).Action(k.String()) {
	case lineUp:
		p.top = max(0, p.top-1)
	case lineDown:
		p.top++
	case screenUp:
		p.top = max(0, p.top-m.height/2)
	case screenDown:
		p.top += m.height / 2
	case seekText:
		p.seeking, p.origin = true, p.top
		p.search = widget.Prompt{Label: "/", Hint: "text in this help; after ⏎, n and N go on"}
	case nextMatch:
		p.seek(p.hit+1, 1)
	case prevMatch:
		p.seek(p.hit-1, -1)
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
	before := m.popup
	m.popup = m.helpPopup()
	m.popup.top, m.popup.search, m.popup.seeking, m.popup.origin = before.top, before.search, before.seeking, before.origin
}

// helpPopup lists all keys, made from the keys themselves: those of the screen and those of all screens, side by
// side where there is room.
func (m *model) helpPopup() *popup {
	p := &popup{title: "keys of " + strings.ToLower(m.views[m.current].title)}
	if n := len(m.pages); n > 0 {
		p.title = "keys of the page " + string(m.pages[n-1].kind)
	}
	here, everywhere := m.screenKeys(), m.keys()
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
