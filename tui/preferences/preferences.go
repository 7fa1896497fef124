package preferences

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// The backgrounds that a terminal can have.
const (
	Dark  = "dark"
	Light = "light"
)

// Backgrounds are what a terminal can have.
func Backgrounds() []string { return []string{Dark, Light} }

// Known is what there is that preferences can be about.
type Known struct {
	Views []string
	// Columns are those of the views that have a table.
	Columns map[string][]string
	// Keyboards make the keys of all screens, as they are by default. They take a while.
	Keyboards func() []Keyboard
}

// Check returns what is wrong, with the field that it is about, in a defined order.
func (p *Preferences) Check(known *Known) []error {
	c := &checking{}
	if p.View != "" {
		c.oneOf("view", p.View, known.Views)
	}
	tables := slices.DeleteFunc(slices.Clone(known.Views), func(view string) bool { return known.Columns[view] == nil })
	for _, name := range slices.Sorted(maps.Keys(p.Views)) {
		if path := "views." + name; c.oneOf(path, name, tables) {
			c.columns(path+".columns", p.Views[name].Columns, known.Columns[name])
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
	if len(p.Keys) > 0 {
		p.checkKeys(c, known.Keyboards())
	}
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

// Palette are the colours that are wanted.
func (p *Preferences) Palette() theme.Palette {
	out := theme.Palette{}
	for name, text := range p.Theme.Colors {
		role, known := theme.RoleNamed(name)
		if c, ok := theme.ParseColor(text); ok && known {
			out[role] = c
		}
	}
	return out
}

// OwnerRoles are the roles that owners are to have.
func (p *Preferences) OwnerRoles() map[string]styled.Role {
	out := map[string]styled.Role{}
	for name, color := range p.Owners {
		if role, ok := theme.RoleNamed(color); ok {
			out[name] = role
		}
	}
	return out
}

// Pressed are keys with those keystrokes that are wanted.
func (p *Preferences) Pressed(keys screen.Keys) screen.Keys {
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
