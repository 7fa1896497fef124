package sources

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// CheckNamespace returns an error for a namespace of -n that is not known to exist: that nothing waits, or is
// wrong, in it would be no answer to whoever mistyped its name. Every cluster has the namespace default.
func (r *Reader) CheckNamespace(ctx context.Context, s *inspect.Snapshot) error {
	name := r.Connection.NamespaceFlag()
	known := knownNamespaces(s)
	if name == "" || name == "default" || slices.Contains(known, name) {
		return nil
	}
	if s.Health(inspect.Namespaces).State == inspect.NotRead && !r.Offline() {
		var err error
		if s, err = r.Read(ctx, name, []inspect.Resource{inspect.Namespaces}); err != nil {
			return err
		}
		if known = append(known, knownNamespaces(s)...); slices.Contains(known, name) {
			return nil
		}
	}
	if s.Health(inspect.Namespaces).Complete() {
		slices.Sort(known)
		return fmt.Errorf("namespace %q not found%s", name, console.WhatExists(name, "", slices.Compact(known), nil))
	}
	return fmt.Errorf("it is not known whether there is a namespace %q: no object in it was read%s", name, console.DidYouMean(name, known))
}

// knownNamespaces are the namespaces that a snapshot has, or has objects of, sorted.
func knownNamespaces(s *inspect.Snapshot) []string {
	names := map[string]bool{}
	for _, kind := range inspect.Kinds() {
		for _, o := range kind.Objects(s.Objects()) {
			if kind.Resource == inspect.Namespaces {
				names[o.GetName()] = true
			} else if o.GetNamespace() != "" {
				names[o.GetNamespace()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
