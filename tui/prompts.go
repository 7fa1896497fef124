package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/places"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// input is a line that the user types into.
type input struct {
	prompt widget.Prompt
	// typed is called after every change, done with the text on Enter, left on Esc.
	typed, done func(text string) tea.Cmd
	left        func() tea.Cmd
	// offers are what can be taken instead of the text, the best first; chosen is the one that Enter takes,
	// or none.
	offers []screen.Offer
	more   int // how many others there are
	chosen int
	// take takes results of the input's own work. It may be nil.
	take func(tea.Msg) bool
}

// none says that no offer is chosen.
const none = -1

// mostOffers is how many are listed at most, and widestOffer how many columns the text of one may take before
// its note.
const mostOffers, widestOffer = 200, 60

// offer lists what can be taken. What was chosen is given up: it may stand elsewhere now.
func (in *input) offer(all []screen.Offer) {
	in.more = max(0, len(all)-mostOffers)
	in.offers, in.chosen = all[:len(all)-in.more], none
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
	wide := widget.Widest(in.offers[from:from+n], func(o screen.Offer) string { return inspect.Sanitize(o.Text) })
	var lines []styled.Line
	for i, o := range in.offers[from : from+n] {
		mark := "   "
		if from+i == in.chosen {
			mark = " ▸ "
		}
		text := styled.Pad(inspect.Sanitize(o.Text), min(wide, widestOffer))
		lines = append(lines, styled.Line{{Text: mark, Role: styled.Accent}, {Text: text, Role: styled.Name}, {Text: "  " + inspect.Sanitize(o.Note), Role: styled.Dim}})
	}
	if rest := len(in.offers) - from - n + in.more; rest > 0 && len(lines) > 1 {
		lines[len(lines)-1] = styled.Text(styled.Dim, fmt.Sprintf("   … %d more", rest+1))
	}
	return lines
}

// prompts are what the user is asked.
type prompts struct {
	*worlds
	find screen.Job[places.Found]
}

func (m *prompts) press(k tea.KeyPressMsg) tea.Cmd {
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
			return in.offers[in.chosen].Take(m.world)
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

// choose lets the user choose one of some offers, which are narrowed by typing: those first that begin with
// what was typed. other takes a text that is none of them. Where there is no other, the first is chosen
// already.
func (m *prompts) choose(label, hint string, all []screen.Offer, other func(text string) tea.Cmd) tea.Cmd {
	in := &input{prompt: widget.Prompt{Label: label, Hint: hint}, chosen: none}
	matching := func(text string) []screen.Offer {
		text = strings.ToLower(strings.TrimSpace(text))
		fits := slices.DeleteFunc(slices.Clone(all), func(o screen.Offer) bool { return !places.HasWords(strings.ToLower(o.Text+" "+o.Note), text) })
		begins := func(o screen.Offer) int { return strings.Index(strings.ToLower(o.Text)+text, text) }
		slices.SortStableFunc(fits, func(a, b screen.Offer) int { return min(begins(a), 1) - min(begins(b), 1) })
		return fits
	}
	in.typed = func(text string) tea.Cmd {
		in.offer(matching(text))
		if other == nil {
			in.chosen = min(0, len(in.offers)-1)
		}
		return nil
	}
	in.done = func(text string) tea.Cmd {
		text = strings.TrimSpace(text)
		switch fits := matching(text); {
		case len(fits) > 0 && (len(fits) == 1 && text != "" || fits[0].Text == text):
			return fits[0].Take(m.world)
		case other != nil:
			return other(text)
		}
		return m.say(styled.Warn, fmt.Sprintf("%q is none of them", text))
	}
	m.input = in
	return in.typed("")
}

// askFilter lets the user type a filter, which takes effect at once. Esc brings back the one before. On a
// page of text it is what to look for; Esc ends the search.
func (m *prompts) askFilter(*screen.World) tea.Cmd {
	to, state := m.top(), m.state()
	in := &input{chosen: none}
	m.input = in
	if state.Searches {
		in.prompt = widget.Prompt{Label: "/", Hint: "text on this page; after ⏎, n and N go on"}
		in.typed = func(text string) tea.Cmd { return m.update(to, screen.Search{Text: text}) }
		in.done = in.typed
		in.left = func() tea.Cmd { return m.update(to, screen.Search{}) }
		return in.left()
	}
	in.prompt = widget.Prompt{Label: "/", Hint: state.FilterHint}
	if state.FilterHint == "" {
		in.prompt.Hint = "word · column=value · column>number · !word"
	}
	in.prompt.SetValue(state.Filter)
	in.typed = func(text string) tea.Cmd { return m.update(to, screen.Filter{Text: text}) }
	in.done = func(string) tea.Cmd { return nil }
	in.left = func() tea.Cmd { return in.typed(state.Filter) }
	return nil
}

// askNamespace lets the user choose a namespace.
func (m *prompts) askNamespace(*screen.World) tea.Cmd {
	var offers []screen.Offer
	for _, name := range append([]string{places.AllNamespaces}, m.tally.Now.Namespaces...) {
		offers = append(offers, screen.Offer{Text: name, Take: func(*screen.World) tea.Cmd { return m.showNamespace(name) }})
	}
	return m.choose("namespace: ", "↓ chooses", offers, m.showNamespace)
}

// showNamespace narrows what is shown to a namespace, if there is anything in it.
func (m *prompts) showNamespace(name string) tea.Cmd {
	if name == places.AllNamespaces || name == "*" {
		name = ""
	}
	if name != "" && m.base != nil && !slices.Contains(m.tally.Now.Namespaces, name) {
		return m.say(styled.Warn, fmt.Sprintf("there is nothing to show in a namespace %q", name))
	}
	m.setNamespace(name)
	return m.update(m.top(), screen.Changed{})
}

// askRemoval opens the page about what would be without objects. If there are several, the user chooses one.
func (m *prompts) askRemoval(w *screen.World) tea.Cmd {
	refs := m.subjects()
	all := m.removalsOf(refs)
	if len(all) == 1 {
		return all[0].Take(w)
	}
	about := page{refs: refs}
	return m.choose("what if: ", inspect.Sanitize(about.name())+"; ↓ chooses, nothing is written", all, nil)
}

// goFound goes to the best place that was found.
func (m *prompts) goFound(f places.Found) tea.Cmd {
	if len(f.Hits) > 0 {
		return m.goPlace(f.Hits[0])
	}
	text := fmt.Sprintf("no such name: %q", f.Text)
	for i, p := range f.Like {
		text += []string{"; did you mean ", " or "}[min(i, 1)] + p.Text
	}
	if len(f.Like) > 0 {
		text += "?"
	}
	return m.say(styled.Warn, text)
}

// goPlace goes to a place: an object that has no view of its own is shown in detail.
func (m *prompts) goPlace(p places.Place) tea.Cmd {
	switch {
	case p.Quit:
		return screen.Send(quit{})
	case p.Context != "":
		return m.switchTo(p.Context)
	case p.Choose:
		return m.choose(places.ContextWord+": ", "↓ chooses", m.placeOffers(m.index().Others()), nil)
	case p.Page != "":
		return m.open(p.Page, only(p.Ref))
	case p.Ref.Kind == screen.Namespace:
		return m.showNamespace(p.Ref.Name)
	case p.View == "":
		return m.open(screen.Detail, only(p.Ref))
	}
	if p.Namespace != "" {
		if cmd := m.showNamespace(p.Namespace); m.remark.Text != "" {
			return cmd
		}
	}
	m.enter(p.Ref.Namespace)
	return m.goTo(screen.Go{View: p.View, Ref: p.Ref})
}

// switchTo leaves for another context.
func (m *prompts) switchTo(name string) tea.Cmd {
	if name == m.options.Context {
		return m.say(styled.Dim, fmt.Sprintf("context %q is shown already", name))
	}
	if err := m.options.CheckContext(name); err != nil {
		return m.say(styled.Bad, fmt.Sprintf("context %q cannot be used: %v", name, err))
	}
	return screen.Send(quit{next: name})
}

// quit asks the root to leave, for the context next if there is one.
type quit struct{ next string }

// askName lets the user go anywhere by name.
func (m *prompts) askName(world *screen.World) tea.Cmd {
	index := m.index()
	known := sync.OnceValue(func() []places.Place { return index.In(world) })
	in := &input{chosen: none, prompt: widget.Prompt{Label: ":", Hint: "a view, a kind, or the name of anything; ↓ chooses"}}
	var job screen.Job[places.Found]
	in.typed = func(text string) tea.Cmd {
		if strings.TrimSpace(text) == "" {
			job.Stop()
			in.offer(m.placeOffers(index.Commands()))
			return nil
		}
		return job.Start(m.world, func(context.Context) (places.Found, error) { return index.Find(known(), text), nil })
	}
	in.take = func(msg tea.Msg) bool {
		result, ok := job.Take(msg)
		if ok {
			in.offer(m.placeOffers(append(result.Value.Hits, result.Value.Like...)))
			switch f := result.Value; {
			case len(f.Hits) > 0:
				in.prompt.Hint = ""
			case len(f.Like) > 0:
				in.prompt.Hint = "no such name; ↓ takes the closest spelling"
			default:
				in.prompt.Hint = "no such name"
			}
		}
		return ok
	}
	in.done = func(text string) tea.Cmd {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return m.find.Start(m.world, func(context.Context) (places.Found, error) { return index.Find(known(), text), nil })
	}
	m.input = in
	return in.typed("")
}

// index is where one can go.
func (m *prompts) index() *places.Index {
	x := &places.Index{World: m.world, Contexts: m.options.Contexts, Context: m.options.Context, Plans: map[screen.Page][]screen.Kind{}}
	for i, v := range viewTable {
		switch {
		case i < m.tabbed():
			x.Views = append(x.Views, places.View{Name: v.name, Key: viewKey(i)})
		case i != numbered:
			x.Views = append(x.Views, places.View{Name: v.name})
		}
	}
	for _, r := range removals {
		x.Plans[r.page] = pageTable[r.page].kinds
	}
	return x
}

// placeOffers are places to choose from.
func (m *prompts) placeOffers(all []places.Place) []screen.Offer {
	return words.Each(all, func(p places.Place) screen.Offer {
		return screen.Offer{Text: p.Text, Note: p.Note, Take: func(*screen.World) tea.Cmd { return m.goPlace(p) }}
	})
}
