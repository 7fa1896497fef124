package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drawing.message(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layOutHelp()
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.applyTheme()
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.applyTheme()
	case ticked:
		w := *m.world
		w.SetNow(m.now())
		m.world = &w
		return m, tick()
	case arrived:
		cmd := m.takeSnapshot(msg.snapshot)
		m.drawing.resting = m.throttled && m.drawing.made // it is not shown yet
		return m, tea.Batch(cmd, m.wait())
	case ended:
		return m, m.end()
	case tallied:
		return m, m.endRest()
	case paced:
		return m, m.showNewest()
	case tea.KeyPressMsg:
		return m, tea.Batch(m.touch(), m.press(msg))
	case tea.PasteMsg:
		return m, tea.Batch(m.touch(), m.paste(msg))
	case tea.MouseMsg:
		return m, tea.Batch(m.touch(), m.mouse(msg))
	default:
		cmd := m.message(msg)
		return m, tea.Batch(cmd, m.replayKeys())
	}
	return m, nil
}

// message handles what screens ask for, and results of work in the background.
func (m *model) message(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.Open:
		return m.open(msg)
	case screen.Go:
		return m.goTo(msg)
	case screen.Back:
		return m.back()
	case screen.Say:
		m.remark = msg
		return nil
	case screen.Copy:
		return m.copyText(msg.Text)
	case screen.Suppose:
		return m.toggle(msg.Change)
	case screen.Noted:
		m.record.note(msg.Events)
		return nil
	}
	if result, ok := m.suppose.Take(msg); ok {
		return m.take(result)
	}
	if cmd, ok := m.header.take(msg); ok {
		return cmd
	}
	if cmd, ok := m.record.take(msg); ok {
		w := *m.world
		w.History = m.record.now
		m.world = &w
		return cmd
	}
	if result, ok := m.timeline.job.Take(msg); ok {
		return m.arrive(result)
	}
	if result, ok := m.find.Take(msg); ok {
		return m.goFound(result.Value)
	}
	if cmd, ok := m.takePlan(msg); ok {
		return cmd
	}
	if m.input != nil && m.input.take != nil && m.input.take(msg) {
		return nil
	}
	return m.broadcast(msg)
}

// broadcast offers a message to every screen: it is a result of one of them.
func (m *model) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, v := range m.views {
		if v.screen != nil {
			cmds = append(cmds, m.update(v.screen, msg))
		}
	}
	for _, p := range m.pages {
		cmds = append(cmds, m.update(p.screen, msg))
	}
	return tea.Batch(cmds...)
}

// take shows a supposed cluster, and begins with the next one if the cluster or the suppositions have
// changed in the meantime.
func (m *model) take(result screen.Result[supposition]) tea.Cmd {
	if result.Err != nil {
		return nil
	}
	show := m.change(result.Value.snapshot, result.Value.changes)
	if result.Value.base != m.base || !slices.Equal(result.Value.changes, m.hypotheses) {
		return tea.Batch(show, m.rebuildWorld())
	}
	return show
}

// show makes another screen visible by what change does.
func (m *model) show(change func()) tea.Cmd {
	hidden := m.update(m.top(), screen.Hidden{})
	change()
	return tea.Batch(hidden, m.update(m.top(), screen.Shown{}))
}

// goTo shows a view, and points at an object in it.
func (m *model) goTo(msg screen.Go) tea.Cmd {
	at := slices.IndexFunc(m.views, func(v view) bool { return v.name == msg.View })
	if at < 0 {
		return nil
	}
	m.leaveTrail(at)
	cmd := m.show(func() {
		m.pages = nil
		m.current = at
		m.openView()
	})
	if msg.Ref.Kind == screen.None {
		return cmd
	}
	if f, ok := m.top().(screen.Filterer); ok && f.FilterText() != "" { // it might hide the object
		cmd = tea.Batch(cmd, m.update(m.top(), screen.Filter{}))
	}
	return tea.Batch(cmd, m.update(m.top(), screen.Selected{Ref: msg.Ref}))
}

// enter shows another namespace if an object of it would be hidden.
func (m *model) enter(namespace string) {
	if namespace == "" || m.world.InNamespace(namespace) {
		return
	}
	m.setNamespace(namespace)
	m.remark = screen.Say{Text: "now in namespace " + namespace + "; n shows others", Role: styled.Accent}
}

// setNamespace narrows what is shown to a namespace. If it is empty, all namespaces are shown.
func (m *model) setNamespace(namespace string) {
	w := *m.world
	m.version++
	w.Namespace, w.Version = namespace, m.version
	m.world = &w
}

// open shows a page about an object. If it is open already, those above it are closed: who goes to and fro between
// two pages does not have to go all the way back.
func (m *model) open(msg screen.Open) tea.Cmd {
	return m.openSeveral(msg.Page, only(msg.Ref))
}

// openSeveral shows a page about one or more objects.
func (m *model) openSeveral(kind screen.Page, refs []screen.Ref) tea.Cmd {
	entry := pageTable[kind]
	if why := entry.refuses(refs); why != "" {
		return m.say(styled.Warn, why)
	}
	if at := slices.IndexFunc(m.pages, func(p page) bool { return p.kind == kind && slices.Equal(p.refs, refs) }); at >= 0 {
		return m.show(func() { m.pages = m.pages[:at+1] })
	}
	made := page{kind: kind, refs: refs}
	if len(refs) == 1 {
		made.screen = entry.make(refs[0])
	} else {
		made.screen = entry.several(refs)
	}
	return m.show(func() { m.pages = append(m.pages, made) })
}

// mostSubjects is how many objects a page may be about: more could not be read.
const mostSubjects = 50

// refuses says why there is no such page about objects, or "".
func (e pageEntry) refuses(refs []screen.Ref) string {
	for _, ref := range refs {
		if ref.Kind == screen.None {
			return "nothing is selected"
		}
		if !slices.Contains(e.kinds, ref.Kind) {
			return fmt.Sprintf("not for a %s, only for a %s", ref.Kind, kindList(e.kinds))
		}
	}
	switch {
	case len(refs) > 1 && e.several == nil:
		return "only for one object: Esc clears the marks"
	case len(refs) > mostSubjects:
		return fmt.Sprintf("%d are marked, and it is for at most %d", len(refs), mostSubjects)
	}
	return ""
}

// kindList is kinds as "Pod, Node or Device".
func kindList(kinds []screen.Kind) string {
	var b strings.Builder
	for i, k := range kinds {
		switch {
		case i > 0 && i == len(kinds)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(k))
	}
	return b.String()
}

// back ends the search, or closes the page on top; without one it takes marks away, then the filter, and then it goes back to where the user
// came from.
func (m *model) back() tea.Cmd {
	if m.searchText() != "" {
		return m.update(m.top(), screen.Search{})
	}
	if n := len(m.pages); n > 0 && len(m.marked()) == 0 {
		return m.show(func() { m.pages = m.pages[:n-1] })
	}
	if len(m.marked()) > 0 {
		m.top().(screen.Marker).Unmark()
		return nil
	}
	if f, ok := m.top().(screen.Filterer); ok && f.FilterText() != "" {
		return m.update(m.top(), screen.Filter{})
	}
	return m.goBack()
}

func (m *model) say(role styled.Role, text string) tea.Cmd {
	m.remark = screen.Say{Text: text, Role: role}
	return nil
}

// mouse hands mouse events to the screen, counted from its top.
func (m *model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.popup != nil || m.tooSmall() {
		return nil
	}
	if _, ok := msg.(tea.MouseClickMsg); ok {
		m.again = screen.Change{}
	}
	mouse := msg.Mouse()
	if _, ok := msg.(tea.MouseClickMsg); ok && mouse.Y == 1 {
		if at := m.tabAt(mouse.X); at >= 0 {
			m.input = nil // it is about the view that is left
			return m.switchTo(m.views[at].name)
		}
	}
	if _, ok := msg.(tea.MouseClickMsg); ok && mouse.Y == m.height-1 {
		if key := m.keyAt(mouse.X); key != "" {
			return m.press(pressOf(key))
		}
	}
	header := m.headerHeight()
	if mouse.Y < header || mouse.Y >= m.height-footerHeight {
		return nil
	}
	mouse.Y -= header
	switch msg.(type) {
	case tea.MouseClickMsg:
		return m.update(m.top(), tea.MouseClickMsg(mouse))
	case tea.MouseWheelMsg:
		return m.update(m.top(), tea.MouseWheelMsg(mouse))
	}
	return nil
}

// paste hands pasted text to whoever takes text.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.input != nil {
		m.input.prompt.Insert(msg.Content)
		return m.input.typed(m.input.prompt.Value())
	}
	if m.popup != nil && m.popup.seeking {
		m.popup.search.Insert(msg.Content)
		m.popup.seek(m.popup.origin, 1)
		return nil
	}
	if m.popup == nil && m.typing() {
		return m.update(m.top(), msg)
	}
	return nil
}

// typing reports whether the screen takes text.
func (m *model) typing() bool {
	t, ok := m.top().(screen.TextInput)
	return ok && t.Typing()
}
