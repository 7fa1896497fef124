package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	titleHeight  = 2 // cluster, views
	footerHeight = 2 // rule, status line

	minWidth, minHeight = 40, 10
)

// headerHeight is how many lines are above the screen: below the titles is a rule, with what there is to be said
// about the screen, unless it draws one and there is nothing to be said.
func (m *model) headerHeight() int {
	if _, own := m.top().(screen.HasHeader); own && len(m.crumbs()) == 0 {
		return titleHeight
	}
	return titleHeight + 1
}

func (m *model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }

// View implements tea.Model.
func (m *model) View() tea.View {
	if m.drawing.resting {
		return m.drawing.view
	}
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "kubectl dra top"
	if m.options.Cluster != "" {
		v.WindowTitle += " – " + inspect.Sanitize(m.options.Cluster)
	}
	m.drawing.show(v)
	return m.drawing.view
}

// frame draws the whole screen.
func (m *model) frame() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	if m.tooSmall() {
		text := fmt.Sprintf("%d×%d is too small\n%d×%d is the least", m.width, m.height, minWidth, minHeight)
		return widget.Fit(text, m.width, m.height)
	}
	th := m.world.Theme
	header := m.headerHeight()
	body := m.height - header - footerHeight
	screen := widget.Fit(m.body(body), m.width, body)
	lines := []string{m.headerLine(), m.tabs()}
	if header > titleHeight {
		lines = append(lines, widget.Rule(th, m.crumbs(), m.width))
	}
	screen = m.withOffers(screen, body)
	lines = append(lines, screen, widget.Rule(th, nil, m.width), m.statusLine())
	frame := strings.Join(lines, "\n")
	if m.popup != nil {
		frame = m.popup.over(th, frame, m.width, m.height)
	}
	return frame
}

// withOffers puts what can be taken for what is typed over the end of a screen.
func (m *model) withOffers(body string, height int) string {
	if m.input == nil || len(m.input.offers) == 0 || height < 4 {
		return body
	}
	th := m.world.Theme
	offers := m.input.offerLines(min(12, height-2))
	lines := strings.Split(body, "\n")
	lines = append(lines[:height-len(offers)-1], widget.Rule(th, nil, m.width))
	for _, l := range offers {
		lines = append(lines, widget.Render(th, l, m.width))
	}
	return strings.Join(lines, "\n")
}

// tabStyle is how much the titles of views say.
type tabStyle int

const (
	wholeTabs tabStyle = iota
	shortTabs
	bareTabs // numbers, but for the view that is shown
)

// tabLine is the views with their numbers, and where each ends.
func (m *model) tabLine(style tabStyle) (line styled.Line, ends []int) {
	at := 0
	for i := range m.views {
		if i >= numbered && i != m.current {
			continue
		}
		role, text := styled.Plain, m.tab(i, style)
		switch {
		case i == m.current:
			role, text = styled.Accent, "["+text+"]"
		case style != shortTabs:
			text = " " + text + " "
		}
		if style == shortTabs { // which has one blank between two titles, not two
			text = " " + text
		}
		at += styled.Width(text)
		line = append(line, styled.Span{Text: text, Role: role})
		ends = append(ends, at)
	}
	return line, ends
}

// tab is the title of a view.
func (m *model) tab(i int, style tabStyle) string {
	title := m.views[i].title
	switch {
	case i >= numbered:
		return title
	case i == m.current:
	case style == bareTabs:
		return strconv.Itoa(i + 1)
	case style == shortTabs && m.views[i].short != "":
		title = m.views[i].short
	}
	return fmt.Sprintf("%d %s", i+1, title)
}

// tabs are the views and which namespace is shown.
func (m *model) tabs() string {
	scope := m.scope()
	line, _ := m.tabLine(m.tabStyle())
	room := m.width - line.Width()
	if scope.Width() >= room {
		scope = styled.Text(styled.Dim, styled.Cut(scope.String(), max(0, room-1)))
	}
	line = append(line, styled.Span{Text: strings.Repeat(" ", max(0, room-scope.Width()))})
	return widget.Render(m.world.Theme, append(line, scope...), m.width)
}

// scope is the namespace that is shown.
func (m *model) scope() styled.Line {
	name := "all"
	if m.world.Namespace != "" {
		name = inspect.Sanitize(m.world.Namespace)
	}
	return styled.Text(styled.Dim, "ns: "+name+" ")
}

// leastScope and mostScope are the columns that the namespace has beside all titles of views at least, and those that it may
// want.
const leastScope, mostScope = 8, 24

// tabStyle says as much as there is room for.
func (m *model) tabStyle() tabStyle {
	for style := wholeTabs; style < bareTabs; style++ {
		if line, _ := m.tabLine(style); line.Width()+max(leastScope, min(mostScope, m.scope().Width())) <= m.width {
			return style
		}
	}
	return bareTabs
}

// tabAt returns the view whose tab is at a column, or -1.
func (m *model) tabAt(x int) int {
	_, ends := m.tabLine(m.tabStyle())
	for i, end := range ends[:numbered] {
		if x < end {
			return i
		}
	}
	return -1
}

// crumbs say what is supposed, which pages are open, and which filter is in force.
func (m *model) crumbs() styled.Line {
	var line styled.Line
	if n := len(m.world.Supposed); n > 0 {
		text := inspect.Sanitize(m.world.Supposed[n-1].String())
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		line = append(line, styled.Span{Text: "WHAT IF  ", Role: styled.Supposed}, styled.Span{Text: text + "  (W forgets)", Role: styled.Supposed})
	}
	from := m.crumbsFrom()
	if from > 0 {
		line = append(line, styled.Span{Text: separator(line) + styled.Ellipsis, Role: styled.Dim})
	}
	for _, p := range m.pages[from:] {
		kind := styled.Span{Text: separator(line) + string(p.kind) + " "}
		if disruptive(p.kind) { // nothing is drained by looking at what would be
			kind = styled.Span{Text: separator(line) + "what if: " + string(p.kind) + " ", Role: styled.Supposed}
		}
		line = append(line, kind, styled.Span{Text: inspect.Sanitize(p.name()), Role: styled.Name})
	}
	if f, ok := m.top().(screen.Filterer); ok && f.FilterText() != "" && m.input == nil {
		line = append(line, styled.Span{Text: separator(line) + "filter "}, styled.Span{Text: inspect.Sanitize(f.FilterText()), Role: styled.Accent})
	}
	if text := m.searchText(); text != "" && m.input == nil {
		line = append(line, styled.Span{Text: separator(line) + "search "}, styled.Span{Text: inspect.Sanitize(text), Role: styled.Accent})
	}
	if a, ok := m.top().(screen.Arranger); ok && a.Arrangement() != "" {
		line = append(line, styled.Span{Text: separator(line) + a.Arrangement(), Role: styled.Dim})
	}
	return line
}

// crumbsFrom is the first of the pages that is named: where there is no room for all, those on top are, which are shown.
func (m *model) crumbsFrom() int {
	const others = 14 // the rule around them, and "what if: "
	room := m.width - others
	for i := len(m.pages) - 1; i >= 0; i-- {
		p := &m.pages[i]
		room -= styled.Width(string(p.kind)+" "+inspect.Sanitize(p.name())) + len(" › ")
		if room < 0 && i < len(m.pages)-1 {
			return i + 1
		}
	}
	return 0
}

func separator(line styled.Line) string {
	if len(line) == 0 {
		return ""
	}
	return " › "
}

// statusLine shows the keys of the popup, or the prompt, or a remark, or the keys that work here and now.
func (m *model) statusLine() string {
	th := m.world.Theme
	if m.popup != nil {
		return m.popupLine()
	}
	status := styled.Text(styled.Dim, " "+m.top().Status()+" ")
	room := m.width - status.Width()
	if m.input != nil {
		if room < leastPrompt { // what is typed comes first
			return m.input.prompt.View(th, m.width)
		}
		return m.input.prompt.View(th, room) + th.PaintLine(status)
	}
	if m.remark.Text != "" {
		return widget.Render(th, styled.Text(m.remark.Role, " "+inspect.Sanitize(m.remark.Text)), m.width)
	}
	line := m.keyLine(room)
	line = append(line, styled.Span{Text: strings.Repeat(" ", max(0, room-line.Width()))})
	return widget.Render(th, append(line, status...), m.width)
}

// leastPrompt is the least number of columns in which a text can be typed beside something else.
const leastPrompt = 12

// popupLine tells of the keys of the popup, and what was typed to confirm it.
func (m *model) popupLine() string {
	keys := m.popup.keyLine(m.height)
	if m.popup.seeking {
		return m.popup.search.View(m.world.Theme, m.width)
	}
	if m.popup.confirm == nil {
		return widget.Render(m.world.Theme, keys, m.width)
	}
	room := max(leastPrompt, m.width-keys.Width())
	return m.popup.answer.View(m.world.Theme, room) + widget.Render(m.world.Theme, keys, m.width-room)
}

// keyLine shows as many of the keys that work as have room; help, and the way back, are always among them.
func (m *model) keyLine(room int) styled.Line {
	own := m.screenKeys()
	keys := append(append(keymap.Map{}, own...), m.keys()...)
	line := styled.Line{}
	always := m.alwaysShown()
	if m.typing() {
		keys = m.top().Keys() // the others are typed
	}
	left := room - always.Width()
	for _, k := range m.byWeight(keys) {
		if first, taken := own.Find(firstPress(k)); taken && first.Action != k.Action {
			continue
		}
		if k.Off != "" || k.Short == "" || k.Action == help || m.typing() && slices.Contains(k.Press, "esc") {
			continue
		}
		text := keyText(k)
		if text.Width() > left {
			continue
		}
		left -= text.Width()
		line = append(line, text...)
	}
	if left < 0 {
		return line
	}
	return append(line, always...)
}

// alwaysShown are help and the way back; while text is typed, how that ends.
func (m *model) alwaysShown() (line styled.Line) {
	if m.typing() {
		if stop, ok := m.top().Keys().Find("esc"); ok {
			line = keyText(stop)
		}
		return line
	}
	if len(m.pages) > 0 {
		line = keyText(keymap.Key{Press: []string{"esc"}, Show: "Esc", Short: "back"})
	}
	return append(line, keyText(keymap.Key{Press: []string{"?"}, Short: "help"})...)
}

// byWeight puts what is done to objects before what is done to tables, and that before ways to other places.
func (m *model) byWeight(keys keymap.Map) keymap.Map {
	own := len(m.screenKeys())
	root := keys[own:]
	at := max(0, slices.IndexFunc(root, func(k keymap.Key) bool { return k.Action == namespace }))
	return slices.Concat(root[:at], keys[:own], root[at:])
}

// firstPress is the press by which a key is told.
func firstPress(k keymap.Key) string {
	if len(k.Press) > 0 {
		return k.Press[0]
	}
	return ""
}

// keyText is a key in the status line, where a click presses it.
func keyText(k keymap.Key) styled.Line {
	press := firstPress(k)
	return styled.Line{{Text: " " + k.Label(), Role: styled.Accent, Link: press}, {Text: " " + k.Short + " ", Role: styled.Dim, Link: press}}
}

// keyAt is the key that the status line shows at a column, or "".
func (m *model) keyAt(x int) string {
	if m.popup != nil || m.input != nil || m.remark.Text != "" {
		return ""
	}
	at := 0
	for _, span := range m.keyLine(m.width - styled.Width(" "+m.top().Status()+" ")) {
		if at += styled.Width(span.Text); x < at {
			return span.Link
		}
	}
	return ""
}
