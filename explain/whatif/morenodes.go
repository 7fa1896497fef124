package whatif

import (
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AddNodeEdit adds a node like another, as AddNode does.
type AddNodeEdit struct{ Like string }

// Key names the node that is copied.
func (e AddNodeEdit) Key() string { return "add node like " + e.Like }

// Added is the name of the node that is added.
func (e AddNodeEdit) Added() inspect.NodeName { return inspect.NodeName(addedName(e.Like)) }

// Apply adds the node and the slices of its pools.
func (e AddNodeEdit) Apply(d *Draft) {
	assumed := d.q.Cluster.Snapshot().NodesAssumed()
	d.around[e.Key()] = func(o *inspect.Objects) { suppose.AddNode(o, e.Like, assumed, addedName) }
}

// addedName names what is added like something else.
func addedName(name string) string { return name + ".added.kubectl-dra.dev" }
