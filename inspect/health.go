package inspect

import (
	"slices"
	"time"
)

// HealthState says how far a resource could be read.
type HealthState string

// The states of a resource. The zero value means that nobody tried to read it.
const (
	NotRead   HealthState = ""
	Synced    HealthState = "Synced"    // read completely
	Forbidden HealthState = "Forbidden" // the user may not list it
	NotServed HealthState = "NotServed" // the server does not serve it at any version that we know
	Broken    HealthState = "Broken"    // reading failed for another reason
	Narrowed  HealthState = "Narrowed"  // read, but only in some namespaces
	// Incomplete is for files: some of what was given could not be read, and may have held such objects.
	Incomplete HealthState = "Incomplete"
	Syncing    HealthState = "Syncing" // being read for the first time
)

// Health is how far one resource could be read, and from when the data is.
type Health struct {
	State HealthState `json:"state"`
	// Version is the API version that was read, such as "resource.k8s.io/v1".
	Version string `json:"version,omitempty"`
	// Namespaces are those that were read when State is Narrowed.
	Namespaces []string `json:"namespaces,omitempty"`
	// Message says in one line what went wrong; for Forbidden it names the verb and the resource.
	Message string `json:"message,omitempty"`
	// Since is when the state began. It is zero if that is not known.
	Since time.Time `json:"since,omitzero"`
}

// Partial reports whether somebody tried to read the resource and there may be objects, or newer ones,
// that are not there.
func (h Health) Partial() bool {
	switch h.State {
	case Forbidden, Broken, Narrowed, Incomplete, Syncing:
		return true
	}
	return false
}

// PartialIn is Partial for the objects of one namespace: where only some namespaces were read, those are not
// partial. An empty name stands for all namespaces.
func (h Health) PartialIn(namespace string) bool {
	return h.Partial() && (h.State != Narrowed || namespace == "" || !slices.Contains(h.Namespaces, namespace))
}

// Complete reports whether the resource was read completely. A resource that the server does not
// serve is complete: there are no such objects.
func (h Health) Complete() bool { return h.State == Synced || h.State == NotServed }
