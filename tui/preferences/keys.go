package preferences

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Keyboard is the keys of a screen: those of its own come before those of all screens.
type Keyboard struct {
	Of        string // the screen
	Own, Root screen.Keys
}

// meanings are the names of the actions that each keystroke means, the first of which is what it does.
func (k *Keyboard) meanings(p *Preferences) map[string][]string {
	out := map[string][]string{}
	for _, key := range slices.Concat(p.Pressed(k.Own), p.Pressed(k.Root)) {
		for _, press := range key.Press {
			out[press] = append(out[press], key.Name)
		}
	}
	return out
}

// Names returns the names of the actions that have keys, sorted.
func Names(all []Keyboard) []string {
	names := map[string]bool{}
	for _, k := range all {
		for _, key := range slices.Concat(k.Own, k.Root) {
			names[key.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// checkKeys says which keys there are not, and which would mean two actions that they do not both mean by
// default.
func (p *Preferences) checkKeys(c *checking, all []Keyboard) {
	known := Names(all)
	for _, name := range slices.Sorted(maps.Keys(p.Keys)) {
		c.oneOf("keys."+name, name, known)
		for i, text := range p.Keys[name] {
			switch _, ok := ParseKey(text); {
			case text == "ctrl+c":
				c.add(fmt.Sprintf("keys.%s[%d]", name, i), "ctrl+c always ends the program")
			case !ok:
				c.add(fmt.Sprintf("keys.%s[%d]", name, i), "%q is no key; keys are written e, E, ctrl+e, alt+e, f5, enter, space, tab, up, pgdown and so on", text)
			}
		}
	}
	said := map[string]bool{}
	for _, k := range all {
		before, after := k.meanings(&Preferences{}), k.meanings(p)
		for _, press := range slices.Sorted(maps.Keys(after)) {
			for i, other := range after[press] {
				for _, name := range after[press][:i] {
					if name == other || slices.Contains(before[press], name) && slices.Contains(before[press], other) {
						continue
					}
					changed, with := name, other
					if _, ok := p.Keys[changed]; !ok {
						changed, with = with, changed
					}
					if text := changed + "\x00" + with + "\x00" + press; !said[text] {
						said[text] = true
						c.add("keys."+changed, "%q is the key of %q too, in %s", press, with, k.Of)
					}
				}
			}
		}
	}
}

// keyCodes are the keys that have names.
var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "insert": tea.KeyInsert, "delete": tea.KeyDelete,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// ParseKey is the press of a key as keys and status lines name it. Of ctrl and a letter that terminals send
// for another key there is none.
func ParseKey(name string) (k tea.KeyPressMsg, ok bool) {
	rest := name
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if after, found := strings.CutPrefix(rest, prefix); found && after != "" {
			rest, k.Mod = after, mod
			break
		}
	}
	if k.Code, ok = keyCodes[rest]; ok {
		return k, k.String() == name
	}
	letters := []rune(rest)
	if len(letters) != 1 || letters[0] <= ' ' || styled.Width(rest) != 1 || k.Mod == tea.ModShift ||
		k.Mod == tea.ModCtrl && (letters[0] < 'a' || letters[0] > 'z' || strings.ContainsRune("cim", letters[0])) {
		return tea.KeyPressMsg{}, false
	}
	k.Code = letters[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k, k.String() == name
}
