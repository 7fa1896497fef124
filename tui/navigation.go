package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// navigation is where the user is: a view, and the pages that lie above it.
type navigation struct {
	*shell
	views   []view
	current int
	pages   []page // the last one on top
	// trail are the places that were left by going somewhere by name, the last one at the end.
	trail []spot
}

// spot is a place that was left: a view, the pages above it, and what the cursor was at.
type spot struct {
	view  int
	pages []page
	ref   screen.Ref
}

// longestTrail is how many places are remembered.
const longestTrail = 50

// openView makes the screen of the current view if there is none yet.
func (n *navigation) openView() {
	if v := &n.views[n.current]; v.screen == nil {
		v.screen = v.make(&n.options)
		if table, ok := v.screen.(columned); ok {
			table.ShowColumns(n.options.Preferences.Views[v.name].Columns)
		}
	}
}

// top is the screen that is visible.
func (n *navigation) top() screen.Screen {
	if at := len(n.pages); at > 0 {
		return n.pages[at-1].screen
	}
	return n.views[n.current].screen
}

// state is that of the screen that is visible.
func (n *navigation) state() screen.State { return n.top().State() }

// subjects are what questions about several objects are about: those that are marked, or else the one at the
// cursor.
func (n *navigation) subjects() []screen.Ref {
	s := n.state()
	if len(s.Marked) > 0 {
		return s.Marked
	}
	return only(s.Selection)
}

func only(ref screen.Ref) []screen.Ref { return []screen.Ref{ref} }

// isView reports whether there is a view with a name.
func (n *navigation) isView(name string) bool {
	return slices.ContainsFunc(n.views, func(v view) bool { return v.name == name })
}

// planning reports whether the page that is shown is about what would be if objects were taken away.
func (n *navigation) planning() bool {
	at := len(n.pages)
	return at > 0 && disruptive(n.pages[at-1].kind)
}

// broadcast offers a message to every screen: it is a result of one of them.
func (n *navigation) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, v := range n.views {
		if v.screen != nil {
			cmds = append(cmds, n.update(v.screen, msg))
		}
	}
	for _, p := range n.pages {
		cmds = append(cmds, n.update(p.screen, msg))
	}
	return tea.Batch(cmds...)
}

// show makes another screen visible by what change does.
func (n *navigation) show(change func()) tea.Cmd {
	hidden := n.update(n.top(), screen.Hidden{})
	change()
	return tea.Batch(hidden, n.update(n.top(), screen.Shown{}))
}

// goTo shows a view, and points at an object in it. Esc comes back to the place that is left.
func (n *navigation) goTo(msg screen.Go) tea.Cmd {
	at := slices.IndexFunc(n.views, func(v view) bool { return v.name == msg.View })
	if at < 0 {
		return nil
	}
	if here := (spot{view: n.current, pages: n.pages}); at != n.current || len(n.pages) > 0 {
		if len(n.pages) == 0 {
			here.ref = n.state().Selection
		}
		n.trail = append(n.trail, here)
		n.trail = n.trail[max(0, len(n.trail)-longestTrail):]
	}
	cmd := n.show(func() {
		n.pages = nil
		n.current = at
		n.openView()
	})
	if msg.Ref.Kind != screen.None && n.state().Filter != "" { // it might hide the object
		cmd = tea.Batch(cmd, n.update(n.top(), screen.Filter{}))
	}
	return tea.Batch(cmd, n.pointAt(msg.Ref))
}

// pointAt points at an object, if it is one, on the screen that is visible.
func (n *navigation) pointAt(ref screen.Ref) tea.Cmd {
	if ref.Kind == screen.None {
		return nil
	}
	return n.update(n.top(), screen.Selected{Ref: ref})
}

// goBack returns to the place that was left last.
func (n *navigation) goBack() tea.Cmd {
	at := len(n.trail) - 1
	if at < 0 {
		return nil
	}
	last := n.trail[at]
	n.trail = n.trail[:at]
	cmd := n.show(func() {
		n.current, n.pages = last.view, last.pages
		n.openView()
	})
	return tea.Batch(cmd, n.pointAt(last.ref))
}

// switchTo shows a view as its number, or a click on its title, does: a new beginning, from which nothing
// leads back.
func (n *navigation) switchTo(view string) tea.Cmd {
	cmd := n.goTo(screen.Go{View: view})
	n.trail = nil
	return cmd
}

// step goes to the view after, or before, the current one.
func (n *navigation) step(by int) tea.Cmd {
	from, all := n.current, n.tabbed()
	if from >= all { // a list of a kind stands before the first view and behind the last
		from = min(0, -by)
	}
	return n.switchTo(n.views[(from+by+all)%all].name)
}

// open shows a page about one or more objects. If it is open already, those above it are closed: who goes to
// and fro between two pages does not have to go all the way back.
func (n *navigation) open(kind screen.Page, refs []screen.Ref) tea.Cmd {
	kind = instead(kind, refs)
	entry := pageTable[kind]
	if why := entry.refuses(refs); why != "" {
		return n.say(styled.Warn, why)
	}
	if at := slices.IndexFunc(n.pages, func(p page) bool { return p.kind == kind && slices.Equal(p.refs, refs) }); at >= 0 {
		return n.show(func() { n.pages = n.pages[:at+1] })
	}
	made := page{kind: kind, refs: refs}
	if len(refs) == 1 {
		made.screen = entry.make(refs[0])
	} else {
		made.screen = entry.several(refs)
	}
	return n.push(made)
}

func (n *navigation) push(p page) tea.Cmd { return n.show(func() { n.pages = append(n.pages, p) }) }

// instead is the page that stands for another one about objects: what has no details is explained.
func instead(p screen.Page, refs []screen.Ref) screen.Page {
	if p == screen.Detail && pageTable[p].refuses(refs) != "" && pageTable[screen.Explain].refuses(refs) == "" {
		return screen.Explain
	}
	return p
}

// pageOff says why there is no such page about objects here, or "".
func (n *navigation) pageOff(p screen.Page, refs []screen.Ref) string {
	p = instead(p, refs)
	if at := len(n.pages); at > 0 && n.pages[at-1].kind == p && slices.Equal(n.pages[at-1].refs, refs) {
		return "this is it"
	}
	return pageTable[p].refuses(refs)
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

// kindList is kinds as "Pod, Node or Device", without those of Kueue, which few clusters have.
func kindList(kinds []screen.Kind) string {
	var names []string
	for _, k := range kinds {
		if k != screen.ClusterQueue && k != screen.QueuedWorkload {
			names = append(names, string(k))
		}
	}
	return words.Or(names)
}

// back ends the search, or closes the page on top; without one it takes marks away, then the filter, and then
// it goes back to where the user came from.
func (n *navigation) back() tea.Cmd {
	at, s := len(n.pages), n.state()
	switch {
	case s.Search != "":
		return n.update(n.top(), screen.Search{})
	case at > 0 && len(s.Marked) == 0:
		return n.show(func() { n.pages = n.pages[:at-1] })
	case len(s.Marked) > 0:
		s.Unmark()
		return nil
	case s.Filter != "":
		return n.update(n.top(), screen.Filter{})
	}
	return n.goBack()
}
