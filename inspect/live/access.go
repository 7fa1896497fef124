package live

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// Access reads who may do what by RBAC: of one namespace what is bound in it and in the whole cluster, of ""
// all. What may not be read is left out. The error is that of ctx, or a *ServerError.
func (f *Finder) Access(ctx context.Context, namespace string) (*inspect.Access, error) {
	out := &inspect.Access{}
	for _, k := range accessKinds {
		in := ""
		if k.Namespaced {
			in = namespace
		}
		if _, err := f.besides(ctx, &out.Unread, k, in, "", func(o wire.Object) { out.Add(o) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// accessKinds are those of RBAC, in the order in which they are read.
var accessKinds = []wire.Kind{
	wire.Beside(rbacv1.GroupName, "clusterroles", "ClusterRole", false, wire.Bare),
	wire.Beside(rbacv1.GroupName, "clusterrolebindings", "ClusterRoleBinding", false, wire.Bare),
	wire.Beside(rbacv1.GroupName, "roles", "Role", true, wire.Bare),
	wire.Beside(rbacv1.GroupName, "rolebindings", "RoleBinding", true, wire.Bare),
}
