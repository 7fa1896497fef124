package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/preferences"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if p := m.popup; p != nil && p.confirm == nil && !p.stays {
			p.page.SetLines(frame{m}.helpLines())
		}
	case tea.BackgroundColorMsg:
		if m.options.Preferences.Theme.Background == "" {
			m.dark = msg.IsDark()
			m.applyTheme()
		}
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.applyTheme()
	case ticked:
		m.idle = time.Since(m.touched) > idleAfter
		m.set(func(w *screen.World) { w.SetNow(m.now()) })
		return m, tick()
	case arrived:
		return m, tea.Batch(m.takeSnapshot(msg.snapshot), m.wait())
	case saved:
		return m, m.tellSaved(msg)
	case ended:
		return m, m.end()
	case quit:
		return m, m.leave(msg.next)
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
		if msg.Screen != nil {
			return m.push(page{kind: msg.Page, refs: only(msg.Ref), screen: msg.Screen})
		}
		return m.open(msg.Page, only(msg.Ref))
	case screen.Choose:
		return m.prompts.choose(msg.Label, "↓ chooses", msg.Offers, nil)
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
		m.tally.Note(msg.Events)
		return nil
	}
	if result, ok := m.suppose.Take(msg); ok {
		return m.take(result)
	}
	if cmd, ok := m.tally.Take(msg); ok {
		m.set(func(w *screen.World) { w.History = m.tally.History })
		return cmd
	}
	if result, ok := m.timeline.job.Take(msg); ok {
		return m.timeline.arrive(result)
	}
	if result, ok := m.prompts.find.Take(msg); ok {
		return m.prompts.goFound(result.Value)
	}
	if cmd, ok := m.writes.take(msg); ok {
		return cmd
	}
	if m.input != nil && m.input.take != nil && m.input.take(msg) {
		return nil
	}
	return m.broadcast(msg)
}

// mouse hands mouse events to the screen, counted from its top.
func (m *model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.popup != nil || m.tooSmall() {
		return nil
	}
	_, click := msg.(tea.MouseClickMsg)
	if click {
		m.again = screen.Change{}
	}
	mouse, f := msg.Mouse(), frame{m}
	if click && mouse.Y == 1 {
		if at := f.tabAt(mouse.X); at >= 0 {
			m.input = nil // it is about the view that is left
			return m.switchTo(m.views[at].name)
		}
	}
	if click && mouse.Y == m.height-1 {
		if key := f.keyAt(mouse.X); key != "" {
			press, _ := preferences.ParseKey(key)
			return m.press(press)
		}
	}
	header := f.headerHeight()
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
		m.popup.page.Seek(m.popup.search.Value())
		return nil
	}
	if m.popup == nil && m.state().Typing {
		return m.update(m.top(), msg)
	}
	return nil
}
