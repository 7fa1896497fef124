package objects

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// namespace is a namespace with what it uses and how many pods of it have to do with devices.
type namespace struct {
	ref  screen.Ref
	used usage.Row
	pods int
}

// NewNamespaces makes the list of namespaces in which there is something to show, counted as the view of
// usage does.
func NewNamespaces(about About) screen.Screen {
	return newList(about, listing.Config[namespace]{
		Noun: "namespaces", Resources: []inspect.Resource{inspect.Claims}, Build: buildNamespaces,
		Ref: func(n *namespace) screen.Ref { return n.ref },
		Columns: []listing.Column[namespace]{
			name("NAME", func(n *namespace) string { return n.ref.Name }),
			number("DEVICES", styled.Used, func(n *namespace) int { return n.used.Devices }),
			plainNumber("CLAIMS", func(n *namespace) int { return len(n.used.Claims) }),
			number("REFUSED", styled.Bad, func(n *namespace) int { return n.used.Refused }),
			number("IDLE", styled.Warn, func(n *namespace) int { return n.used.IdleClaims }),
			ranked(1, plainNumber("PODS", func(n *namespace) int { return n.pods })),
		},
	})
}

func buildNamespaces(_ context.Context, w *screen.World) ([]namespace, error) {
	rows := map[string]*namespace{}
	of := func(name string) *namespace {
		if rows[name] == nil {
			rows[name] = &namespace{ref: screen.Ref{Kind: screen.Namespace, Name: name}}
		}
		return rows[name]
	}
	for _, used := range usage.Of(w.Snapshot, w.Inventory(), usage.Namespace, nil).Rows {
		of(used.Namespace).used = used
	}
	for _, p := range w.Snapshot.Objects().Pods {
		if concerned(p) {
			of(p.Namespace).pods++
		}
	}
	sorted := make([]namespace, 0, len(rows))
	for _, n := range rows {
		sorted = append(sorted, *n)
	}
	slices.SortFunc(sorted, func(a, b namespace) int { return strings.Compare(a.ref.Name, b.ref.Name) })
	return sorted, nil
}
