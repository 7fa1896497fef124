package manifest

import (
	"cmp"
	"reflect"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// accessIn decodes an object of RBAC. It is nil for other objects, and for one without a name or that cannot
// be decoded: that is skipped, as are the objects that no question needs. It only reads the collector.
func (c *collector) accessIn(p *pending) metav1.Object {
	raw := p.text.data[p.at.from:p.at.to]
	if p.head.apiVersion != rbacv1.SchemeGroupVersion.String() || c.tooLargeToSearch(raw) {
		return nil
	}
	var o metav1.Object
	switch p.head.kind {
	case "ClusterRole":
		o = &rbacv1.ClusterRole{}
	case "Role":
		o = &rbacv1.Role{}
	case "ClusterRoleBinding":
		o = &rbacv1.ClusterRoleBinding{}
	case "RoleBinding":
		o = &rbacv1.RoleBinding{}
	default:
		return nil
	}
	if _, err := unmarshal(raw, o); err != nil || o.GetName() == "" {
		return nil
	}
	namespace := ""
	if p.head.kind == "Role" || p.head.kind == "RoleBinding" {
		namespace = cmp.Or(o.GetNamespace(), c.opts.Namespace)
	}
	o.SetNamespace(namespace)
	return o
}

// keepAccess keeps an object of RBAC that was found. One that was given before is replaced. The result is
// false if there is none.
func (c *collector) keepAccess(p *pending) bool {
	if p.access == nil {
		return false
	}
	if c.access == nil {
		c.access = &inspect.Access{Given: true}
	}
	id := identity{inspect.Resource(p.head.kind), p.access.GetNamespace(), p.access.GetName()}
	if before := c.accessSeen[id]; before != nil {
		reflect.ValueOf(before).Elem().Set(reflect.ValueOf(p.access).Elem())
		return true
	}
	c.accessSeen[id] = p.access
	return c.access.Add(p.access)
}
