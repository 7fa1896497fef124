package tui

import (
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// What can be done only to a cluster that is played.
const (
	release keymap.Action = "release"
	taint   keymap.Action = "taint"
)

// playKeys are the keys for it. There are none for other clusters.
func (m *model) playKeys(ref screen.Ref) keymap.Map {
	p, ok := m.options.Writer.(Player)
	if !ok {
		return nil
	}
	off := func(action Action) string {
		switch why := m.writeOff(action, screen.Ref{Kind: screen.Claim}); {
		case why != "":
			return why
		case ref.Kind == screen.None:
			return "nothing is selected"
		case action == Release && ref.Kind == screen.Claim && m.base != nil && holdsNothing(m.base, ref) != "":
			return holdsNothing(m.base, ref)
		}
		return p.Refuses(action, ref)
	}
	return keymap.Map{
		{Action: release, Press: []string{"R"}, Short: "release", Help: "demo: let the pods of a claim end, so that it gives its devices back", Off: off(Release)},
		{Action: taint, Press: []string{"T"}, Short: "taint", Help: "demo: put a DeviceTaintRule on a device, or take it away again", Off: off(Taint)},
	}
}
