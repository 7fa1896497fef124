package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	titleHeight  = 2 // cluster, views
	footerHeight = 2 // rule, status line

	minWidth, minHeight = 40, 10
)

// frame draws the model.
type frame struct{ *model }

// headerHeight is how many lines are above the screen: below the titles is a rule, with what there is to be
// said about the screen, unless it draws one and there is nothing to be said.
func (m frame) headerHeight() int {
	if m.state().Header && len(m.crumbs()) == 0 {
		return titleHeight
	}
	return titleHeight + 1
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(frame{m}.draw())
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "kubectl dra top"
	if m.options.Cluster != "" {
		v.WindowTitle += " – " + inspect.Sanitize(m.options.Cluster)
	}
	return v
}

// draw draws the whole screen.
func (m frame) draw() string {
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
	screen := m.withOffers(widget.Fit(m.body(body), m.width, body), body)
	lines := []string{m.headerLine(), m.tabs()}
	if header > titleHeight {
		lines = append(lines, widget.Rule(th, m.crumbs(), m.width))
	}
	lines = append(lines, screen, widget.Rule(th, nil, m.width), m.statusLine())
	frame := strings.Join(lines, "\n")
	if m.popup != nil {
		frame = m.popup.over(th, frame, m.width, m.height)
	}
	return frame
}

// withOffers puts what can be taken for what is typed over the end of a screen.
func (m frame) withOffers(body string, height int) string {
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
func (m frame) tabLine(style tabStyle) (line styled.Line, ends []int) {
	at := 0
	for i := range m.views {
		if i >= m.tabbed() && i != m.current {
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
func (m frame) tab(i int, style tabStyle) string {
	title := m.views[i].title
	switch {
	case i >= m.tabbed():
		return title
	case i == numbered && i == m.current && style != wholeTabs:
		return title
	case i == m.current:
	case style == bareTabs, style == shortTabs && i == numbered:
		return viewKey(i)
	case style == shortTabs && m.views[i].short != "":
		title = m.views[i].short
	}
	return viewKey(i) + " " + title
}

// tabs are the views and which namespace is shown.
func (m frame) tabs() string {
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
func (m frame) scope() styled.Line {
	name := "all"
	if m.world.Namespace != "" {
		name = inspect.Sanitize(m.world.Namespace)
	}
	return styled.Text(styled.Dim, "ns: "+name+" ")
}

// leastScope and mostScope are the columns that the namespace has beside all titles of views at least, and
// those that it may want.
const leastScope, mostScope = 8, 24

// tabStyle says as much as there is room for.
func (m frame) tabStyle() tabStyle {
	for style := wholeTabs; style < bareTabs; style++ {
		if line, _ := m.tabLine(style); line.Width()+max(leastScope, min(mostScope, m.scope().Width())) < m.width {
			return style
		}
	}
	return bareTabs
}

// tabAt returns the view whose tab is at a column, or -1.
func (m frame) tabAt(x int) int {
	_, ends := m.tabLine(m.tabStyle())
	for i, end := range ends[:m.tabbed()] {
		if x < end {
			return i
		}
	}
	return -1
}

// crumbs say what is supposed, which pages are open, and which filter is in force.
func (m frame) crumbs() styled.Line {
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
	state := m.state()
	add := func(name, text string) {
		if text != "" && m.input == nil {
			line = append(line, styled.Span{Text: separator(line) + name}, styled.Span{Text: inspect.Sanitize(text), Role: styled.Accent})
		}
	}
	add("filter ", state.Filter)
	add("search ", state.Search)
	if state.Arrangement != "" {
		line = append(line, styled.Span{Text: separator(line) + state.Arrangement, Role: styled.Dim})
	}
	return line
}

// crumbsFrom is the first of the pages that is named: where there is no room for all, those on top are, which
// are shown.
func (m frame) crumbsFrom() int {
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
func (m frame) statusLine() string {
	th := m.world.Theme
	if m.popup != nil {
		return m.popupLine()
	}
	status := styled.Text(styled.Dim, " "+m.state().Status+" ")
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
func (m frame) popupLine() string {
	var keys styled.Line
	for _, k := range m.popupKeys() {
		if k.Short != "" {
			keys = append(keys, keyText(k)...)
		}
	}
	if m.popup.seeking {
		return m.popup.search.View(m.world.Theme, m.width)
	}
	if m.popup.confirm == nil {
		return widget.Render(m.world.Theme, keys, m.width)
	}
	room := max(leastPrompt, m.width-keys.Width())
	return m.popup.answer.View(m.world.Theme, room) + widget.Render(m.world.Theme, keys, m.width-room)
}

// keyLine shows as many of the keys that work as have room: what is done to objects before what is done to
// tables, and that before ways to other places. Help, and the way back, are always among them; while text is
// typed, how that ends.
func (m frame) keyLine(room int) styled.Line {
	own, root, typing := m.screenKeys(), m.keys(), m.state().Typing
	var always styled.Line
	keys := own
	if stop, ok := own.Find("esc"); typing && ok {
		always = keyText(stop)
	} else if !typing {
		if back, ok := root.Named("back"); ok && len(m.pages) > 0 {
			back.Short = "back"
			always = keyText(back)
		}
		if help, ok := root.Named("help"); ok {
			always = append(always, keyText(help)...)
		}
		at := max(0, slices.IndexFunc(root, func(k screen.Key) bool { return k.Name == "namespace" }))
		keys = slices.Concat(root[:at], own, root[at:])
	}
	line, left := styled.Line{}, room-always.Width()
	for _, k := range keys {
		if first, taken := own.Find(k.Press[0]); taken && first.Name != k.Name {
			continue
		}
		if k.Off != "" || k.Short == "" || k.Name == "help" || typing && slices.Contains(k.Press, "esc") {
			continue
		}
		if text := keyText(k); text.Width() <= left {
			left -= text.Width()
			line = append(line, text...)
		}
	}
	if left < 0 {
		return line
	}
	return append(line, always...)
}

// keyText is a key in the status line, where a click presses it.
func keyText(k screen.Key) styled.Line {
	press := ""
	if len(k.Press) > 0 {
		press = k.Press[0]
	}
	return styled.Line{{Text: " " + k.Label(), Role: styled.Accent, Link: press}, {Text: " " + k.Short + " ", Role: styled.Dim, Link: press}}
}

// keyAt is the key that the status line shows at a column, or "".
func (m frame) keyAt(x int) string {
	if m.popup != nil || m.input != nil || m.remark.Text != "" {
		return ""
	}
	at := 0
	for _, span := range m.keyLine(m.width - styled.Width(" "+m.state().Status+" ")) {
		if at += styled.Width(span.Text); x < at {
			return span.Link
		}
	}
	return ""
}

// longestGraph is how many columns the graph of a driver has at most.
const longestGraph = 8

// headerLine is the first line: which cluster, and how it is.
func (m frame) headerLine() string {
	left, version := styled.Line{{Text: " kubectl dra", Role: styled.Accent}}, ""
	if m.base != nil {
		version = m.base.ServerVersion()
	}
	for _, s := range []string{m.options.Cluster, m.options.User, version} {
		if s != "" {
			left = append(left, styled.Span{Text: "  " + styled.Cut(inspect.Sanitize(s), 32), Role: styled.Strong})
		}
	}
	left = append(left, m.timeline.text(m.width-left.Width()-screen.HealthText(m.base, m.options.Origin).Width()-3)...)
	right := screen.HealthText(m.base, m.options.Origin)
	room := m.width - left.Width() - right.Width() - 3
	right = append(right, m.usageLine(room)...)
	right = append(right, styled.Span{Text: " "})
	if over := left.Width() + right.Width() + 1 - m.width; over > 0 {
		left = styled.Text(styled.Strong, styled.Cut(left.String(), max(12, left.Width()-over)))
	}
	gap := styled.Span{Text: strings.Repeat(" ", max(1, m.width-left.Width()-right.Width()))}
	return widget.Render(m.world.Theme, append(append(left, gap), right...), m.width)
}

// usageLine tells in at most so many columns of as many drivers as possible, the largest first, with graphs
// as long as there is room for.
func (m frame) usageLine(room int) styled.Line {
	shown, length := m.tally.Now.Usage, longestGraph
	for len(shown) > 0 && m.usages(shown, 1).Width() > room {
		shown = shown[:len(shown)-1]
	}
	for length > 1 && m.usages(shown, length).Width() > room {
		length--
	}
	return m.usages(shown, length)
}

func (m frame) usages(shown []record.DriverUse, length int) (line styled.Line) {
	if len(shown) > 0 {
		line = styled.Text(styled.Dim, map[bool]string{false: "  free", true: "  free at most"}[m.tally.Now.AtMost])
	}
	for _, u := range shown {
		line = append(append(line, styled.Span{Text: "  "}), m.usageText(u, length)...)
	}
	return line
}

func (m frame) usageText(u record.DriverUse, length int) styled.Line {
	role := styled.Good
	if u.Devices.Free == 0 {
		role = styled.Warn
	}
	return styled.Line{
		{Text: screen.ShortDriver(u.Driver) + " ", Role: styled.Plain},
		{Text: widget.Sparkline(m.tally.Graphs[u.Driver], length), Role: styled.Used},
		{Text: " " + screen.FreeOfDriver(&u.DriverStatus), Role: role},
	}
}

// body draws the screen that is visible, or, until there is a snapshot, what that waits for.
func (m frame) body(height int) string {
	waiter, ok := m.options.Source.(Waiter)
	if m.base != nil || !ok {
		return m.top().View(m.world, m.width, height)
	}
	server, since, what := waiter.Waiting()
	lines := []styled.Line{nil, m.waitingFor(server, since), nil}
	for _, w := range what {
		lines = append(lines, styled.Text(styled.Plain, "   ◌ "+inspect.Sanitize(w)))
	}
	if m.options.Remarks != nil {
		if remarks := m.options.Remarks(); len(remarks) > 0 {
			lines = append(lines, nil, styled.Text(styled.Dim, "  The credential plugin says:"))
			for _, r := range remarks {
				for _, part := range styled.WrapText(inspect.Sanitize(r), max(1, m.width-4)) {
					lines = append(lines, styled.Text(styled.Plain, "   "+part))
				}
			}
		}
	}
	// What is said last matters most, so what there is no room for is missing from the list above it.
	if over := min(len(lines)-height, len(what)); over > 0 {
		end := 3 + len(what)
		lines = slices.Delete(lines, end-over, end)
	}
	drawn := make([]string, len(lines))
	for i, line := range lines {
		drawn[i] = widget.Render(m.world.Theme, line, m.width)
	}
	return strings.Join(drawn, "\n")
}

// waitingFor is the line that says for whom, since when, and how to stop it.
func (m frame) waitingFor(server string, since time.Time) styled.Line {
	took := max(0, m.options.Clock().Sub(since)).Truncate(time.Second)
	return styled.Line{
		{Text: "  Waiting for ", Role: styled.Warn}, {Text: inspect.Sanitize(server), Role: styled.Strong},
		{Text: fmt.Sprintf(" since %s (%s); q quits", since.Local().Format("15:04:05"), took), Role: styled.Dim},
	}
}
