package get

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// nodeViews are the views that --node narrows.
var nodeViews = []string{"devices", "pools", "extended"}

// checkNode refuses --node where it would mean nothing.
func checkNode(node string, v view) error {
	if node == "" || slices.Contains(nodeViews, v.names[0]) {
		return nil
	}
	return console.Usagef("--node is for %s only", console.CommaList(nodeViews))
}

// keepOnNode keeps what is of the node: devices that are tied to it or reach it, pools with such devices, and
// its extended resources. The error says that there is no such node, and then nothing is kept.
func (o *getOptions) keepOnNode(s *inspect.Snapshot, list *output.List) error {
	if o.node == "" {
		return nil
	}
	node, ok := s.Node(inspect.NodeName(o.node))
	if !ok {
		list.Items = []output.Item{}
		return inquiry.NotFound(s, inquiry.Node, "", o.node)
	}
	devices, pools := map[string]bool{}, map[string]bool{}
	for _, d := range s.Inventory().On(node) {
		devices[d.ID.String()], pools[d.ID.PoolID().String()] = true, true
	}
	list.Keep(func(item output.Item) bool {
		switch item := item.(type) {
		case *output.Device:
			return devices[item.Meta().Name]
		case *output.Pool:
			return item.Node == o.node || pools[item.Meta().Name]
		case *output.ExtendedResource:
			return item.Node == o.node
		}
		return true
	})
	return nil
}
