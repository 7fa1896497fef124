package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// ahead presses keys before any work is done that follows from them, and then does it.
func (d *driver) ahead(keys ...string) {
	d.Helper()
	var cmds []tea.Cmd
	for _, key := range keys {
		if k, ok := namedKeys[key]; ok {
			_, cmd := d.m.Update(tea.KeyPressMsg(k))
			cmds = append(cmds, cmd)
			continue
		}
		for _, r := range key {
			_, cmd := d.m.Update(tea.KeyPressMsg{Text: string(r), Code: r})
			cmds = append(cmds, cmd)
		}
	}
	for _, cmd := range cmds {
		settle(d.m, cmd)
	}
}

// A key that follows a filter or a name is about what that leads to, however fast it is pressed.
func TestKeysTypedAheadAreAboutWhatIsToCome(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want string
	}{
		"a filter":         {[]string{"/", "train-0", "enter", "e"}, "── explain ml/train-0 ─"},
		"a name":           {[]string{":", "pretrain-1", "enter", "y"}, "── yaml ml/pretrain-1 ─"},
		"another view":     {[]string{":", "node gpu-a-04", "enter", "enter"}, "── detail gpu-a-04 ─"},
		"a page":           {[]string{":", "chat-7b-gpu", "enter", "f"}, "── detail infer/chat-7b-gpu › fit infer/chat-7b-gpu ─"},
		"a view":           {[]string{"3", "j", "y"}, "── yaml cpu-02 ─"},
		"an order":         {[]string{"/", "ml", "enter", "S", "y"}, "── yaml ml/pretrain-0 ─"},
		"a namespace":      {[]string{"n", "net", "enter", "y"}, "── yaml net/cdn-egress-2 ─"},
		"two filters":      {[]string{"/", "net", "enter", "/", "-0", "enter", "y"}, "none of 44 claims"},
		"given up":         {[]string{":", "pretrain-1", "enter", "y", "esc", "y"}, "── yaml dev/transcode-8k ─"},
		"the lab":          {[]string{"/", "sweep-2", "enter", "c", "b"}, "try on the devices of: "},
		"text for the lab": {[]string{"6", "i", "true"}, "127 of 127 match"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := drive(t, 80, 24, "")
			d.ahead(test.keys...)
			d.shows(test.want)
			if len(d.m.typeahead) > 0 {
				t.Errorf("%d keys are still held", len(d.m.typeahead))
			}
		})
	}
}

// A survey of the claims that is cut short is not taken for a whole one.
func TestReasonsAreThereAfterAnInterruption(t *testing.T) {
	d := drive(t, 80, 24, "nodes")
	d.ahead("1", "2")
	d.press("1")
	d.shows("dev        transcode-8k    ✗ stuck")
}

// Ways to other places do not wait for rows that nobody will look at.
func TestWaysToOtherViewsDoNotWait(t *testing.T) {
	d := drive(t, 80, 24, "")
	for _, key := range "2345" {
		d.m.Update(tea.KeyPressMsg{Text: string(key), Code: key})
	}
	d.shows("[5 Storage]")
}
