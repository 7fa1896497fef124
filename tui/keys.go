package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/cel"
)

// The actions that mean the same everywhere.
const (
	nextView     keymap.Action = "next view"
	prevView     keymap.Action = "previous view"
	filter       keymap.Action = "filter"
	details      keymap.Action = "detail"
	back         keymap.Action = "back"
	explainIt    keymap.Action = "explain"
	allocate     keymap.Action = "allocate"
	deallocate   keymap.Action = "deallocate"
	fit          keymap.Action = "fit"
	yaml         keymap.Action = "yaml"
	whatIf       keymap.Action = "what-if"
	forget       keymap.Action = "forget what-if"
	takeAway     keymap.Action = "plan"
	lab          keymap.Action = "cel lab" // not "cel", which is the view by its number
	copyIt       keymap.Action = "copy"
	namespace    keymap.Action = "namespace"
	anyNamespace keymap.Action = "all namespaces"
	goName       keymap.Action = "go to"
	help         keymap.Action = "help"
	quit         keymap.Action = "quit"
	suspend      keymap.Action = "suspend"
)

// keys are the keys that mean the same everywhere, each with the reason why it does nothing now.
func (m *model) keys() keymap.Map {
	ref := m.top().Selection()
	keys := keymap.Map{
		{Action: explainIt, Press: []string{"e"}, Short: "explain", Help: "why it is, can be or cannot be allocated, with fixes", Off: m.pageOff(screen.Explain, m.subjects())},
		{Action: details, Press: []string{"enter", "d"}, Show: "⏎", Short: "detail", Help: "spec, status, holders and history, and where else to go from there (also d)", Off: m.pageOff(screen.Detail, only(ref))},
		{Action: fit, Press: []string{"f"}, Short: "fit", Help: "how many more copies fit, and what runs out first", Off: m.pageOff(screen.Fit, only(ref))},
		{Action: whatIf, Press: []string{"w"}, Short: m.whatIfWord(), Help: "what if: the claim released, the taints gone, one more such node, or what p shows", Off: m.supposeOff(m.subjects())},
		{Action: forget, Press: []string{"W"}, Help: "drop all what-ifs", Off: m.forgetOff()},
		{Action: takeAway, Press: []string{"p"}, Help: "plan: what would be if it were drained, lost, tainted, evicted or deleted; how room is made for it", Off: m.takeAwayOff(m.subjects())},
		{Action: yaml, Press: []string{"y"}, Short: "yaml", Help: "the object as YAML", Off: m.pageOff(screen.YAML, m.subjects())},
		{Action: allocate, Press: []string{"A"}, Short: "allocate", Help: "allocate; first shows what would be written", Off: m.writeOff(Allocate, ref)},
		{Action: deallocate, Press: []string{"D"}, Short: "deallocate", Help: "take an unused claim's devices back; first shows what would be written", Off: m.writeOff(Deallocate, ref)},
		{Action: filter, Press: []string{"/"}, Short: "filter", Help: "narrow the rows: words, column=value, column>number, !word", Off: m.filterOff()},
		{Action: lab, Press: []string{"c"}, Short: "cel", Help: "take the selectors into the CEL lab", Off: m.labOff(ref)},
		{Action: namespace, Press: []string{"n"}, Short: "namespace", Help: "show another namespace, or all"},
		{Action: anyNamespace, Press: []string{"0"}, Help: "show all namespaces", Off: m.anyNamespaceOff()},
		{Action: goName, Press: []string{":", "ctrl+a"}, Short: "go to", Help: "go to a view, or anything that has a name; :q quits (also ^A)"},
		{Action: copyIt, Press: []string{"C"}, Help: "copy what is selected to the clipboard", Off: copyOff(ref)},
		{Action: nextView, Press: []string{"tab"}, Show: "Tab", Help: "next view"},
		{Action: prevView, Press: []string{"shift+tab"}, Show: "⇧Tab", Help: "previous view"},
		{Action: back, Press: []string{"esc"}, Show: "Esc", Help: "back; or clear the marks, or the filter", Off: m.backOff()},
		{Action: help, Press: []string{"?"}, Short: "help", Help: "all keys"},
		{Action: suspend, Press: []string{"ctrl+z"}, Show: "^Z", Help: "stop for a while; fg in the shell goes on"},
		{Action: quit, Press: []string{"q"}, Help: "quit"},
	}
	if _, ok := m.top().(screen.Searcher); ok {
		at := slices.IndexFunc(keys, func(k keymap.Key) bool { return k.Action == filter })
		keys[at].Short, keys[at].Help = "search", "look for text on the page; n and N go on"
	}
	keys = slices.Insert(keys, 9, m.playKeys(ref)...)
	keys = append(m.timeKeys(), keys...)
	for i, v := range m.views[:numbered] {
		keys = append(keys, keymap.Key{Action: keymap.Action(v.name), Press: []string{fmt.Sprint(i + 1)}, Help: v.title})
	}
	return keys
}

// marked are the objects that the user has marked, in the screen that is visible.
func (m *model) marked() []screen.Ref {
	if s, ok := m.top().(screen.Marker); ok {
		return s.Marked()
	}
	return nil
}

// subjects are what questions about several objects are about: those that are marked, or else the one at the cursor.
func (m *model) subjects() []screen.Ref {
	if refs := m.marked(); len(refs) > 0 {
		return refs
	}
	return only(m.top().Selection())
}

func only(ref screen.Ref) []screen.Ref { return []screen.Ref{ref} }

// pageOff says why there is no such page about objects here, or "".
func (m *model) pageOff(p screen.Page, refs []screen.Ref) string {
	if n := len(m.pages); n > 0 && m.pages[n-1].kind == p && slices.Equal(m.pages[n-1].refs, refs) {
		return "this is it"
	}
	return pageTable[p].refuses(refs)
}

// supposeOff says why nothing can be supposed of objects, or "".
func (m *model) supposeOff(refs []screen.Ref) string {
	if m.plans() {
		if len(m.suppositions()) == 0 {
			return "no pod has to move, or that is not known yet"
		}
		return ""
	}
	why := ""
	for _, ref := range refs {
		if why = m.supposeOneOff(ref); why == "" {
			return ""
		}
	}
	return why
}

func (m *model) supposeOneOff(ref screen.Ref) string {
	if slices.Contains(m.hypotheses, m.supposable(ref)) {
		return "" // to be taken back
	}
	switch ref.Kind {
	case screen.Claim:
		if m.base == nil {
			return ""
		}
		return holdsNothing(m.base, ref)
	case screen.Device, screen.Node:
		return ""
	case screen.None:
		return "nothing is selected"
	}
	if m.takeAwayOff(only(ref)) == "" {
		return "p asks what would be without it"
	}
	return fmt.Sprintf("nothing can be supposed of a %s", ref.Kind)
}

// whatIfWord is what the key that supposes something is for.
func (m *model) whatIfWord() string {
	switch {
	case !m.plans():
		return "what-if"
	case m.supposesAll(m.suppositions()) && len(m.suppositions()) > 0:
		return "take back"
	}
	return "suppose it"
}

func (m *model) forgetOff() string {
	if len(m.hypotheses) == 0 {
		return "nothing is supposed"
	}
	return ""
}

func (m *model) writeOff(action Action, ref screen.Ref) string {
	switch {
	case m.options.Writer == nil:
		return m.options.NoWriter
	case m.commit.Running():
		return "something is being written already"
	case len(m.hypotheses) > 0:
		return "not while something is supposed: W forgets it"
	case m.plans():
		return "not on a page about what would be: Esc leaves it"
	case len(m.marked()) > 0:
		return "writes are for one claim at a time: Esc clears the marks"
	case ref.Kind != screen.Claim:
		return "select a claim first"
	case m.base == nil:
		return ""
	}
	claim, ok := m.base.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
	switch allocated := ok && claim.Status.Allocation != nil; {
	case ok && action == Allocate && allocated:
		return ref.String() + " is allocated already"
	case ok && action == Deallocate && !allocated:
		return ref.String() + " is not allocated"
	}
	return ""
}

func (m *model) labOff(ref screen.Ref) string {
	if ref.Kind != screen.Claim && ref.Kind != screen.Class && ref.Kind != screen.Template {
		return "select a claim or a class first"
	}
	if s := m.world.Snapshot; s != nil && !cel.HasSelectors(s, ref) {
		return ref.String() + " has no CEL selectors"
	}
	return ""
}

func (m *model) filterOff() string {
	_, rows := m.top().(screen.Filterer)
	if _, text := m.top().(screen.Searcher); !rows && !text {
		return "there is nothing to filter"
	}
	return ""
}

func (m *model) anyNamespaceOff() string {
	if m.world.Namespace == "" {
		return "all namespaces are shown"
	}
	return ""
}

func (m *model) backOff() string {
	f, ok := m.top().(screen.Filterer)
	if len(m.pages) == 0 && m.searchText() == "" && (!ok || f.FilterText() == "") && len(m.marked()) == 0 && len(m.trail) == 0 {
		return "there is nothing to go back to; q quits"
	}
	return ""
}

func copyOff(ref screen.Ref) string {
	if ref.Kind == screen.None {
		return "nothing is selected"
	}
	return ""
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
		return m.leave()
	}
	if m.holdKey(k) {
		return nil
	}
	m.remark = screen.Say{}
	if m.keys().Action(k.String()) != whatIf {
		m.again = screen.Change{}
	}
	m.plan.Stop() // who does something else must not be asked in the middle of it, and answer by accident
	switch {
	case m.popup != nil:
		return m.pressPopup(k)
	case m.input != nil:
		return m.pressInput(k)
	case m.typing():
		return m.update(m.top(), k)
	}
	if cmd, ok := m.pressTime(k); ok {
		return cmd
	}
	if key, ok := m.top().Keys().Find(k.String()); ok {
		if key.Off != "" {
			return m.say(styled.Warn, key.Label()+" "+string(key.Action)+": "+key.Off)
		}
		return m.update(m.top(), k)
	}
	key, ok := m.keys().Find(k.String())
	switch {
	case !ok:
		return m.say(styled.Dim, "no such key: "+inspect.Sanitize(shown(k))+" (? for help)")
	case key.Off != "" && slices.Contains([]keymap.Action{allocate, deallocate, release, taint}, key.Action):
		m.popup = refusal(key.Label() + " " + string(key.Action) + ": " + key.Off)
		return nil
	case key.Off != "":
		return m.say(styled.Warn, key.Label()+" "+string(key.Action)+": "+key.Off)
	}
	return m.do(key.Action)
}

// do carries out an action of the root.
func (m *model) do(action keymap.Action) tea.Cmd {
	ref := m.top().Selection()
	switch action {
	case explainIt:
		return m.openSeveral(screen.Explain, m.subjects())
	case details:
		return m.open(screen.Open{Page: screen.Detail, Ref: ref})
	case fit:
		return m.open(screen.Open{Page: screen.Fit, Ref: ref})
	case yaml:
		return m.openSeveral(screen.YAML, m.subjects())
	case whatIf, forget, takeAway:
		return m.doSuppose(action)
	case allocate, deallocate, release, taint:
		return m.prepare(Action(action), ref)
	case lab:
		return m.goTo(screen.Go{View: "cel", Ref: ref})
	case filter:
		return m.askFilter()
	case namespace:
		return m.askNamespace()
	case anyNamespace:
		return m.showNamespace(allNamespaces)
	case goName:
		return m.askName()
	case copyIt:
		return m.copyText(m.copied())
	case nextView:
		return m.step(1)
	case prevView:
		return m.step(-1)
	case back:
		return m.back()
	case help:
		m.popup = m.helpPopup()
		return nil
	case suspend:
		return tea.Suspend
	case quit:
		return m.leave()
	}
	return m.switchTo(string(action))
}

// doSuppose carries out an action about what is not so.
func (m *model) doSuppose(action keymap.Action) tea.Cmd {
	switch action {
	case whatIf:
		return m.supposeSubjects()
	case takeAway:
		return m.askTakeAway()
	}
	m.hypotheses = nil
	return m.rebuildWorld()
}

// leave ends the program; while something is being written, only when it is asked for again.
func (m *model) leave() tea.Cmd {
	if m.commit.Running() && !m.leaving {
		m.leaving, m.interrupted = true, false
		return m.say(styled.Warn, "something is being written; leave again to stop it, which takes back what was begun")
	}
	return tea.Quit
}

// step goes to the view after, or before, the current one.
func (m *model) step(by int) tea.Cmd {
	from := m.current
	if from >= numbered { // a list of a kind stands before the first view and behind the last
		from = min(0, -by)
	}
	return m.switchTo(m.views[(from+by+numbered)%numbered].name)
}

// pressOf is the press of a key that a keymap names.
func pressOf(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft}
	case "right":
		return tea.KeyPressMsg{Code: tea.KeyRight}
	}
	r := []rune(name)
	if len(r) != 1 {
		return tea.KeyPressMsg{}
	}
	return tea.KeyPressMsg{Code: r[0], Text: name}
}
