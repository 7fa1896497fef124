package manifest

import (
	"testing"
)

// TestAccess: objects of RBAC are kept aside, the last of a name; what cannot be decoded is skipped as
// before.
func TestAccess(t *testing.T) {
	const head = "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: "
	r, err := ReadBytes("rbac.yaml", []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}"+
		head+"ClusterRole\nmetadata: {name: r}\nrules: [{verbs: [get]}]"+
		head+"ClusterRole\nmetadata: {name: r, namespace: wrong}\nrules: [{verbs: [patch]}]"+
		head+"ClusterRoleBinding\nmetadata: {name: r}"+
		head+"Role\nmetadata: {name: r}"+head+"Role\nmetadata: {name: r, namespace: ml}"+
		head+"RoleBinding\nmetadata: {name: b}\nsubjects: [{kind: User, name: jane}]"+
		head+"RoleBinding\nmetadata: {name: broken}\nsubjects: 7"+head+"Role\nmetadata: {}"), Options{Namespace: "here"})
	if err != nil {
		t.Fatal(err)
	}
	a := r.Access
	if a == nil || !a.Given || len(a.ClusterRoles) != 1 || len(a.ClusterRoleBindings) != 1 || len(a.Roles) != 2 || len(a.RoleBindings) != 1 {
		t.Fatalf("%+v", a)
	}
	if c := a.ClusterRoles[0]; c.Rules[0].Verbs[0] != "patch" || c.Namespace != "" {
		t.Errorf("cluster role %+v, want the last, in no namespace", c)
	}
	if a.Roles[0].Namespace != "here" || a.Roles[1].Namespace != "ml" || a.RoleBindings[0].Namespace != "here" {
		t.Errorf("namespaces %s, %s and %s", a.Roles[0].Namespace, a.Roles[1].Namespace, a.RoleBindings[0].Namespace)
	}
	if n := r.Skipped["rbac.authorization.k8s.io/v1 RoleBinding"] + r.Skipped["rbac.authorization.k8s.io/v1 Role"]; n != 2 {
		t.Errorf("skipped %v", r.Skipped)
	}
	if r, err := ReadBytes("none.yaml", []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}"), Options{}); err != nil || r.Access != nil {
		t.Errorf("%+v without objects of RBAC, %v", r.Access, err)
	}
}
