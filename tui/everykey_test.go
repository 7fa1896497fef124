package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// presser presses keys somewhere and comes back.
type presser struct {
	*driver
	view    string
	page    screen.Page
	ref     screen.Ref
	pressed map[string]bool
}

// home is where a key is pressed: at an object of a view, or on a page about it.
func (p *presser) home() {
	m := p.m
	for range 3 {
		if m.state().Typing {
			p.press("esc")
		}
	}
	m.popup, m.input, m.remark, m.pages, m.trail = nil, nil, screen.Say{}, nil, nil
	if len(m.hypotheses) > 0 {
		m.hypotheses = nil
		settle(m, m.rebuildWorld())
	}
	if m.world.Namespace != "" {
		m.setNamespace("")
	}
	p.send(screen.Go{View: p.view, Ref: p.ref})
	m.trail = nil
	if unmark := m.state().Unmark; unmark != nil {
		unmark()
	}
	if p.page != "" {
		p.send(screen.Open{Page: p.page, Ref: p.ref})
	}
}

// still are the actions that may change nothing, because there is nothing further on or because it is so
// already.
var still = []string{
	"up", "down", "page up", "page down", "half a page up", "half a page down", "first", "last", "left", "right", "next device", "previous device", "next page", "previous page", "device before",
	"next branch", "previous branch",
}

// try presses a key and fails if it neither does anything nor says why not.
func (p *presser) try(k screen.Key, press string) {
	p.home()
	before := p.frame()
	p.press(press)
	p.pass()
	after := p.frame()
	if p.m.remark.Text != "" || slices.Contains(still, k.Name) || before != after {
		return
	}
	p.Errorf("%s on %s %s %s: %s does nothing and does not say why", p.view, p.page, p.ref.Kind, p.ref, press)
}

// kind is the same for places of which one is enough: those that show the same page, or rows of the same
// kind.
func (p *presser) kind() string {
	switch {
	case p.page != "":
		return string(p.page)
	case p.ref.Kind != screen.None:
		return "rows " + string(p.ref.Kind)
	}
	return "view " + p.view
}

// once reports whether a key has still to be pressed here: in the full run each is pressed at each place,
// otherwise once where it works and once where it does not.
func (p *presser) once(k screen.Key, press string, root bool) bool {
	kind := fmt.Sprint(root, k.Name, press, k.Off == "")
	if testwork.Full() {
		return true
	}
	before := p.pressed[kind]
	p.pressed[kind] = true
	return !before
}

// tryAll presses all keys that are told of, and some others.
func (p *presser) tryAll() {
	p.home()
	root := p.m.keys()
	for i, k := range slices.Concat(root, p.m.state().Keys) {
		for _, press := range k.Press {
			if name, ok := strings.CutPrefix(press, "ctrl+"); ok && name == "z" || press == "q" || press == p.ownNumber() {
				continue
			}
			if p.once(k, press, i < len(root)) {
				p.try(k, press)
			}
		}
	}
	p.home()
	for _, press := range []string{"x", "B", "0", "@", "é", "装", "ctrl+q"} {
		if _, ok := slices.Concat(p.m.state().Keys, p.m.keys()).Find(press); !ok && p.once(screen.Key{}, press, true) {
			p.try(screen.Key{}, press)
		}
	}
}

// ownNumber is the key of the view that is shown: it leads to where one is.
func (p *presser) ownNumber() string {
	return fmt.Sprint(1 + slices.IndexFunc(p.m.views, func(v view) bool { return v.name == p.view }))
}

// TestEveryKeyEverywhere presses every key in every view and on every page about objects of every kind:
// something happens, or it is said why not.
func TestEveryKeyEverywhere(t *testing.T) {
	places, d, pressed := everywhere(t), anywhere(t), map[string]bool{}
	seen := map[string]bool{}
	for _, at := range places {
		if kind := at.kind(); seen[kind] {
			continue
		} else if !testwork.Full() {
			seen[kind] = true
		}
		t.Run(strings.ReplaceAll(fmt.Sprint(at.view, " ", at.page, " ", at.ref.Kind, " ", at.ref), "/", "_"), func(t *testing.T) {
			p := at
			p.driver, p.pressed = &driver{T: t, m: d.m}, pressed
			p.tryAll()
		})
	}
	t.Logf("%d keys were pressed in %d places", len(pressed), len(places))
}

func anywhere(t *testing.T) *driver {
	t.Helper()
	return start(t, Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", Cluster: "demo", Profile: colorprofile.NoTTY,
		Clock: demo.Now, Writer: dry{}, Levels: demoLoad(t),
	}, 100, 30)
}

// everywhere lists views with some of their rows, and pages about objects of every kind.
func everywhere(t *testing.T) []presser {
	t.Helper()
	d := anywhere(t)
	var places []presser
	kinds := map[screen.Kind]bool{}
	for _, v := range Views() {
		d.send(screen.Go{View: v})
		d.frame()
		var refs []screen.Ref
		if s := d.m.state(); s.Unmark != nil {
			d.press("*")
			refs = slices.Clone(d.m.state().Marked)
			s.Unmark()
		}
		places = append(places, presser{view: v})
		for i, ref := range refs {
			if first := !kinds[ref.Kind]; !first && i > 0 && i != len(refs)/2 && i != len(refs)-1 {
				continue
			}
			kinds[ref.Kind] = true
			places = append(places, presser{view: v, ref: ref})
			for _, page := range []screen.Page{screen.Detail, screen.Explain, screen.YAML, screen.Fit, screen.Drain, screen.Lose, screen.Taint, screen.Delete} {
				if pageTable[page].refuses(only(ref)) == "" {
					places = append(places, presser{view: v, page: page, ref: ref})
				}
			}
		}
	}
	for _, kind := range []screen.Kind{screen.Claim, screen.Pod, screen.Node, screen.Device, screen.Pool, screen.Class, screen.Template, screen.TaintRule, screen.Driver, screen.Namespace, screen.PriorityLevel, screen.StorageCapacity} {
		if !kinds[kind] {
			t.Errorf("no view shows a %s", kind)
		}
	}
	return places
}

// TestEveryLinkLeadsSomewhere follows the links of pages, and those of the pages they lead to, and finds no
// page that is missing.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	d := anywhere(t)
	seen := map[screen.Ref]bool{}
	var queue []screen.Ref
	for _, at := range everywhere(t) {
		if at.page == screen.Detail {
			queue = append(queue, at.ref)
		}
	}
	kinds, followed := map[screen.Kind]map[screen.Kind]bool{}, map[screen.Kind]int{}
	for len(queue) > 0 && len(seen) < 400 {
		ref := queue[0]
		queue = queue[1:]
		if seen[ref] || followed[ref.Kind] >= testwork.InFull(400, 12) {
			continue
		}
		seen[ref] = true
		followed[ref.Kind]++
		d.m.pages, d.m.trail = nil, nil
		d.send(screen.Open{Page: screen.Detail, Ref: ref})
		frame := d.frame()
		if strings.Contains(frame, "is gone") || strings.Contains(frame, "publishes nothing") || d.m.remark.Text != "" {
			t.Errorf("%s %s leads nowhere: %s", ref.Kind, ref, d.m.remark.Text)
		}
		for range 60 {
			d.press("down")
			if next := d.m.state().Selection; next != ref {
				if kinds[ref.Kind] == nil {
					kinds[ref.Kind] = map[screen.Kind]bool{}
				}
				kinds[ref.Kind][next.Kind] = true
				queue = append(queue, next)
			}
		}
	}
	for from, to := range map[screen.Kind][]screen.Kind{
		screen.Pod: {screen.Claim, screen.Node, screen.Device, screen.Namespace, screen.Template}, screen.Claim: {screen.Pod, screen.Device, screen.Node, screen.Class, screen.Namespace, screen.Template},
		screen.Device: {screen.Claim, screen.Pod, screen.Node, screen.Pool, screen.Driver, screen.TaintRule}, screen.Node: {screen.Claim, screen.Device, screen.Driver},
		screen.Class: {screen.Claim, screen.Template}, screen.TaintRule: {screen.Device, screen.Claim, screen.Pod}, screen.Pool: {screen.Device, screen.Driver, screen.Node},
		screen.Driver: {screen.Pool}, screen.Namespace: {screen.Claim, screen.Pod}, screen.Template: {screen.Pod, screen.Claim, screen.Class},
	} {
		for _, kind := range to {
			if !kinds[from][kind] {
				t.Errorf("no page about a %s leads to a %s", from, kind)
			}
		}
	}
}
