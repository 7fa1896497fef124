package claims

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// A fix says where it makes room, unless its words say so already, or the node is one that would be added.
func TestWhere(t *testing.T) {
	for want, fix := range map[string]explain.Fix{
		" → 2 nodes":  {Nodes: 2, Node: "gpu-b-03"},
		" → gpu-b-03": {Nodes: 1, Node: "gpu-b-03"},
		"":            {Nodes: 1},
	} {
		if got := where(fix); got != want {
			t.Errorf("%+v: %q, want %q", fix, got, want)
		}
	}
	if got := where(explain.Fix{Nodes: 1, Node: "gpu-b-03", NamesNode: true}); got != "" {
		t.Errorf("the node is named twice: %q", got)
	}
}
