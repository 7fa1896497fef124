package theme

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// TestContrast: text can be read, by the measure of the Web Content Accessibility Guidelines: 4.5 on the usual
// backgrounds of terminals, and 3.5 in the selected row, which a mark shows too.
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
