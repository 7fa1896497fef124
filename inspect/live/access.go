package live

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Access reads who may do what by RBAC: of one namespace what is bound in it and in the whole cluster, of "" all. What may not be
// read is left out. The error is that of ctx, or a *ServerError.
func (f *Finder) Access(ctx context.Context, namespace string) (*inspect.Access, error) {
	out := &inspect.Access{}
	for _, k := range accessKinds {
		in := ""
		if k.Namespaced {
			in = namespace
		}
		if _, err := f.besides(ctx, &out.Unread, k, in, "", func(o object) { out.Add(o) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// accessKinds are those of RBAC, in the order in which they are read.
var accessKinds = []kind{
	{
		Kind:     inspect.Kind{Group: rbacv1.GroupName, Resource: "clusterroles", Name: "ClusterRole"},
		versions: []apiVersion{{name: "v1", newList: list[rbacv1.ClusterRoleList]}},
		typed:    items(func(l *rbacv1.ClusterRoleList) []rbacv1.ClusterRole { return l.Items }, func(r *rbacv1.ClusterRole) { reduceMeta(&r.ObjectMeta) }),
	},
	{
		Kind:     inspect.Kind{Group: rbacv1.GroupName, Resource: "clusterrolebindings", Name: "ClusterRoleBinding"},
		versions: []apiVersion{{name: "v1", newList: list[rbacv1.ClusterRoleBindingList]}},
		typed: items(func(l *rbacv1.ClusterRoleBindingList) []rbacv1.ClusterRoleBinding { return l.Items }, func(b *rbacv1.ClusterRoleBinding) {
			reduceMeta(&b.ObjectMeta)
		}),
	},
	{
		Kind:     inspect.Kind{Group: rbacv1.GroupName, Resource: "roles", Name: "Role", Namespaced: true},
		versions: []apiVersion{{name: "v1", newList: list[rbacv1.RoleList]}},
		typed:    items(func(l *rbacv1.RoleList) []rbacv1.Role { return l.Items }, func(r *rbacv1.Role) { reduceMeta(&r.ObjectMeta) }),
	},
	{
		Kind:     inspect.Kind{Group: rbacv1.GroupName, Resource: "rolebindings", Name: "RoleBinding", Namespaced: true},
		versions: []apiVersion{{name: "v1", newList: list[rbacv1.RoleBindingList]}},
		typed:    items(func(l *rbacv1.RoleBindingList) []rbacv1.RoleBinding { return l.Items }, func(b *rbacv1.RoleBinding) { reduceMeta(&b.ObjectMeta) }),
	},
}
