package filters

import "github.com/kubectl-dra/kubectl-dra/inspect"

// unread reports whether there may be objects of a resource that are not in the snapshot. A resource that
// nobody tried to read has none in files; objects that are there were read.
func (x *Index) unread(r inspect.Resource, objects int) bool {
	h := x.snapshot.Health(r)
	return h.Partial() || h.State == inspect.NotRead && objects == 0 && x.snapshot.ServerVersion() != ""
}

// unknownNode is a doubt about every node if no node was read. What is a clause: whether the node has this or
// that.
func (x *Index) unknownNode(plugin Plugin, what string) Outcome {
	if !x.snapshot.NodesAssumed() {
		return Outcome{}
	}
	return doubt(Doubt{Plugin: plugin, Resource: inspect.Nodes, Key: "nodes", Message: "nodes were not read: " + what + " is not known"})
}

// unknownPods is a doubt about what others take of a node if not all pods were read.
func (x *Index) unknownPods(plugin Plugin, what string) Outcome {
	if !x.podsUnread() {
		return Outcome{}
	}
	return doubt(Doubt{Plugin: plugin, Resource: inspect.Pods, Key: "pods", Message: "not all pods were read: " + what})
}
