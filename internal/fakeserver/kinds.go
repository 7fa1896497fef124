package fakeserver

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The API groups.
const (
	Core        = ""
	DRA         = "resource.k8s.io"
	FlowControl = "flowcontrol.apiserver.k8s.io"
	Storage     = "storage.k8s.io"
	Policy      = "policy"
	Scheduling  = "scheduling.k8s.io"
	Kueue       = "kueue.x-k8s.io"
)

// Events is the resource of Events, which no snapshot carries.
const Events inspect.Resource = "events"

// kinds are those of a snapshot, and Events.
func kinds() []inspect.Kind {
	return append(inspect.Kinds(), inspect.Kind{Resource: Events, Name: "Event", Group: Core, Version: "v1", Namespaced: true})
}

// kindThat returns the first kind that is wanted.
func kindThat(wanted func(k inspect.Kind) bool) (inspect.Kind, bool) {
	all := kinds()
	at := slices.IndexFunc(all, wanted)
	if at < 0 {
		return inspect.Kind{}, false
	}
	return all[at], true
}
