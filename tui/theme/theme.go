package theme

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// Theme is the appearance of every role. It is a value that is not changed after New, and may be shared.
type Theme struct {
	// Colored reports whether anything is painted at all.
	Colored bool
	// plain and selected are the sequences that switch an appearance on, outside and inside a selected row;
	// behind those of the roles are those of filled areas.
	plain, selected [2 * styled.Roles]string
}

// tone is a colour for light and for dark backgrounds, and its nearest of the 16 basic ones.
type tone struct {
	light, dark string
	basic       ansi.BasicColor
	// few are the colours of a terminal that has 256, for light and for dark backgrounds, where the nearest
	// one is far off: there are few greys among them and they come out coloured. Zero takes the nearest.
	fewLight, fewDark ansi.IndexedColor
}

var tones = map[styled.Role]tone{
	styled.Good:     {light: "#1a7f37", dark: "#57d38c", basic: ansi.Green, fewLight: 28},
	styled.Bad:      {light: "#cf222e", dark: "#ff7b72", basic: ansi.Red, fewDark: 210},
	styled.Warn:     {light: "#9a6700", dark: "#e3b341", basic: ansi.Yellow},
	styled.Dim:      {light: "#656d76", dark: "#8b949e", basic: ansi.BrightBlack, fewLight: 241, fewDark: 246},
	styled.Name:     {light: "#0969da", dark: "#79c0ff", basic: ansi.Blue},
	styled.Accent:   {light: "#6639ba", dark: "#d2a8ff", basic: ansi.Magenta},
	styled.Title:    {light: "#57606a", dark: "#a0a8b2", basic: ansi.BrightBlack, fewLight: 240, fewDark: 248},
	styled.Used:     {light: "#0a789c", dark: "#39b6d8", basic: ansi.Cyan, fewLight: 24},
	styled.Shared:   {light: "#9a6700", dark: "#e3b341", basic: ansi.Yellow},
	styled.Supposed: {light: "#bf3989", dark: "#ff9bce", basic: ansi.Magenta, fewLight: 126},
	styled.Keyword:  {light: "#6639ba", dark: "#d2a8ff", basic: ansi.Magenta},
	styled.Literal:  {light: "#0a789c", dark: "#a5d6ff", basic: ansi.Cyan, fewLight: 24},
}

// selection is the background of the selected row.
var selection = tone{light: "#ddf4ff", dark: "#263445", basic: ansi.Blue, fewLight: 254, fewDark: 237}

// bold are the roles that are heavier than the text around them.
var bold = map[styled.Role]bool{styled.Strong: true, styled.Bad: true, styled.Accent: true, styled.Title: true, styled.Supposed: true}

// New makes a theme for a dark or light background and a terminal of the given abilities. Without colours,
// text is still bold or reversed; with NoTTY nothing is painted.
func New(dark bool, profile colorprofile.Profile) *Theme { return Palette(nil).New(dark, profile) }

// New makes a theme in which some roles have other colours.
func (p Palette) New(dark bool, profile colorprofile.Profile) *Theme {
	t := &Theme{Colored: profile > colorprofile.NoTTY}
	if !t.Colored {
		return t
	}
	for role := range styled.Role(styled.Roles) {
		style := ansi.NewStyle()
		if bold[role] {
			style = style.Bold()
		}
		if role == styled.Supposed && profile < colorprofile.ANSI256 {
			style = style.Underline(true) // among few colours it has none of its own
		}
		if own, ok := p[role]; ok && profile >= colorprofile.ANSI {
			style = style.ForegroundColor(profile.Convert(own))
		} else if tone, ok := tones[role]; ok {
			style = style.ForegroundColor(tone.pick(dark, profile))
		}
		if len(style) > 0 {
			t.plain[role] = style.String()
		}
		t.selected[role] = selectedStyle(style, dark, profile).String()
		filled := filledStyle(role, dark, profile)
		t.plain[styled.Filled(role)] = filled.String()
		if profile < colorprofile.ANSI256 {
			filled = style // the row around it is reversed
		}
		t.selected[styled.Filled(role)] = filled.String()
	}
	return t
}

// None paints nothing: for files, pipes and tests.
func None() *Theme { return New(true, colorprofile.NoTTY) }

// selectedStyle adds the look of a selected row. Few colours do not allow a quiet background: there the
// row is reversed.
func selectedStyle(style ansi.Style, dark bool, profile colorprofile.Profile) ansi.Style {
	if profile < colorprofile.ANSI256 {
		return ansi.NewStyle().Reverse(true)
	}
	return style.BackgroundColor(selection.pick(dark, profile))
}

// ink is the text on an area that is filled: tones are dark on light backgrounds, and bright on dark ones.
var ink = tone{light: "#ffffff", dark: "#0d1117", basic: ansi.Black, fewLight: 231, fewDark: 233}

// filledStyle is the look of an area in the colour of a role. Few colours are reversed, as few are known to
// be legible on each other.
func filledStyle(role styled.Role, dark bool, profile colorprofile.Profile) ansi.Style {
	tone, ok := tones[role]
	if !ok {
		return ansi.NewStyle().Reverse(true)
	}
	if profile < colorprofile.ANSI256 {
		return ansi.NewStyle().Reverse(true).ForegroundColor(tone.pick(dark, profile))
	}
	return ansi.NewStyle().ForegroundColor(ink.pick(dark, profile)).BackgroundColor(tone.pick(dark, profile))
}

// pick returns the colour to use, or nil where there are none.
func (t tone) pick(dark bool, profile colorprofile.Profile) color.Color {
	if profile < colorprofile.ANSI {
		return nil
	}
	if profile == colorprofile.ANSI {
		return t.basic
	}
	few := t.fewLight
	if dark {
		few = t.fewDark
	}
	if profile == colorprofile.ANSI256 && few != 0 {
		return few
	}
	return profile.Convert(lipgloss.LightDark(dark)(lipgloss.Color(t.light), lipgloss.Color(t.dark)))
}

// Paint gives text the look of a role. The text must have no line breaks.
func (t *Theme) Paint(role styled.Role, s string) string { return paint(t.plain[role], s) }

// PaintLine gives every span of a line the look of its role.
func (t *Theme) PaintLine(l styled.Line) string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(t.Paint(span.Role, span.Text))
	}
	return b.String()
}

// PaintSelected is Paint inside a selected row.
func (t *Theme) PaintSelected(role styled.Role, s string) string { return paint(t.selected[role], s) }

func paint(open, s string) string {
	if open == "" || s == "" {
		return s
	}
	return open + s + ansi.ResetStyle
}
