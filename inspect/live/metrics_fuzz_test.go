package live

import (
	"bytes"
	"maps"
	"testing"
	"testing/iotest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FuzzParseGates: the gates of metrics are those that inspect knows and that the text names, however it comes
// in over the network.
func FuzzParseGates(f *testing.F) {
	for _, seed := range []string{
		"", "# HELP x\nkubernetes_feature_enabled{name=\"DRAAdminAccess\",stage=\"\"} 1\nother 2\n",
		"kubernetes_feature_enabled{stage=\"BETA\", name=\"DRADeviceTaints\"} 0 123\n\nkubernetes_feature_enabled{name=\"Other\"} 1",
		"kubernetes_feature_enabled{name=\"DRAAdminAccess\"} NaN\r\n", "kubernetes_feature_enabled{name=\"} 1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		gates, err := parseGates(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("reading from memory fails: %v", err)
		}
		slowly, err := parseGates(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil || !maps.Equal(gates, slowly) {
			t.Errorf("%q gives %v, and byte by byte %v, %v", data, gates, slowly, err)
		}
		for gate := range gates {
			if !inspect.KnownGate(gate) || !bytes.Contains(data, []byte(gate)) {
				t.Errorf("%q gives %q", data, gate)
			}
		}
		if _, err := parseGates(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(data)))); err == nil && len(data) > 1 {
			t.Errorf("%q: half of it is taken for the whole", data)
		}
	})
}
