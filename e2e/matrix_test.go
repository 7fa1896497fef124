package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// matrixGolden is what every user sees and is told. KUBECTL_DRA_E2E_UPDATE=1 writes it again, to be read
// line by line before it is committed.
const matrixGolden = "testdata/permissions.golden"

// rolesYAML is what the users of the matrix may do. The operator has everything that allocate needs but
// resourceclaims/binding, which Kubernetes asks for since 1.36.
const rolesYAML = `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: viewer}, rules: [
  {apiGroups: ["", resource.k8s.io, flowcontrol.apiserver.k8s.io, storage.k8s.io, scheduling.k8s.io], resources: ["*"], verbs: [get, list, watch]},
  {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [get, list, watch]},
  {apiGroups: [""], resources: [limitranges], verbs: [get, list, watch]},
  {nonResourceURLs: [/metrics], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: viewer},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: viewer},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: viewer}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: operator}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: tenant, namespace: default}, rules: [
  {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaimtemplates], verbs: [get, list, watch, update]},
  {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: tenant, namespace: default},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: operator}, rules: [
  {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaims/status], verbs: [update, patch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: operator},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: operator},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: operator}]}
`

// TestPermissionMatrix runs every command as four users and holds what they see and are told against a
// table. What a user may not see must be named, and nothing may be written without every permission.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	users := []string{cluster.Admin, "viewer", "tenant", "operator"}
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: users[1:]})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML)
	c.ApplyText(t, capacityYAML)
	c.ApplyText(t, rolesYAML)
	for _, user := range users[1:] {
		awaitPermission(t, c, user, "default", claimsRule("list"), true)
	}
	for _, user := range []string{"tenant", "operator"} {
		awaitPermission(t, c, user, "default", claimsRule("update"), true)
	}
	commands := append(append([][]string{}, reads...), []string{"snapshot", "-o", filepath.Join(t.TempDir(), "s"), "--force"},
		[]string{"allocate", "claim", "one", "--dry-run=client"}, []string{"allocate", "claim", "one", "--dry-run=server"})
	var b strings.Builder
	for _, args := range commands {
		name := args[0] + " " + args[1]
		switch args[0] {
		case "snapshot":
			name = args[0]
		case "allocate":
			name += " " + args[3]
		}
		for _, user := range users {
			matrixLine(&b, name, user, c.Plugin(t, user, args...))
		}
	}
	for _, user := range []string{"viewer", "tenant", "operator", cluster.Admin} { // the only one who may goes last
		before := resourceVersion(t, c, "one")
		result := c.Plugin(t, user, "allocate", "claim", "one", "--yes", "--settle", noSettle)
		matrixLine(&b, "allocate claim", user, result)
		if changed := resourceVersion(t, c, "one") != before; changed != (result.Code == 0) {
			t.Errorf("the claim has changed: %v\n%v", changed, result)
		}
	}
	compareGolden(t, b.String())
}

// matrixLine writes one cell of the table: exit code, the number of lines of the answer, and what the user
// is told.
func matrixLine(b *strings.Builder, command, user string, result cluster.Result) {
	fmt.Fprintf(b, "%s, as %s: exit code %d, %d lines\n", command, user, result.Code, strings.Count(result.Stdout, "\n"))
	for line := range strings.Lines(result.Stderr) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), " to /") // a temporary file
		b.WriteString("    " + ageless(line) + "\n")
	}
}

// claimsRule permits something with claims.
func claimsRule(verb string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaims"}, Verbs: []string{verb}}
}

func resourceVersion(t *testing.T, c *cluster.Cluster, claim string) string {
	t.Helper()
	return c.Claim(t, "default", claim).ResourceVersion
}

func compareGolden(t *testing.T, got string) {
	t.Helper()
	if os.Getenv("KUBECTL_DRA_E2E_UPDATE") != "" {
		if err := os.WriteFile(matrixGolden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matrixGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", matrixGolden, diff)
	}
}
