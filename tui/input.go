package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// input is a line that the user types into.
type input struct {
	prompt widget.Prompt
	// typed is called after every change, done with the text on Enter, left on Esc.
	typed, done func(text string) tea.Cmd
	left        func() tea.Cmd
	// offers are what can be taken instead of the text, the best first; chosen is the one that Enter takes, or none.
	offers []offer
	more   int // how many others there are
	chosen int
	// take takes results of the input's own work. It may be nil.
	take func(tea.Msg) bool
}

// none says that no offer is chosen.
const none = -1

// offer is something that can be taken. Its texts may come from the cluster.
type offer struct {
	text, note string
	take       func() tea.Cmd
}

// mostOffers is how many are listed at most.
const mostOffers = 200

// offer lists what can be taken. What was chosen is given up: it may stand elsewhere now.
func (in *input) offer(all []offer) {
	in.more = max(0, len(all)-mostOffers)
	in.offers, in.chosen = all[:len(all)-in.more], none
}

func nothing(string) tea.Cmd { return nil }

func (m *model) pressInput(k tea.KeyPressMsg) tea.Cmd {
	in := m.input
	switch k.String() {
	case "esc":
		m.input = nil
		if in.left != nil {
			return in.left()
		}
		return nil
	case "enter":
		m.input = nil
		if in.chosen != none {
			return in.offers[in.chosen].take()
		}
		return in.done(in.prompt.Value())
	case "tab", "down", "ctrl+n":
		in.choose(1)
		return nil
	case "shift+tab", "up", "ctrl+p":
		in.choose(-1)
		return nil
	}
	if in.prompt.Press(k) {
		return in.typed(in.prompt.Value())
	}
	return nil
}

// choose goes on to the next offer, or back; before the first is what was typed.
func (in *input) choose(by int) {
	n := len(in.offers) + 1
	in.chosen = (in.chosen+1+by+n)%n - 1
}

// offerLines are the offers around the one that is chosen, in at most height lines.
func (in *input) offerLines(height int) []styled.Line {
	n := min(len(in.offers), height)
	from := max(0, min(in.chosen-n/2, len(in.offers)-n))
	wide := 0
	for _, o := range in.offers[from : from+n] {
		wide = max(wide, styled.Width(inspect.Sanitize(o.text)))
	}
	var lines []styled.Line
	for i, o := range in.offers[from : from+n] {
		mark := "   "
		if from+i == in.chosen {
			mark = " ▸ "
		}
		text := styled.Pad(inspect.Sanitize(o.text), min(wide, widestOffer))
		lines = append(lines, styled.Line{{Text: mark, Role: styled.Accent}, {Text: text, Role: styled.Name}, {Text: "  " + inspect.Sanitize(o.note), Role: styled.Dim}})
	}
	if rest := len(in.offers) - from - n + in.more; rest > 0 && len(lines) > 1 {
		lines[len(lines)-1] = styled.Text(styled.Dim, fmt.Sprintf("   … %d more", rest+1))
	}
	return lines
}

// widestOffer is how many columns the text of an offer may take before its note.
const widestOffer = 60

// askFilter lets the user type a filter, which takes effect at once. Esc brings back the one before. On a page of text it is what to
// look for.
func (m *model) askFilter() tea.Cmd {
	s := m.top()
	if _, ok := s.(screen.Searcher); ok {
		return m.askSearch(s)
	}
	before := s.(screen.Filterer).FilterText()
	hint := "word · column=value · column>number · !word"
	if h, ok := s.(screen.FilterHinter); ok {
		hint = h.FilterHint()
	}
	in := &input{chosen: none, prompt: widget.Prompt{Label: "/", Hint: hint}}
	in.prompt.SetValue(before)
	in.typed = func(text string) tea.Cmd { return m.update(s, screen.Filter{Text: text}) }
	in.done = nothing
	in.left = func() tea.Cmd { return m.update(s, screen.Filter{Text: before}) }
	m.input = in
	return nil
}

// askSearch lets the user type what to look for on a page. Esc ends the search.
func (m *model) askSearch(s screen.Screen) tea.Cmd {
	in := &input{chosen: none, prompt: widget.Prompt{Label: "/", Hint: "text on this page; after ⏎, n and N go on"}}
	in.typed = func(text string) tea.Cmd { return m.update(s, screen.Search{Text: text}) }
	in.done = in.typed
	in.left = func() tea.Cmd { return m.update(s, screen.Search{}) }
	m.input = in
	return m.update(s, screen.Search{})
}

// searchText is what the user looks for on the page that is visible, or "".
func (m *model) searchText() string {
	if s, ok := m.top().(screen.Searcher); ok {
		return s.SearchText()
	}
	return ""
}

// askNamespace lets the user choose a namespace.
func (m *model) askNamespace() tea.Cmd {
	names := append([]string{allNamespaces}, m.header.namespaces...)
	in := &input{prompt: widget.Prompt{Label: "namespace: ", Hint: "↓ chooses"}, chosen: none}
	matching := func(text string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.Contains(n, text) })
	}
	in.typed = func(text string) tea.Cmd {
		var offers []offer
		for _, name := range matching(strings.TrimSpace(text)) {
			offers = append(offers, offer{text: name, take: func() tea.Cmd { return m.showNamespace(name) }})
		}
		in.offer(offers)
		return nil
	}
	in.done = func(text string) tea.Cmd {
		text = strings.TrimSpace(text)
		if fits := matching(text); text != "" && len(fits) == 1 {
			text = fits[0]
		}
		return m.showNamespace(text)
	}
	m.input = in
	return in.typed("")
}

// allNamespaces is how all of them are asked for.
const allNamespaces = "all"

// showNamespace narrows what is shown to a namespace, if there is anything in it.
func (m *model) showNamespace(name string) tea.Cmd {
	if name == allNamespaces || name == "*" {
		name = ""
	}
	if name != "" && m.base != nil && !slices.Contains(m.header.namespaces, name) {
		return m.say(styled.Warn, fmt.Sprintf("there is nothing to show in a namespace %q", name))
	}
	m.setNamespace(name)
	return m.update(m.top(), screen.Changed{})
}
