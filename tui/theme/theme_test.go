package theme

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// TestContrast: text can be read, by the measure of the Web Content Accessibility Guidelines: 4.5 on the
// usual backgrounds of terminals, and 3.5 in the selected row, which a mark shows too.
func TestContrast(t *testing.T) {
	backgrounds := map[bool][]color.Color{
		true:  {lipgloss.Color("#000000"), lipgloss.Color("#0d1117"), lipgloss.Color("#1e1e1e")},
		false: {lipgloss.Color("#ffffff"), lipgloss.Color("#fafafa")},
	}
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
		for dark, list := range backgrounds {
			for role, tone := range tones {
				text := tone.pick(dark, profile)
				for _, background := range list {
					if c := contrast(text, background); c < 4.5 {
						t.Errorf("role %d, dark %t, %s: %.1f on %v", role, dark, profile, c, background)
					}
				}
				if c := contrast(text, selection.pick(dark, profile)); c < 3.5 {
					t.Errorf("role %d, dark %t, %s: %.1f in the selected row", role, dark, profile, c)
				}
			}
		}
	}
}

// alike are the roles that never stand beside each other, or that are told apart by their marks.
var alike = [][]styled.Role{
	{styled.Warn, styled.Shared}, {styled.Accent, styled.Keyword}, {styled.Used, styled.Literal}, {styled.Dim, styled.Title},
}

// TestRolesAreTold: roles look different from each other, also on a terminal with 16 colours. Without any,
// what does not work, what is looked for and what is only supposed still stand out, and the selected row does
// whatever is in it.
func TestRolesAreTold(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI} {
		for _, dark := range []bool{true, false} {
			th := New(dark, profile)
			for a := range styled.Role(styled.Roles) {
				for b := range a {
					same := slices.ContainsFunc(alike, func(roles []styled.Role) bool { return slices.Contains(roles, a) && slices.Contains(roles, b) })
					if !same && th.Paint(a, "x") == th.Paint(b, "x") {
						t.Errorf("%s, dark %t: roles %d and %d look the same", profile, dark, a, b)
					}
				}
			}
		}
	}
	th := New(true, colorprofile.ASCII)
	for _, role := range []styled.Role{styled.Bad, styled.Accent, styled.Strong, styled.Supposed} {
		if th.Paint(role, "x") == "x" {
			t.Errorf("without colours role %d does not stand out", role)
		}
	}
	if th.Paint(styled.Supposed, "x") == th.Paint(styled.Strong, "x") {
		t.Error("without colours what is supposed looks like what is so")
	}
	for role := range styled.Role(styled.Roles) {
		if th.PaintSelected(role, "x") == th.Paint(role, "x") {
			t.Errorf("without colours role %d looks the same in the selected row", role)
		}
	}
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func linear(c uint32) float64 {
	v := float64(c) / 0xffff
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
