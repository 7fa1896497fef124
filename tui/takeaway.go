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

// removals are the pages about what would be, in the order in which they are offered.
var removals = []struct {
	page screen.Page
	note string
}{
	{screen.Drain, "as kubectl drain does: cordon it, and evict its pods"},
	{screen.Lose, "it breaks down, from one moment to the next"},
	{screen.Taint, "NoExecute, which evicts the pods that use it"},
	{screen.Delete, "all that is in it ends, and is not started again"},
	{screen.MakeRoom, "the fewest pods that have to move so that it fits"},
	{screen.Evict, "its controller makes another one, which goes where there is room"},
}

// removalsOf are those that there are of objects, but for the one that is shown.
func (m *model) removalsOf(refs []screen.Ref) (out []offer) {
	for _, r := range removals {
		if m.pageOff(r.page, refs) == "" {
			out = append(out, offer{text: string(r.page), note: r.note, take: func() tea.Cmd { return m.openSeveral(r.page, refs) }})
		}
	}
	return out
}

// takeAwayOff says why it cannot be asked what would be without objects, or "".
func (m *model) takeAwayOff(refs []screen.Ref) string {
	if len(m.removalsOf(refs)) > 0 {
		return ""
	}
	if refs[0].Kind == screen.None {
		return "nothing is selected"
	}
	why := fmt.Sprintf("there is nothing to plan with a %s; there is with nodes, devices, pools, namespaces, pods and claims", refs[0].Kind)
	for _, r := range removals {
		if off := m.pageOff(r.page, refs); slices.Contains(pageTable[r.page].kinds, refs[0].Kind) {
			why = off
		}
	}
	return why
}

// askTakeAway opens the page about what would be without objects. If there are several, the user chooses one.
func (m *model) askTakeAway() tea.Cmd {
	refs := m.subjects()
	all := m.removalsOf(refs)
	if len(all) == 1 {
		return all[0].take()
	}
	about := page{refs: refs}
	in := &input{prompt: widget.Prompt{Label: "what if: ", Hint: inspect.Sanitize(about.name()) + "; ↓ chooses, nothing is written"}}
	matching := func(text string) []offer {
		text = strings.ToLower(strings.TrimSpace(text))
		return slices.DeleteFunc(slices.Clone(all), func(o offer) bool { return !strings.HasPrefix(o.text, text) })
	}
	in.typed = func(text string) tea.Cmd {
		in.offer(matching(text))
		in.chosen = min(0, len(in.offers)-1)
		return nil
	}
	in.done = func(text string) tea.Cmd {
		if fits := matching(text); len(fits) > 0 {
			return fits[0].take()
		}
		return m.say(styled.Warn, fmt.Sprintf("%q is nothing that can be asked of it", strings.TrimSpace(text)))
	}
	m.input = in
	return in.typed("")
}

// plans reports whether the page that is shown is about what would be if objects were taken away.
func (m *model) plans() bool {
	n := len(m.pages)
	return n > 0 && disruptive(m.pages[n-1].kind)
}

// disruptive reports whether a page is one of them.
func disruptive(p screen.Page) bool {
	for _, r := range removals {
		if r.page == p {
			return true
		}
	}
	return false
}

// planned are the pages about what would be that a text names, in the words of kubectl dra plan: drain NODE, plan lose device NAME.
func planned(all []place, text string) (out []place) {
	words := strings.Fields(text)
	if len(words) > 0 && words[0] == "plan" {
		words = words[1:]
	}
	if len(words) < 2 || !disruptive(screen.Page(words[0])) {
		return nil
	}
	page := screen.Page(words[0])
	wanted := asPlace(strings.Join(words[1:], " "))
	misses := func(text string) bool {
		return slices.ContainsFunc(strings.Fields(wanted), func(word string) bool { return !strings.Contains(text, word) })
	}
	for _, p := range all {
		if p.ref.Name != allNamespaces && slices.Contains(pageTable[page].kinds, p.ref.Kind) && !misses(p.text) {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return closeness(b, wanted) - closeness(a, wanted) })
	for i, p := range out {
		out[i] = place{text: string(page) + " " + p.text, note: "what would be; nothing is written", ref: p.ref, page: page}
	}
	return out
}
