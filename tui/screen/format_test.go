package screen

import "testing"

func TestParseAge(t *testing.T) {
	for text, want := range map[string]float64{"0s": 0, "90s": 90, "3m": 180, "2h5m": 7500, "3d4h": 273600, "1y": 31536000} {
		if got, ok := ParseAge(text); !ok || got != want {
			t.Errorf("%s is %v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "5", "d", "3x", "3dh", "-3d", "3d 4h"} {
		if got, ok := ParseAge(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}
