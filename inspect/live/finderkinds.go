package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// asDiscovery asks for all groups with their resources at once, which every server since Kubernetes 1.30 can
// tell.
const asDiscovery = runtime.ContentTypeJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

const kueueGroup = "kueue.x-k8s.io"

// Kind returns the kind that a word names: one of Kubernetes itself, or one that the server serves, in the
// order of its groups. The error is that of a server that cannot tell.
func (f *Finder) Kind(ctx context.Context, word string) (inspect.OwnerKind, bool, error) {
	return f.kind(ctx, func(k inspect.OwnerKind) bool { return k.Called(word) })
}

// kind returns the first kind for which is holds: of those of Kubernetes itself, or else of those that the
// server serves.
func (f *Finder) kind(ctx context.Context, is func(inspect.OwnerKind) bool) (inspect.OwnerKind, bool, error) {
	all := inspect.OwnerKinds()
	if !slices.ContainsFunc(all, is) {
		var err error
		if all, err = f.kinds(ctx); err != nil {
			return inspect.OwnerKind{}, false, err
		}
	}
	i := slices.IndexFunc(all, func(k inspect.OwnerKind) bool { return is(k) && k.Group == kueueGroup }) // others have Workloads too
	if i < 0 {
		i = slices.IndexFunc(all, is)
	}
	if i < 0 {
		return inspect.OwnerKind{}, false, nil
	}
	return all[i], true, nil
}

// kinds are the kinds with a namespace that can be got of all groups, the core group left out; asked for
// once.
func (f *Finder) kinds(ctx context.Context) ([]inspect.OwnerKind, error) {
	f.discovery.Lock()
	defer f.discovery.Unlock()
	if f.served != nil {
		return f.served, nil
	}
	data, err := raw(f.ask([]string{"/apis"}, asDiscovery).Do(connection.With(ctx, connection.Bounds{Bytes: limits.page})))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if fatal := f.fatal(err); fatal != nil {
			return nil, fatal
		}
		return nil, fmt.Errorf("asking which kinds there are: %s", wire.Clean(cause(err)))
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("asking which kinds there are: %s", wire.Clean(err.Error()))
	}
	f.served = kindsIn(&list)
	return f.served, nil
}

// kindsIn are the kinds of a list of groups, each at the version that the server prefers.
func kindsIn(list *apidiscoveryv2.APIGroupDiscoveryList) []inspect.OwnerKind {
	out := []inspect.OwnerKind{}
	seen := map[[2]string]bool{}
	for _, group := range list.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				id := [2]string{group.Name, r.Resource}
				if seen[id] || r.Scope != apidiscoveryv2.ScopeNamespace || r.ResponseKind == nil || !slices.Contains(r.Verbs, "get") {
					continue
				}
				seen[id] = true
				out = append(out, inspect.OwnerKind{
					Group: group.Name, Version: version.Version, Resource: r.Resource, Name: r.ResponseKind.Kind, Singular: r.SingularResource, Short: r.ShortNames,
				})
			}
		}
	}
	return out
}
