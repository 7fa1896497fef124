package screen

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Unread says which of some resources was not read, or not as a whole, in the namespace that is shown. As
// long as it says something, that there are no such objects is not known. It is empty if all were read.
func Unread(w *World, resources ...inspect.Resource) string {
	for _, r := range resources {
		switch h := w.Snapshot.Health(r); {
		case h.Complete(), h.State == inspect.Narrowed && !h.PartialIn(w.Namespace):
		case h.Message != "":
			return inspect.Sanitize(h.Message)
		case h.State == inspect.Syncing:
			return string(r) + " are being read"
		default:
			return "no " + string(r) + " were read"
		}
	}
	return ""
}
