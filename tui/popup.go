package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// popup lies over everything and takes all keys.
type popup struct {
	title string
	page  widget.Page
	// text is what the page is made of where it is not made otherwise, widest how many columns it may take,
	// and fitted how many it was made for.
	text           []styled.Line
	widest, fitted int
	// confirm is what happens after yes and Enter. If it is nil, every key that does not scroll closes the
	// popup.
	confirm func() tea.Cmd
	// stays says that only Enter and Esc close the popup.
	stays bool
	// answer is what was typed to confirm.
	answer widget.Prompt
	// search is what is looked for in the page, and seeking says that it is being typed.
	search  widget.Prompt
	seeking bool
}

// over draws the popup over a frame.
func (p *popup) over(th *theme.Theme, frame string, width, height int) string {
	if inner := max(1, min(width-6, p.widest)); p.text != nil && p.fitted != inner {
		p.page.SetLines(styled.Narrow(p.text, inner))
		p.fitted = inner
	}
	title := p.title
	if p.page.Len() > popupRoom(height) {
		title += "  ↓ ↑ for the rest"
	}
	return widget.Popup(th, frame, title, &p.page, width, height, popupRoom(height))
}

// popupRoom is how many lines of a popup are shown at once.
func popupRoom(height int) int { return max(1, height-4) }

// popupKeys are the keys that work while the popup is shown. Only those with a Short are told of.
func (m *model) popupKeys() screen.Keys {
	p := m.popup
	scroll := ""
	if p.page.Len() > popupRoom(m.height) {
		scroll = "scroll"
	}
	by := func(lines int) func(*screen.World) tea.Cmd { return screen.Then(func() { p.page.Scroll(lines) }) }
	closes := screen.Then(func() { m.popup = nil })
	keys := screen.Keys{
		{Press: []string{"up"}, Show: "↑ ↓", Short: scroll, Do: by(-1)}, {Press: []string{"down"}, Do: by(1)},
		{Press: []string{"pgup"}, Do: by(-m.height / 2)}, {Press: []string{"pgdown"}, Do: by(m.height / 2)},
	}
	switch {
	case p.stays:
		return append(keys, screen.Key{Press: []string{"enter", "esc"}, Show: "⏎ Esc", Short: "close", Do: closes})
	case p.confirm != nil:
		return append(screen.Keys{
			{Press: []string{"enter"}, Show: yes + " ⏎", Short: "write it", Do: func(*screen.World) tea.Cmd {
				if !strings.EqualFold(strings.TrimSpace(p.answer.Value()), yes) {
					return nil // nobody means to write by pressing Enter
				}
				m.popup = nil
				return p.confirm()
			}},
			{Press: []string{"esc"}, Show: "Esc", Short: "leave all as it is", Do: closes},
		}, keys...)
	}
	keys[0].Press, keys[1].Press, keys[3].Press = []string{"up", "k"}, []string{"down", "j"}, []string{"pgdown", "space"}
	keys = append(keys, screen.Key{Press: []string{"/"}, Short: "search", Do: screen.Then(func() {
		p.seeking, p.search = true, widget.Prompt{Label: "/", Hint: "text in this help; after ⏎, n and N go on"}
		p.page.Seek("")
	})})
	if p.search.Value() != "" {
		keys = append(keys, screen.Key{Press: []string{"n"}, Short: "next", Do: screen.Then(func() { p.page.SeekNext(1) })},
			screen.Key{Press: []string{"N"}, Short: "before", Do: screen.Then(func() { p.page.SeekNext(-1) })})
	}
	return append(keys, screen.Key{Show: "any other key", Short: "closes"})
}

func (m *model) pressPopup(k tea.KeyPressMsg) tea.Cmd {
	p := m.popup
	if p.seeking {
		switch k.String() {
		case "esc":
			p.search.SetValue("")
			p.page.Seek("")
			fallthrough
		case "enter":
			p.seeking = false
		default:
			if p.search.Press(k) {
				p.page.Seek(p.search.Value())
			}
		}
		return nil
	}
	if cmd, done := m.popupKeys().Do(m.world, k.String()); done {
		return cmd
	}
	switch {
	case p.confirm != nil:
		p.answer.Press(k)
	case !p.stays:
		m.popup = nil
	}
	return nil
}

// help lists all keys.
func (m frame) help() *popup {
	p := &popup{title: "keys of " + strings.ToLower(m.views[m.current].title)}
	if n := len(m.pages); n > 0 {
		p.title = "keys of the page " + string(m.pages[n-1].kind)
	}
	p.page.SetLines(m.helpLines())
	return p
}

// leastHelp is how many columns the help needs to be read well.
const leastHelp = 54

// helpLines are made from the keys themselves: those of the screen and those of all screens, side by side
// where there is room.
func (m frame) helpLines() []styled.Line {
	here, everywhere := m.screenKeys(), m.keys()
	if room := m.width - 8; room >= 2*leastHelp {
		return beside(helpSection("Here", here, room/2-2), helpSection("Everywhere", everywhere, room/2))
	}
	return slices.Concat(helpSection("Here", here, m.width-6), []styled.Line{nil}, helpSection("Everywhere", everywhere, m.width-6))
}

// beside puts lines next to each other.
func beside(left, right []styled.Line) []styled.Line {
	wide := widget.Widest(left, styled.Line.String)
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
func helpSection(title string, keys screen.Keys, width int) []styled.Line {
	wide := widget.Widest(keys, screen.Key.Label)
	lines := []styled.Line{styled.Text(styled.Strong, title)}
	for _, k := range keys {
		label, role, text := styled.Accent, styled.Plain, k.Help
		if k.Off != "" {
			label, role, text = styled.Dim, styled.Dim, k.Help+" – "+inspect.Sanitize(k.Off)
		}
		parts := styled.Wrap(styled.Text(role, text), styled.Wrapping{Width: max(20, width-wide-4), Break: true})
		lines = append(lines, widget.Hang(styled.Text(label, "  "+styled.Pad(k.Label(), wide)+"  "), parts)...)
	}
	return lines
}
