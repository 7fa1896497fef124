package inspect

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Access is who may do what, as RBAC has it. It is no part of a Snapshot: a cluster has very many such
// objects, and nothing about devices follows from them but who may grant access to them.
type Access struct {
	// The objects are in the order in which they were read, each once. Rules of aggregated roles are in the
	// roles.
	ClusterRoles        []*rbacv1.ClusterRole
	Roles               []*rbacv1.Role
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
	RoleBindings        []*rbacv1.RoleBinding
	// Given says that the objects are those of files: the cluster has roles that are not among them.
	Given bool
	// Unread says what could not be read and why, in the order in which it was asked for. It quotes the
	// server: it is unsafe to print as it is.
	Unread []string
}

// Add adds an object, and reports whether it is of one of the kinds.
func (a *Access) Add(o metav1.Object) bool {
	switch o := o.(type) {
	case *rbacv1.ClusterRole:
		a.ClusterRoles = append(a.ClusterRoles, o)
	case *rbacv1.Role:
		a.Roles = append(a.Roles, o)
	case *rbacv1.ClusterRoleBinding:
		a.ClusterRoleBindings = append(a.ClusterRoleBindings, o)
	case *rbacv1.RoleBinding:
		a.RoleBindings = append(a.RoleBindings, o)
	default:
		return false
	}
	return true
}
