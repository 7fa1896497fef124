package theme

import (
	"image/color"
	"maps"
	"regexp"
	"slices"

	"charm.land/lipgloss/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// Palette has the colours of roles that have others than usual.
type Palette map[styled.Role]color.Color

// roles are the roles that have a colour, by the names that users write.
var roles = map[string]styled.Role{
	"plain": styled.Plain, "strong": styled.Strong, "good": styled.Good, "bad": styled.Bad, "warn": styled.Warn, "dim": styled.Dim,
	"name": styled.Name, "accent": styled.Accent, "title": styled.Title, "used": styled.Used, "shared": styled.Shared,
	"supposed": styled.Supposed, "keyword": styled.Keyword, "literal": styled.Literal,
}

// RoleNames are the names that RoleNamed knows, sorted.
func RoleNames() []string { return slices.Sorted(maps.Keys(roles)) }

// RoleNamed returns the role that users call by a name.
func RoleNamed(name string) (role styled.Role, ok bool) {
	role, ok = roles[name]
	return role, ok
}

// ColorForm is how colours are written: #rrggbb, or the number of one of the 256 colours of a terminal.
const ColorForm = `^(#[0-9a-fA-F]{6}|[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$`

var colorForm = regexp.MustCompile(ColorForm)

// ParseColor reads a colour, such as #1a7f37 or 34.
func ParseColor(text string) (c color.Color, ok bool) {
	if !colorForm.MatchString(text) {
		return nil, false
	}
	return lipgloss.Color(text), true
}
