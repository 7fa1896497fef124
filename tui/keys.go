package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/places"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/cel"
)

// keys are the keys that mean the same everywhere, each with what it does and the reason why it does nothing
// now.
func (m *model) keys() screen.Keys {
	s, subjects := m.state(), m.subjects()
	ref := s.Selection
	page := func(kind screen.Page, refs []screen.Ref) (off string, do func(*screen.World) tea.Cmd) {
		return m.pageOff(kind, refs), func(*screen.World) tea.Cmd { return m.open(kind, refs) }
	}
	explainOff, explain := page(screen.Explain, subjects)
	detailOff, detail := page(screen.Detail, only(ref))
	fitOff, fit := page(screen.Fit, only(ref))
	yamlOff, yaml := page(screen.YAML, subjects)
	find := screen.Key{Name: "filter", Press: []string{"/"}, Short: "filter", Help: "narrow the rows: words, column=value, column>number, !word", Do: m.prompts.askFilter}
	if s.Searches {
		find.Short, find.Help = "search", "look for text on the page; n and N go on"
	}
	noneOff := func(is bool, why string) string {
		if is {
			return why
		}
		return ""
	}
	find.Off = noneOff(!s.Filters && !s.Searches, "there is nothing to filter")
	copyOff := noneOff(ref.Kind == screen.None && s.CopyText == nil, "nothing is selected")
	backOff := noneOff(len(m.pages) == 0 && s.Search == "" && s.Filter == "" && len(s.Marked) == 0 && len(m.trail) == 0, "there is nothing to go back to; q quits")

	keys := append(m.timeline.keys(), screen.Keys{
		{Name: "explain", Press: []string{"e"}, Short: "explain", Help: "why it is, can be or cannot be allocated, with fixes", Off: explainOff, Do: explain},
		{Name: "detail", Press: []string{"enter", "d"}, Show: "⏎", Short: "detail", Help: "spec, status, holders and history, and where else to go from there (also d)", Off: detailOff, Do: detail},
		{Name: "fit", Press: []string{"f"}, Short: "fit", Help: "how many more copies fit, and what runs out first", Off: fitOff, Do: fit},
		{Name: "what-if", Press: []string{"w"}, Short: m.supposeWord(), Help: "what if: the claim released, the taints gone, one more such node, or what p shows", Off: m.supposeOff(subjects), Do: m.supposeSubjects},
		{Name: "forget what-if", Press: []string{"W"}, Help: "drop all what-ifs", Off: noneOff(len(m.hypotheses) == 0, "nothing is supposed"), Do: func(*screen.World) tea.Cmd {
			m.hypotheses = nil
			return m.rebuildWorld()
		}},
		{Name: "plan", Press: []string{"p"}, Help: "plan: what would be if it were drained, lost, tainted, evicted or deleted; how room is made for it", Off: m.removalOff(subjects), Do: m.prompts.askRemoval},
		{Name: "yaml", Press: []string{"y"}, Short: "yaml", Help: "the object as YAML", Off: yamlOff, Do: yaml},
	}...)
	keys = append(append(keys, m.writes.keys()...), screen.Keys{
		find,
		{Name: "cel lab", Press: []string{"c"}, Short: "cel", Help: "take the selectors into the CEL lab", Off: labOff(m.world.Snapshot, ref), Do: func(*screen.World) tea.Cmd { return m.goTo(screen.Go{View: "cel", Ref: ref}) }},
		{Name: "map", Press: []string{"m"}, Help: "on the map: where it is, or what it could use", Off: noneOff(ref.Kind != screen.Claim && ref.Kind != screen.Pod, "select a claim or a pod first"), Do: func(*screen.World) tea.Cmd { return m.goTo(screen.Go{View: "nodes", Ref: ref}) }},
		{Name: "namespace", Press: []string{"n"}, Short: "namespace", Help: "show another namespace, or all", Do: m.prompts.askNamespace},
		{Name: "all namespaces", Press: []string{"0"}, Help: "show all namespaces", Off: noneOff(m.world.Namespace == "", "all namespaces are shown"), Do: func(*screen.World) tea.Cmd { return m.prompts.showNamespace(places.AllNamespaces) }},
		{Name: "go to", Press: []string{":", "ctrl+a"}, Short: "go to", Help: "go to a view, or anything that has a name; :q quits (also ^A)", Do: m.prompts.askName},
		{Name: "copy", Press: []string{"C"}, Help: "copy what is selected to the clipboard", Off: copyOff, Do: func(*screen.World) tea.Cmd { return m.copyText(m.copied()) }},
		{Name: "save", Press: []string{"ctrl+s"}, Show: "^S", Help: "save what C copies, in a new file of the current directory", Off: cmp.Or(copyOff, noneOff(m.options.Save == nil, "there is nowhere to save it")), Do: func(*screen.World) tea.Cmd { return m.saveText(m.copied()) }},
		{Name: "next view", Press: []string{"tab"}, Show: "Tab", Help: "next view", Do: func(*screen.World) tea.Cmd { return m.step(1) }},
		{Name: "previous view", Press: []string{"shift+tab"}, Show: "⇧Tab", Help: "previous view", Do: func(*screen.World) tea.Cmd { return m.step(-1) }},
		{Name: "back", Press: []string{"esc"}, Show: "Esc", Help: "back; or clear the marks, or the filter", Off: backOff, Do: func(*screen.World) tea.Cmd { return m.back() }},
		{Name: "help", Press: []string{"?"}, Short: "help", Help: "all keys", Do: screen.Then(func() { m.popup = frame{m}.help() })},
		{Name: "suspend", Press: []string{"ctrl+z"}, Show: "^Z", Help: "stop for a while; fg in the shell goes on", Do: func(*screen.World) tea.Cmd { return tea.Suspend }},
		{Name: "quit", Press: []string{"q"}, Help: "quit", Do: func(*screen.World) tea.Cmd { return m.leave("") }},
	}...)
	for i, v := range m.views[:m.tabbed()] {
		keys = append(keys, screen.Key{Name: v.name, Press: []string{viewKey(i)}, Help: v.title, Do: func(*screen.World) tea.Cmd { return m.switchTo(v.name) }})
	}
	return m.options.Preferences.Pressed(keys)
}

// navigationKeys are the keys that lead to other places, wherever the cursor is. The names of views are
// others.
var navigationKeys = map[string]bool{
	"next view": true, "previous view": true, "filter": true, "namespace": true, "all namespaces": true, "go to": true, "help": true,
}

// labOff says why the lab cannot load the selectors of an object, or "".
func labOff(s *inspect.Snapshot, ref screen.Ref) string {
	if ref.Kind != screen.Claim && ref.Kind != screen.Class && ref.Kind != screen.Template {
		return "select a claim or a class first"
	}
	if s != nil && !cel.HasSelectors(s, ref) {
		return ref.String() + " has no CEL selectors"
	}
	return ""
}

// screenKeys are the keys of the screen that is visible. On a time line the arrows are not among them, where
// there are letters that do the same.
func (m *model) screenKeys() screen.Keys {
	s, of := m.state(), m.options.Preferences.Pressed(m.timeline.keys())
	own := m.options.Preferences.Pressed(s.Keys)
	if of == nil || s.Typing {
		return own
	}
	out := make(screen.Keys, 0, len(own))
	for _, k := range own {
		var press []string
		for _, p := range k.Press {
			if _, taken := of.Find(p); !taken {
				press = append(press, p)
			}
		}
		if len(press) < len(k.Press) {
			k.Press, k.Show = press, ""
		}
		if len(press) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// shown is a key as the help writes keys.
func shown(k tea.KeyPressMsg) string {
	text := k.String()
	if letter, ok := strings.CutPrefix(text, "ctrl+"); ok && len(letter) == 1 {
		return "^" + strings.ToUpper(letter)
	}
	return text
}

// press handles a key: first whoever takes text, then the keys of the screen, then those of the root.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	if k.Keystroke() == "ctrl+c" {
		m.interrupted = true
		return m.leave("")
	}
	root := m.keys()
	key, known := root.Find(k.String())
	if m.holdKey(k, key) {
		return nil
	}
	m.remark = screen.Say{}
	if key.Name != "what-if" || key.Off != "" {
		m.again = screen.Change{}
	}
	m.writes.plan.Stop() // who does something else must not be asked in the middle of it, and answer by accident
	switch {
	case m.popup != nil:
		return m.pressPopup(k)
	case m.input != nil:
		return m.prompts.press(k)
	case m.state().Typing:
		return m.update(m.top(), k)
	}
	own, of := m.screenKeys().Find(k.String())
	if of {
		key, known = own, true
	}
	switch {
	case !known:
		return m.say(styled.Dim, "no such key: "+inspect.Sanitize(shown(k))+" (? for help)")
	case key.Off != "" && !of && m.writesTo(key.Name):
		m.popup = refusal(key.Label() + " " + key.Name + ": " + key.Off)
		return nil
	case key.Off != "":
		return m.say(styled.Warn, key.Label()+" "+key.Name+": "+key.Off)
	}
	to := m.top()
	cmd := key.Do(m.world)
	if of {
		return tea.Batch(cmd, m.update(to, screen.Pressed{}))
	}
	return cmd
}

// writesTo reports whether a key of the root writes.
func (m *model) writesTo(name string) bool {
	a := Action(name)
	return a == Allocate || a == Deallocate || a == Release || a == Taint
}

// leave ends the program; while something is being written, only when it is asked for again.
func (m *model) leave(next string) tea.Cmd {
	m.next = next
	if m.writes.commit.Running() && !m.leaving {
		m.leaving, m.interrupted = true, false
		return m.say(styled.Warn, "something is being written; leave again to stop it, which takes back what was begun")
	}
	return tea.Quit
}

// maxTypeahead is how many keys wait at most: more than anybody types ahead.
const maxTypeahead = 1000

// holdKey keeps a key for later and reports whether it did. What a user types ahead, such as /train-0⏎e, is
// meant for what will be selected, so it waits until that is known; keys that lead elsewhere do not. Esc and
// q do not either: they give up what was typed ahead. key is what the keystroke means to the root.
func (m *model) holdKey(k tea.KeyPressMsg, key screen.Key) bool {
	if key.Name == "back" || key.Name == "quit" {
		m.typeahead = nil
		m.prompts.find.Stop()
		return false
	}
	leads := key.Off == "" && (navigationKeys[key.Name] || m.isView(key.Name))
	if !m.unsettled() || leads && !m.prompts.find.Running() && len(m.typeahead) == 0 {
		return false
	}
	if len(m.typeahead) < maxTypeahead {
		m.typeahead = append(m.typeahead, k)
	}
	return true
}

// unsettled reports whether what keys are about is being worked out. Text can be typed all the same.
func (m *model) unsettled() bool {
	s := m.state()
	return m.popup == nil && m.input == nil && !s.Typing && (m.prompts.find.Running() || s.Unsettled)
}

// replayKeys presses the keys that were typed ahead, as far as it is known now what they are about.
func (m *model) replayKeys() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.typeahead) > 0 && !m.unsettled() {
		k := m.typeahead[0]
		rest := m.typeahead[1:]
		m.typeahead = nil
		cmds = append(cmds, m.press(k))
		m.typeahead = append(m.typeahead, rest...)
	}
	return tea.Batch(cmds...)
}
