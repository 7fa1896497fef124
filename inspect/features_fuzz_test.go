package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzParseFeatures: what is read is about gates that are known, and reads the same when it is written out
// again.
func FuzzParseFeatures(f *testing.F) {
	for _, seed := range []string{
		"", ",", "DRAConsumableCapacity=false", " DRADeviceTaints = TRUE ,DRAAdminAccess=0", "DRAAdminAccess", "x=true",
		"DRAAdminAccess=maybe", "DRAAdminAccess=true=false",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		gates, err := ParseFeatures(text)
		if err != nil {
			if gates != nil {
				t.Errorf("%q gives %v and an error", text, gates)
			}
			return
		}
		var parts []string
		for _, gate := range slices.Sorted(maps.Keys(gates)) {
			if !KnownGate(gate) || DefaultFeatures(NewestMinor).With(gates).Enabled(gate) != gates[gate] {
				t.Errorf("%q gives the gate %q", text, gate)
			}
			parts = append(parts, fmt.Sprintf("%s=%t", gate, gates[gate]))
		}
		again, err := ParseFeatures(strings.Join(parts, ","))
		if err != nil || !maps.Equal(gates, again) {
			t.Errorf("%q gives %v, and written out %v, %v", text, gates, again, err)
		}
	})
}
