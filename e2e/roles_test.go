package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// bindRole binds a user to a ClusterRole of docs/rbac.
func bindRole(t *testing.T, c *cluster.Cluster, user, role string) {
	t.Helper()
	c.ApplyText(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: `+user+`-`+role+`},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+role+`},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: `+user+`}]}`)
}

// rolesReads are commands that ask for everything that the role of a reader permits.
func rolesReads(dir string) [][]string {
	return append([][]string{
		{"explain"}, {"explain", "deployment/serve"}, {"explain", "job/batch"}, {"explain", "pvc", "data"},
		{"explain", "request", "--as", "jane", "--verb", "list", "--resource", "pods"}, {"explain", "prioritylevel", "workload-low"},
		{"get", "flowschemas"}, {"get", "extended"}, {"get", "usage"}, {"check"}, {"node", "n1"}, {"top", "--once"}, {"top", "usage", "--once"}, {"top", "changes", "--once"},
		{"plan", "pending"}, {"plan", "deployment/serve"}, {"plan", "drain", "n1"}, {"plan", "make-room", "pod/uses-one"}, {"plan", "nodes", "pending"},
		{"snapshot", "-o", filepath.Join(dir, "s.pb.gz"), "--force"},
		{"allocate", "claim", "one", "--dry-run=client"},
	}, reads...)
}

// workloadsYAML are objects that commands name, besides those that others have.
const workloadsYAML = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: serve}, spec: {replicas: 1, selector: {matchLabels: {app: serve}},
 template: {metadata: {labels: {app: serve}}, spec: {containers: [{name: c, image: i}], resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: batch},
 spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}], resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}}
`

// TestRolesOfTheDocuments: with exactly the role of docs/rbac/read.yaml every command that reads says what it
// says to an admin; allocate and deallocate need that of write.yaml besides, and nothing else.
func TestRolesOfTheDocuments(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"reader", "writer", "auditor"}})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML+"---\n"+workloadsYAML)
	c.ApplyText(t, capacityYAML)
	for _, name := range []string{"read", "write", "audit"} {
		text, err := os.ReadFile(filepath.Join("..", "docs", "rbac", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c.ApplyText(t, string(text))
	}
	for _, user := range []string{"reader", "writer", "auditor"} {
		bindRole(t, c, user, "kubectl-dra-reader")
		awaitPermission(t, c, user, "default", claimsRule("list"), true)
	}
	bindRole(t, c, "writer", "kubectl-dra-writer")
	bindRole(t, c, "auditor", "kubectl-dra-auditor")
	awaitPermission(t, c, "writer", "default", claimsRule("update"), true)
	awaitPermission(t, c, "auditor", "default", rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"list"}}, true)

	for _, args := range rolesReads(t.TempDir()) {
		t.Run(strings.Join(args[:min(2, len(args))], " "), func(t *testing.T) { sameAsAdmin(t, c, "reader", args) })
	}
	t.Run("check of notes", func(t *testing.T) { sameAsAdmin(t, c, "auditor", []string{"check", "--severity", "note"}) })
	t.Run("allocate", func(t *testing.T) { onlyTheWriter(t, c, "allocate", "claim", "one", "--settle", noSettle) })
	t.Run("deallocate", func(t *testing.T) { onlyTheWriter(t, c, "deallocate", "claim", "one") })
}

// sameAsAdmin compares what a user is told with what an admin is.
func sameAsAdmin(t *testing.T, c *cluster.Cluster, user string, args []string) {
	t.Helper()
	told := func(user string) []string {
		r := c.Plugin(t, user, args...)
		if r.Code != 0 && r.Code != 3 {
			t.Errorf("%s: exit code %d, want 0 or 3\n%v", user, r.Code, r)
		}
		return strings.Split(ageless(r.Stdout+r.Stderr), "\n")
	}
	line := strings.Join(args, " ")
	moving := []string{"changes", "explain request", "prioritylevel", "flowschemas"}                                                                // these tell what is being asked at the moment
	if slices.ContainsFunc(moving, func(words string) bool { return strings.Contains(line, words) }) || args[0] == "top" || args[0] == "snapshot" { // and these times and names of files
		for _, line := range told(user) {
			if strings.Contains(line, "cannot list") || strings.Contains(line, "cannot get") || strings.Contains(line, "orbidden") {
				t.Errorf("%s is told %q", user, line)
			}
		}
		return
	}
	if diff := cmp.Diff(told(cluster.Admin), told(user)); diff != "" {
		t.Errorf("%v (-admin +%s):\n%s", args, user, diff)
	}
}

// onlyTheWriter lets the reader try, who may not, and then the writer.
func onlyTheWriter(t *testing.T, c *cluster.Cluster, args ...string) {
	t.Helper()
	args = append(args, "--yes")
	before := resourceVersion(t, c, "one")
	if r := c.Plugin(t, "reader", args...); r.Code != 1 || !strings.Contains(r.Stderr, "you may not") || resourceVersion(t, c, "one") != before {
		t.Errorf("the reader may write, or is not told why not:\n%v", r)
	}
	if r := c.Plugin(t, "writer", args...); r.Code != 0 || resourceVersion(t, c, "one") == before || strings.Contains(r.Stderr, "may not") {
		t.Errorf("the writer may not write, or is told that something is missing:\n%v", r)
	}
}
