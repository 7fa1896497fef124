package filters

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Room is the same text for nodes that offer the same, of which pods take the same. It is for comparing only.
func (x *Index) Room(node inspect.NodeName) string {
	n := x.node(string(node))
	if n == nil {
		return "?" + string(node)
	}
	return fmt.Sprint(n.allocatable, n.used, n.allowed, len(n.pods))
}
