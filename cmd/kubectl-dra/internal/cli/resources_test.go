package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

const smallCluster = `
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: main, image: i}], resourceClaims: [{name: gpu, resourceClaimName: c}]}}
`

// serverWith is an API server with objects.
func serverWith(t *testing.T, text string) (*fakeserver.Server, string) {
	t.Helper()
	result, err := manifest.ReadBytes("cluster", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fake, err := fakeserver.New(result.Objects)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, server.URL
}

// listed are the resources of which lists were asked for.
func listed(fake *fakeserver.Server) []inspect.Resource {
	var out []inspect.Resource
	for _, r := range fake.Requests() {
		resource := inspect.Resource(path.Base(r.Path))
		if r.Method == "GET" && inspect.KindOf(resource).Name != "" {
			out = append(out, resource)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestWhatIsReadForAQuestion: a question about a pod needs more of the cluster than one about devices.
func TestWhatIsReadForAQuestion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, []byte(smallCluster[strings.LastIndex(smallCluster, "---")+3:]), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]inspect.Resource{
		"explain claim c":                   live.DefaultResources(),
		"fit claim c":                       live.DefaultResources(),
		"allocate claim c --dry-run=client": live.DefaultResources(),
		"explain pod p":                     live.PodResources(),
		"explain -f " + file:                live.PodResources(),
		"allocate pod p --dry-run=client":   live.PodResources(),
	} {
		t.Run(args, func(t *testing.T) {
			fake, url := serverWith(t, smallCluster)
			_, stdout, stderr := command(t.Context(), append(strings.Fields(args), "--server", url)...)
			want = slices.DeleteFunc(slices.Sorted(slices.Values(want)), func(r inspect.Resource) bool {
				return r == inspect.CompositePodGroups // of which discovery says that the server has none
			})
			if diff := cmp.Diff(want, listed(fake)); diff != "" {
				t.Errorf("(-want +got):\n%s%s%s", diff, stdout, stderr)
			}
		})
	}
}

// TestRoleOfTheDocument: the role of docs/rbac/read.yaml permits what is read, and nothing else.
func TestRoleOfTheDocument(t *testing.T) {
	document, err := os.ReadFile("../../../../docs/rbac/read.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(document, &role); err != nil {
		t.Fatal(err)
	}
	var permitted []string
	needed := []string{"/events", "/services", "scheduling.k8s.io/priorityclasses"} // those of pods in files
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			permitted = append(permitted, rule.APIGroups[0]+"/"+resource)
		}
	}
	for _, k := range inspect.Kinds() {
		needed = append(needed, k.Group+"/"+string(k.Resource))
	}
	for _, k := range inspect.OwnerKinds() {
		if !k.IsPodGroup() { // one of the kinds
			needed = append(needed, k.Group+"/"+k.Resource)
		}
	}
	slices.Sort(permitted)
	slices.Sort(needed)
	if diff := cmp.Diff(needed, permitted); diff != "" {
		t.Errorf("(-needed +permitted):\n%s", diff)
	}
}

// TestUnservedPodGroupsAreNotMentioned: most servers have none, and nothing is missing then. Another kind
// would be.
func TestUnservedPodGroupsAreNotMentioned(t *testing.T) {
	for group, want := range map[string]string{fakeserver.Scheduling: "", fakeserver.FlowControl: "does not serve flowschemas"} {
		fake, url := serverWith(t, smallCluster)
		fake.Serve(group)
		_, _, stderr := command(t.Context(), "snapshot", "-o", filepath.Join(t.TempDir(), "s.json.gz"), "--server", url)
		if got := strings.Contains(stderr, "does not serve"); got != (want != "") || !strings.Contains(stderr, want) {
			t.Errorf("%s: %s, want %q", group, stderr, want)
		}
	}
}

// TestIncompleteSnapshot: a snapshot without what the server failed to list is saved where there was none,
// and is a failure. That the user may not list something is none.
func TestIncompleteSnapshot(t *testing.T) {
	for code, want := range map[int]int{http.StatusInternalServerError: 1, http.StatusForbidden: 0} {
		fake, url := serverWith(t, smallCluster)
		reason := metav1.StatusReasonInternalError
		if code == http.StatusForbidden {
			reason = metav1.StatusReasonForbidden
		}
		fake.Inject(fakeserver.Fault{
			Match: "^GET /apis/resource.k8s.io/.*/resourceslices",
			Do:    fakeserver.Refuse(code, reason, "the server says no"),
		})
		file := filepath.Join(t.TempDir(), "s.json.gz")
		got, _, stderr := command(t.Context(), "snapshot", "-o", file, "--server", url)
		if _, err := os.Stat(file); err != nil || got != want || strings.Contains(stderr, "error: the snapshot is incomplete") != (want == 1) {
			t.Errorf("lists answered with %d: exit code %d, want %d; %v, %s", code, got, want, err, stderr)
		}
	}
}
