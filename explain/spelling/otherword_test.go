package spelling

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// TestOtherWord: names that differ in a whole word are not taken for misspellings of each other.
func TestOtherWord(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"rdmaDevice", "pciDevice", true}, {"rdmaDevice", "rdmDevice", false}, {"memroy", "memory", false}, {"driverVersion", "cudaDriverVersion", false},
		{"gpuModel", "cpuModel", false}, {"numa_node", "pcie_node", true}, {"numaNode", "numanode", false}, {"memoryTotal", "memoryTotl", false}, {"", "x", false},
	} {
		if got := otherWord(test.a, test.b); got != test.want {
			t.Errorf("otherWord(%q, %q) = %t", test.a, test.b, got)
		}
	}
	fields := []selector.Field{{Kind: "attributes", Domain: "d", Name: "pciDevice"}}
	if near, ok := mostSimilar(selector.Field{Kind: "attributes", Domain: "d", Name: "rdmaDevice"}, fields); ok {
		t.Errorf("%q was proposed", near.Name)
	}
}
