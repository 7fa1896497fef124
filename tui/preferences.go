package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Preferences are what a user wants to be otherwise than it is by default. The zero value changes nothing.
type Preferences struct {
	// View is the view that is shown first, unless the command names one.
	View string `json:"view,omitempty"`
	// Views say what views show, by the names of the views.
	Views map[string]ViewPreferences `json:"views,omitempty"`
	// Theme says how things look.
	Theme ThemePreferences `json:"theme,omitzero"`
	// Owners are the colours that namespaces, and workloads as namespace/name, have on the map of nodes:
	// names of the colours that the theme has.
	Owners map[string]string `json:"owners,omitempty"`
	// Keys are the keys of actions, instead of those that they have by default, by the names of the actions.
	// An action with an empty list has no key.
	Keys map[string][]string `json:"keys,omitempty"`
}

// ViewPreferences say what a view shows.
type ViewPreferences struct {
	// Columns are the columns of the table, in their order, by their titles in small letters. Others are not
	// shown. If there are none, the table is as usual.
	Columns []string `json:"columns,omitempty"`
}

// ThemePreferences say how things look.
type ThemePreferences struct {
	// Background is that of the terminal, dark or light. If it is empty, the terminal is asked.
	Background string `json:"background,omitempty"`
	// Colors are the colours that text has, by what it is: #rrggbb, or the number of one of the 256 colours
	// of a terminal.
	Colors map[string]string `json:"colors,omitempty"`
}

const dark, light = "dark", "light"

// Backgrounds are what a terminal can have.
func Backgrounds() []string { return []string{dark, light} }

// Check returns what is wrong, with the field that it is about, in a defined order.
func (p *Preferences) Check() []error {
	c := &checking{}
	if p.View != "" {
		c.oneOf("view", p.View, Views())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Views)) {
		if path := "views." + name; c.oneOf(path, name, ViewsWithColumns()) {
			c.columns(path+".columns", p.Views[name].Columns, ColumnsOf(name))
		}
	}
	if p.Theme.Background != "" {
		c.oneOf("theme.background", p.Theme.Background, Backgrounds())
	}
	for _, name := range slices.Sorted(maps.Keys(p.Theme.Colors)) {
		path, text := "theme.colors."+name, p.Theme.Colors[name]
		if _, ok := theme.ParseColor(text); c.oneOf(path, name, theme.RoleNames()) && !ok {
			c.add(path, "%q is no colour: they are written #rrggbb, or as a number from 0 to 255 in quotes", text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Owners)) {
		c.oneOf("owners."+name, p.Owners[name], theme.RoleNames())
	}
	p.checkKeys(c)
	return c.found
}

// checking gathers what is wrong.
type checking struct{ found []error }

func (c *checking) add(path, format string, args ...any) {
	c.found = append(c.found, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))) //nolint:err113 // they are told, and nothing else
}

// oneOf reports whether a name is one of those that there are, and says so if not.
func (c *checking) oneOf(path, name string, all []string) bool {
	if slices.Contains(all, name) {
		return true
	}
	hint := ""
	if near := spell.Nearest(name, all); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q? ", near[0])
	}
	c.add(path, "there is no %q; %sthere are %s", name, hint, strings.Join(all, ", "))
	return false
}

func (c *checking) columns(path string, names, all []string) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.oneOf(at, name, all) && slices.Index(names, name) < i {
			c.add(at, "%q is there twice", name)
		}
	}
}

// columned is a screen with a table whose columns can be chosen.
type columned interface {
	ShowColumns(names []string)
	ColumnNames() []string
}

// ColumnsOf returns the names of the columns of a view, in their order. There are none if it has no table.
func ColumnsOf(view string) []string {
	for _, v := range viewTable {
		if v.name != view {
			continue
		}
		if table, ok := v.make(&Options{Clock: time.Now}).(columned); ok {
			return table.ColumnNames()
		}
	}
	return nil
}

// ViewsWithColumns returns the names of the views that have a table.
func ViewsWithColumns() []string {
	return slices.DeleteFunc(Views(), func(view string) bool { return len(ColumnsOf(view)) == 0 })
}

// palette are the colours that are wanted.
func (p *Preferences) palette() theme.Palette {
	out := theme.Palette{}
	for name, text := range p.Theme.Colors {
		role, known := theme.RoleNamed(name)
		if c, ok := theme.ParseColor(text); ok && known {
			out[role] = c
		}
	}
	return out
}

// owners are the roles that owners are to have.
func (p *Preferences) owners() map[string]styled.Role {
	out := map[string]styled.Role{}
	for name, color := range p.Owners {
		if role, ok := theme.RoleNamed(color); ok {
			out[name] = role
		}
	}
	return out
}

// pressed are keys with those keystrokes that are wanted.
func (p *Preferences) pressed(keys screen.Keys) screen.Keys {
	if len(p.Keys) == 0 {
		return keys
	}
	out := make(screen.Keys, 0, len(keys))
	for _, k := range keys {
		if own, ok := p.Keys[k.Name]; ok {
			k.Press, k.Show = own, ""
			k.Help, _, _ = strings.Cut(k.Help, " (also ")
			if len(own) == 0 {
				continue
			}
		}
		out = append(out, k)
	}
	return out
}

// keyboard is the keys of a screen: those of its own come before those of all screens.
type keyboard struct {
	of        string
	own, root screen.Keys
}

// keyboards are the keys of all screens, as they are by default.
func keyboards() []keyboard {
	m := newModel(context.Background(), Options{Source: Static(nil), Clock: time.Now, Writer: unwritten{}})
	root := append((&timeline{worlds: m.worlds}).list("", ""), m.keys()...)
	var all []keyboard
	for _, v := range viewTable {
		all = append(all, keyboard{v.name, v.make(&m.options).State().Keys, root})
	}
	for _, name := range slices.Sorted(maps.Keys(pageTable)) {
		entry := pageTable[name]
		made := entry.make(screen.Ref{Kind: entry.kinds[0], Name: "-"})
		m.update(made, screen.Shown{})
		m.update(made, screen.Search{Text: "-"}) // with which there are keys to go on
		all = append(all, keyboard{string(name), made.State().Keys, root})
	}
	return all
}

// unwritten is a Player that does nothing: with one there are all keys that write.
type unwritten struct{}

func (unwritten) Plan(context.Context, Action, screen.Ref) (Plan, error) {
	return nil, context.Canceled
}
func (unwritten) Refuses(Action, screen.Ref) string { return "" }

// meanings are the names of the actions that each keystroke means, the first of which is what it does.
func (k *keyboard) meanings(p *Preferences) map[string][]string {
	out := map[string][]string{}
	for _, key := range slices.Concat(p.pressed(k.own), p.pressed(k.root)) {
		for _, press := range key.Press {
			out[press] = append(out[press], key.Name)
		}
	}
	return out
}

// KeyNames returns the names of the actions that have keys, sorted.
func KeyNames() []string {
	names := map[string]bool{}
	for _, k := range keyboards() {
		for _, key := range slices.Concat(k.own, k.root) {
			names[key.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// checkKeys says which keys there are not, and which would mean two actions that they do not both mean by
// default.
func (p *Preferences) checkKeys(c *checking) {
	if len(p.Keys) == 0 {
		return
	}
	known := KeyNames()
	for _, name := range slices.Sorted(maps.Keys(p.Keys)) {
		c.oneOf("keys."+name, name, known)
		for i, text := range p.Keys[name] {
			switch _, ok := parseKey(text); {
			case text == "ctrl+c":
				c.add(fmt.Sprintf("keys.%s[%d]", name, i), "ctrl+c always ends the program")
			case !ok:
				c.add(fmt.Sprintf("keys.%s[%d]", name, i), "%q is no key; keys are written e, E, ctrl+e, alt+e, f5, enter, space, tab, up, pgdown and so on", text)
			}
		}
	}
	said := map[string]bool{}
	for _, k := range keyboards() {
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
						c.add("keys."+changed, "%q is the key of %q too, in %s", press, with, k.of)
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

// parseKey is the press of a key as keys and status lines name it. Of ctrl and a letter that terminals send
// for another key there is none.
func parseKey(name string) (k tea.KeyPressMsg, ok bool) {
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
