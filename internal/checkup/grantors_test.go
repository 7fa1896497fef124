package checkup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

const rbac = "apiVersion: rbac.authorization.k8s.io/v1\n"

// clusterRole, clusterBinding, role and binding are manifests; rules and subjects are YAML in one line.
func clusterRole(name, rules string) string {
	return fmt.Sprintf(rbac+"kind: ClusterRole\nmetadata: {name: %q}\nrules: [%s]", name, rules)
}

func clusterBinding(name, role, subjects string) string {
	return fmt.Sprintf(rbac+"kind: ClusterRoleBinding\nmetadata: {name: %q}\nroleRef: {kind: ClusterRole, name: %q}\nsubjects: [%s]", name, role, subjects)
}

func role(name, rules string) string {
	return fmt.Sprintf(rbac+"kind: Role\nmetadata: {namespace: ml, name: %q}\nrules: [%s]", name, rules)
}

func binding(name, kind, role, subjects string) string {
	return fmt.Sprintf(rbac+"kind: RoleBinding\nmetadata: {namespace: ml, name: %q}\nroleRef: {kind: %s, name: %q}\nsubjects: [%s]", name, kind, role, subjects)
}

const (
	jane     = "{kind: User, name: jane}"
	ops      = "{kind: Group, name: ops}"
	bot      = "{kind: ServiceAccount, namespace: ci, name: bot}"
	masters  = "{kind: Group, name: 'system:masters'}"
	patching = "{apiGroups: [''], resources: [namespaces], verbs: [patch]}"
)

// grantable is what is said of RBAC objects, as of a server that has no others.
func grantable(t *testing.T, unread []string, objects ...string) (said []string, report *checkup.Report) {
	t.Helper()
	s, opts := read(t, "", append([]string{healthy(t)}, objects...)...)
	opts.Only = []checkup.Code{"AdminAccessGrantable"}
	opts.Access.Given, opts.Access.Unread = false, unread
	report = mustRun(t, s, opts)
	for _, f := range report.Findings {
		said = append(said, f.Message())
	}
	return said, report
}

// TestGrantors checks who may label namespaces, rule by rule as the authorizer of the API server reads them.
func TestGrantors(t *testing.T) {
	all := func(who string) []string { return []string{"all namespaces: they can be labelled by " + who} }
	one := func(who string) []string { return []string{"Namespace ml: it can be labelled by " + who} }
	rule := func(rules string) []string { return []string{clusterRole("r", rules), clusterBinding("b", "r", jane)} }
	inside := func(rules string) []string { return []string{role("r", rules), binding("b", "Role", "r", bot)} }
	for name, test := range map[string]struct {
		objects []string
		want    []string
	}{
		"patch":                   {rule(patching), all("user jane (r)")},
		"update":                  {rule("{apiGroups: [''], resources: [pods, namespaces], verbs: [get, update]}"), all("user jane (r)")},
		"everything":              {rule("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"), all("user jane (r)")},
		"reading only":            {rule("{apiGroups: [''], resources: [namespaces], verbs: [get, list, watch, delete]}"), nil},
		"another group":           {rule("{apiGroups: [apps], resources: [namespaces], verbs: [patch]}"), nil},
		"another resource":        {rule("{apiGroups: [''], resources: [pods], verbs: [patch]}"), nil},
		"verbs of different rule": {rule("{apiGroups: [''], resources: [namespaces], verbs: [get]}, {apiGroups: [''], resources: [pods], verbs: [patch]}"), nil},
		"create":                  {rule("{apiGroups: [''], resources: [namespaces], verbs: [create]}"), []string{"new namespaces: they can be created with the label by user jane (r)"}},
		"create by name":          {rule("{apiGroups: [''], resources: [namespaces], resourceNames: [ml], verbs: [create]}"), nil},
		"one by name":             {rule("{apiGroups: [''], resources: [namespaces], resourceNames: [ml], verbs: [patch]}"), one("user jane (r)")},
		"status":                  {rule("{apiGroups: [''], resources: [namespaces/status], verbs: [patch]}"), all("user jane (r)")},
		"any status":              {rule("{apiGroups: [''], resources: ['*/status'], verbs: [update]}"), all("user jane (r)")},
		"finalize":                {rule("{apiGroups: [''], resources: [namespaces/finalize], verbs: [update]}"), all("user jane (r)")},
		"finalize is not patched": {rule("{apiGroups: [''], resources: [namespaces/finalize], verbs: [patch]}"), nil},
		"within":                  {inside(patching), one("service account ci/bot (Role r)")},
		"within by name":          {inside("{apiGroups: [''], resources: [namespaces], resourceNames: [ml], verbs: [update]}"), one("service account ci/bot (Role r)")},
		"within, another name":    {inside("{apiGroups: [''], resources: [namespaces], resourceNames: [other], verbs: [update]}"), nil},
		"within, create":          {inside("{apiGroups: [''], resources: [namespaces], verbs: [create]}"), nil},
		"cluster role within":     {[]string{clusterRole("r", patching), binding("b", "ClusterRole", "r", ops)}, one("group ops (r)")},
		"role of the same name":   {[]string{clusterRole("r", patching), binding("b", "Role", "r", ops)}, nil},
		"no such role":            {[]string{clusterBinding("b", "gone", jane)}, nil},
		"nobody":                  {[]string{clusterRole("r", patching), clusterBinding("b", "r", "")}, nil},
		"built in": {
			[]string{clusterRole("cluster-admin", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"), clusterBinding("cluster-admin", "cluster-admin", masters)},
			all("nobody but those that every cluster has: group system:masters (cluster-admin)"),
		},
		"besides built in": {
			[]string{
				clusterRole("cluster-admin", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"), clusterBinding("cluster-admin", "cluster-admin", masters+", "+jane), clusterBinding("ops", "cluster-admin", ops),
				clusterRole("system:controller:gc", patching), clusterBinding("gc", "system:controller:gc", "{kind: ServiceAccount, namespace: kube-system, name: gc}, "+bot), clusterRole("a", patching), clusterBinding("z", "a", jane),
			},
			all("user jane (a); group ops, user jane (cluster-admin); service account ci/bot (system:controller:gc)"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			said, report := grantable(t, nil, test.objects...)
			if diff := cmp.Diff(test.want, said); diff != "" || len(report.Skipped) > 0 {
				t.Errorf("(-want +got):\n%s%s", diff, found(report))
			}
		})
	}
}

// TestGrantorsPartly: what could not be read is told beside what was, and that a role of files is missing.
func TestGrantorsPartly(t *testing.T) {
	objects := []string{clusterRole("r", patching), clusterBinding("b", "r", jane), clusterBinding("c", "cluster-admin", ops), clusterBinding("d", "elsewhere", bot)}
	said, report := grantable(t, []string{"cannot list roles.rbac.authorization.k8s.io"}, objects...)
	if len(said) != 1 || len(report.Skipped) != 1 || report.Skipped[0].Why != "not everybody who may label namespaces is known (cannot list roles.rbac.authorization.k8s.io)" {
		t.Errorf("found\n%s", found(report))
	}
	report = run(t, "", append([]string{healthy(t)}, objects...)...)
	const want = "note AdminAccessGrantable all namespaces: they can be labelled by group ops (cluster-admin); user jane (r) [ClusterRoleBinding/c ClusterRoleBinding/b]\n" +
		"    ClusterRoleBinding c gives cluster-admin to group ops\n    ClusterRoleBinding b gives r to user jane\n" +
		"skipped AdminAccessGrantable: not everybody who may label namespaces is known (a role that is bound is not given: ClusterRole elsewhere)\n"
	if got := found(report); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if s, opts := read(t, "", healthy(t)); opts.Access != nil || strings.Contains(found(mustRun(t, s, opts)), "Grantable") {
		t.Error("something is said of who may grant, and nothing of that was read")
	}
}

// TestManyGrantors: a long list is shortened; the evidence has all.
func TestManyGrantors(t *testing.T) {
	var objects, subjects []string
	for i := range 6 {
		subjects = append(subjects, fmt.Sprintf("{kind: User, name: u%d}", i))
		objects = append(objects, clusterRole(fmt.Sprintf("r%d", i), patching), clusterBinding(fmt.Sprintf("b%d", i), fmt.Sprintf("r%d", i), strings.Join(subjects, ", ")))
	}
	_, report := grantable(t, nil, objects...)
	const want = "they can be labelled by user u0 (r0); user u0, user u1 (r1); user u0, user u1, user u2 (r2); user u0, user u1, user u2, user u3 (r3); those of 2 more roles"
	if len(report.Findings) != 1 || report.Findings[0].Detail != want || len(report.Findings[0].Evidence) != 6 {
		t.Errorf("found\n%s", found(report))
	}
}

// TestWantsAccess: RBAC is only read where something is looked for that needs it.
func TestWantsAccess(t *testing.T) {
	for _, test := range []struct {
		opts checkup.Options
		want bool
	}{
		{checkup.Options{Severity: checkup.Note}, true},
		{checkup.Options{Severity: checkup.Warning}, false},
		{checkup.Options{Severity: checkup.Note, Files: true}, false},
		{checkup.Options{Severity: checkup.Note, Ignore: []checkup.Code{"AdminAccessGrantable"}}, false},
		{checkup.Options{Severity: checkup.Note, Only: []checkup.Code{"PoolStale"}}, false},
	} {
		if got := test.opts.WantsAccess(); got != test.want {
			t.Errorf("%+v: %v", test.opts, got)
		}
	}
}

// TestGrantorsOfNamespace: what is asked of one namespace is told of it, also where a binding of the whole
// cluster names it.
func TestGrantorsOfNamespace(t *testing.T) {
	const named = "{apiGroups: [''], resources: [namespaces], resourceNames: [ml, infer], verbs: [patch]}"
	s, opts := read(t, "", healthy(t), clusterRole("r", named), clusterBinding("b", "r", jane))
	opts.Namespace, opts.Only = "infer", []checkup.Code{"AdminAccessGrantable"}
	const want = "note AdminAccessGrantable Namespace infer: it can be labelled by user jane (r) [ClusterRoleBinding/b Namespace/infer]\n    ClusterRoleBinding b gives r to user jane\n"
	if got := found(mustRun(t, s, opts)); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
}
