package checkup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// clusterAdmin is the role that every cluster has and that permits everything.
const clusterAdmin = "cluster-admin"

// maxRolesTold and maxSubjectsTold are how many roles, and how many subjects of each, are told in one clause.
const (
	maxRolesTold    = 4
	maxSubjectsTold = 4
)

// labelling is what a role permits that gives namespaces a label.
type labelling struct {
	// any says that every namespace can be changed, and names which ones otherwise, where the rules name
	// them.
	any   bool
	names map[string]bool
	// create says that namespaces can be created.
	create bool
}

// labellingOf reads rules as the authorizer does: a rule that names objects does not permit to create any. A
// label can be changed through the subresources as well, of which finalize cannot be patched.
func labellingOf(rules []rbacv1.PolicyRule) labelling {
	out := labelling{names: map[string]bool{}}
	for i := range rules {
		r := &rules[i]
		update, patch := listed(r.Verbs, "update"), listed(r.Verbs, "patch")
		if !listed(r.APIGroups, "") {
			continue
		}
		changes := (update || patch) && (concerns(r, "") || concerns(r, "status")) || update && concerns(r, "finalize")
		switch {
		case len(r.ResourceNames) == 0:
			out.any = out.any || changes
			out.create = out.create || listed(r.Verbs, "create") && concerns(r, "")
		case changes:
			for _, name := range r.ResourceNames {
				out.names[name] = true
			}
		}
	}
	return out
}

func listed(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, "*")
}

// concerns reports whether a rule is about namespaces, or about a subresource of them.
func concerns(r *rbacv1.PolicyRule, subresource string) bool {
	if subresource == "" {
		return listed(r.Resources, "namespaces")
	}
	return listed(r.Resources, "namespaces/"+subresource) || slices.Contains(r.Resources, "*/"+subresource)
}

// target is what can be labelled: all namespaces, those that are made, or one.
type target struct {
	order     int
	namespace string
}

var (
	allNamespaces = target{order: 0}
	newNamespaces = target{order: 1}
)

func oneNamespace(name string) target { return target{order: 2, namespace: name} }

func (t target) String() string {
	switch t {
	case allNamespaces:
		return "all namespaces"
	case newNamespaces:
		return "new namespaces"
	}
	return "Namespace " + t.namespace
}

// how says what subjects can do with a target.
func (t target) how() string {
	switch t {
	case allNamespaces:
		return "they can be labelled by "
	case newNamespaces:
		return "they can be created with the label by "
	}
	return "it can be labelled by "
}

// grant is a binding by which subjects can label a target.
type grant struct {
	role     string
	binding  inspect.ObjectRef
	subjects []string
	builtIn  bool // all of the subjects are
}

// grantors are who can label namespaces.
type grantors struct {
	access       *inspect.Access
	clusterRoles map[string][]rbacv1.PolicyRule
	roles        map[string][]rbacv1.PolicyRule // by namespace/name
	grants       map[target][]grant
	missing      []string // roles that are bound and were not given, in the order of the bindings
}

func findGrantors(v *visit) {
	g := &grantors{access: v.opts.Access, clusterRoles: map[string][]rbacv1.PolicyRule{}, roles: map[string][]rbacv1.PolicyRule{}, grants: map[target][]grant{}}
	g.read()
	targets := slices.SortedFunc(maps.Keys(g.grants), func(a, b target) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.namespace, b.namespace))
	})
	for _, t := range targets {
		v.report(g.finding(t))
	}
	unread := slices.Clone(g.access.Unread)
	if len(g.missing) > 0 {
		unread = append(unread, words.Plural(len(g.missing), "a role that is bound is", "roles that are bound are")+" not given: "+words.Shorten(g.missing, 3))
	}
	if len(unread) > 0 {
		v.skip("not everybody who may label namespaces is known (%s)", strings.Join(unread, "; "))
	}
}

// read finds the grants of all bindings.
func (g *grantors) read() {
	if g.access.Given {
		g.clusterRoles[clusterAdmin] = []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	}
	for _, r := range g.access.ClusterRoles {
		g.clusterRoles[r.Name] = r.Rules
	}
	for _, r := range g.access.Roles {
		g.roles[r.Namespace+"/"+r.Name] = r.Rules
	}
	for _, b := range g.access.ClusterRoleBindings {
		may := labellingOf(g.rulesOf(b.RoleRef, ""))
		ref := object("ClusterRoleBinding", "", b.Name)
		switch {
		case may.any: // who may change all can label what others create
			g.add(allNamespaces, b.RoleRef, ref, b.Subjects)
			continue
		case may.create:
			g.add(newNamespaces, b.RoleRef, ref, b.Subjects)
		}
		for name := range may.names {
			g.add(oneNamespace(name), b.RoleRef, ref, b.Subjects)
		}
	}
	for _, b := range g.access.RoleBindings { // for the authorizer a namespace is within itself
		if may := labellingOf(g.rulesOf(b.RoleRef, b.Namespace)); may.any || may.names[b.Namespace] {
			g.add(oneNamespace(b.Namespace), b.RoleRef, object("RoleBinding", b.Namespace, b.Name), b.Subjects)
		}
	}
}

// rulesOf returns the rules of a role that is bound. One that does not exist permits nothing.
func (g *grantors) rulesOf(ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	rules, known := g.clusterRoles[ref.Name]
	if ref.Kind == "Role" {
		rules, known = g.roles[namespace+"/"+ref.Name]
	}
	if !known && g.access.Given {
		if name := ref.Kind + " " + ref.Name; !slices.Contains(g.missing, name) {
			g.missing = append(g.missing, name)
		}
	}
	return rules
}

// add adds what a binding grants, that to built-in subjects by itself.
func (g *grantors) add(t target, role rbacv1.RoleRef, binding inspect.ObjectRef, subjects []rbacv1.Subject) {
	by := map[bool][]string{}
	for i := range subjects {
		b := builtIn(role, &subjects[i])
		by[b] = append(by[b], subjectName(&subjects[i]))
	}
	name := role.Name
	if role.Kind == "Role" {
		name = "Role " + name
	}
	for b, names := range by {
		slices.Sort(names)
		g.grants[t] = append(g.grants[t], grant{name, binding, slices.Compact(names), b})
	}
}

// builtIn reports whether every cluster has a subject with a role: the group for which the API server asks no
// authorizer, and the controllers of Kubernetes.
func builtIn(role rbacv1.RoleRef, s *rbacv1.Subject) bool {
	switch s.Kind {
	case rbacv1.GroupKind:
		return s.Name == "system:masters"
	case rbacv1.ServiceAccountKind:
		return s.Namespace == "kube-system" && role.Name == "system:controller:"+s.Name
	}
	return false
}

func subjectName(s *rbacv1.Subject) string {
	switch s.Kind {
	case rbacv1.GroupKind:
		return "group " + s.Name
	case rbacv1.ServiceAccountKind:
		return "service account " + s.Namespace + "/" + s.Name
	}
	return "user " + s.Name
}

// finding says who can label a target: what every cluster has only where there is nobody else.
func (g *grantors) finding(t target) Finding {
	grants := slices.DeleteFunc(slices.Clone(g.grants[t]), func(x grant) bool { return x.builtIn })
	how := t.how()
	if len(grants) == 0 {
		grants, how = slices.Clone(g.grants[t]), how+"nobody but those that every cluster has: "
	}
	slices.SortFunc(grants, func(a, b grant) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.binding.Kind, b.binding.Kind), cmp.Compare(a.binding.Name, b.binding.Name))
	})
	f := Finding{Subject: t.String(), Name: t.String(), Group: t.namespace, Detail: how + rolesTold(grants)}
	for _, x := range grants {
		f.Objects = append(f.Objects, x.binding)
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s %s gives %s to %s", x.binding.Kind, x.binding.Name, x.role, words.And(x.subjects)))
	}
	if t.namespace != "" {
		f.Objects = append(f.Objects, object("Namespace", "", t.namespace))
	}
	return f
}

// rolesTold names the subjects of each role: "group ops, user jane (cluster-admin); user joe (editor)". The
// grants are sorted by role.
func rolesTold(grants []grant) string {
	var roles []string
	by := map[string][]string{}
	for _, x := range grants {
		if by[x.role] == nil {
			roles = append(roles, x.role)
		}
		by[x.role] = append(by[x.role], x.subjects...)
	}
	var told []string
	for i, role := range roles {
		if i == maxRolesTold {
			told = append(told, fmt.Sprintf("those of %s", words.Count(len(roles)-i, "more role")))
			break
		}
		slices.Sort(by[role])
		told = append(told, fmt.Sprintf("%s (%s)", words.Shorten(slices.Compact(by[role]), maxSubjectsTold), role))
	}
	return strings.Join(told, "; ")
}
