package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// runningServer serves the cluster of a file of testdata/running, with its Events.
func runningServer(t *testing.T, name string) (*fakeserver.Server, string) {
	t.Helper()
	archive, err := txtar.ParseFile("../../../../testdata/running/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadBytes(name, archive.Files[1].Data, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fake, err := fakeserver.New(read.Objects)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(archive.Files[1].Data), "---\n") {
		if strings.Contains(document, "\nkind: Event\n") {
			fake.Apply(document)
		}
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return fake, server.URL
}

// askedForEvents are the field selectors with which Events were asked for.
func askedForEvents(t *testing.T, fake *fakeserver.Server) []string {
	t.Helper()
	var out []string
	for _, r := range fake.Requests() {
		if !strings.HasSuffix(r.Path, "/events") {
			continue
		}
		if r.Path != "/api/v1/namespaces/ml/events" || r.Watch {
			t.Errorf("asked for %s", r.Path)
		}
		out = append(out, r.Query.Get("fieldSelector"))
	}
	slices.Sort(out)
	return out
}

// TestEventsOfAServer: of a cluster the Events of the pod and of its claim are read, and no others; with them
// the answer is that of the same objects in a file.
func TestEventsOfAServer(t *testing.T) {
	for _, subject := range []string{"pod train-0", "claim train-0-gpu-x7k2p"} {
		fake, url := runningServer(t, "prepare-failed")
		args := append([]string{"explain"}, strings.Fields(subject)...)
		code, stdout, stderr := commandAt(t, "2026-11-22T10:00:00Z", append(args, "-n", "ml", "--server", url)...)
		if code != console.ExitNo || stderr != "" || !strings.Contains(stdout, "could not prepare its device, 9 times") {
			t.Errorf("%s: code %d\n%s%s", subject, code, stdout, stderr)
		}
		want := []string{
			"involvedObject.kind=Pod,involvedObject.namespace=ml,involvedObject.name=train-0,involvedObject.uid=uid-train-0",
			"involvedObject.kind=ResourceClaim,involvedObject.namespace=ml,involvedObject.name=train-0-gpu-x7k2p,involvedObject.uid=uid-train-0-gpu-x7k2p",
		}
		if got := askedForEvents(t, fake); !slices.Equal(got, want) {
			t.Errorf("%s: asked for Events of %q, want %q", subject, got, want)
		}
	}
}

// TestEventsAreReadOnlyToExplain: no other command asks for Events.
func TestEventsAreReadOnlyToExplain(t *testing.T) {
	for _, command := range []string{"get claims -A", "fit claim train-0-gpu-x7k2p -n ml", "explain template one-gpu -n ml", "top --once", "snapshot -o -"} {
		fake, url := runningServer(t, "prepare-failed")
		commandAt(t, "2026-11-22T10:00:00Z", append(strings.Fields(command), "--server", url)...)
		if got := askedForEvents(t, fake); len(got) > 0 || len(fake.Requests()) == 0 {
			t.Errorf("%s: asked for Events of %q in %d requests", command, got, len(fake.Requests()))
		}
	}
}

// TestForbiddenEvents: the answer says that Events could not be read, and is given without them.
func TestForbiddenEvents(t *testing.T) {
	fake, url := runningServer(t, "prepare-failed")
	fake.Inject(fakeserver.Fault{Match: "/events", Do: fakeserver.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no")})
	code, stdout, stderr := commandAt(t, "2026-11-22T10:00:00Z", "explain", "pod", "train-0", "-n", "ml", "--server", url)
	for _, want := range []string{
		"! ml/train-0 has all its devices, but does not run yet: it is starting on", "! cannot list events in namespace ml: what went wrong may be missing here",
	} {
		if code != console.ExitAnswered || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("code %d, want %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	if strings.Contains(stdout, "✓") {
		t.Errorf("a yes that nobody knows:\n%s", stdout)
	}
}

// TestEventsOfFilesBesideACluster: a file of -f may have Events of its own. What is asked about is not in the
// cluster, so none are read there.
func TestEventsOfFilesBesideACluster(t *testing.T) {
	fake, url := runningServer(t, "no-claims")
	file := filepath.Join(t.TempDir(), "pod.yaml")
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {nodeName: gpu-a-01, containers: [{name: c, image: i}]}\n" +
		"status: {phase: Pending, startTime: 2026-11-22T09:50:00Z}\n---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: ml}\n" +
		"involvedObject: {kind: Pod, namespace: ml, name: p}\ntype: Warning\nreason: FailedMount\nmessage: no such volume\n"
	if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := commandAt(t, "2026-11-22T10:00:00Z", "explain", "-f", file, "-n", "ml", "--server", url)
	if got := askedForEvents(t, fake); code != console.ExitNo || len(got) > 0 || !strings.Contains(stdout, "could not mount its volumes") {
		t.Errorf("code %d, asked for Events of %q\n%s%s", code, got, stdout, stderr)
	}
}

// TestUnreadQuotas: where quotas cannot be read, a claim that has not been created may never be, and the
// answer is no yes.
func TestUnreadQuotas(t *testing.T) {
	fake, url := runningServer(t, "quota-left")
	args := []string{"explain", "pod", "train-0", "-n", "ml", "--server", url}
	code, stdout, stderr := commandAt(t, "2026-11-22T10:00:00Z", args...)
	if code != console.ExitAnswered || !strings.Contains(stdout, "✓ ml/train-0 can be scheduled") || stderr != "" {
		t.Errorf("with quotas: code %d\n%s%s", code, stdout, stderr)
	}
	fake.Inject(fakeserver.Fault{Match: "/resourcequotas", Do: fakeserver.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no")})
	code, stdout, _ = commandAt(t, "2026-11-22T10:00:00Z", args...)
	want := "! cannot list resourcequotas at cluster scope or in namespace ml: a quota may"
	if code != console.ExitFailed || strings.Contains(stdout, "✓") || !strings.Contains(stdout, want) {
		t.Errorf("without quotas: code %d, want %q in\n%s", code, want, stdout)
	}
	code, stdout, _ = commandAt(t, "2026-11-22T10:00:00Z", "explain", "pod", "train-0", "-n", "ml", "--server", url, "-o", "jsonpath={.verdict}")
	if code != console.ExitFailed || stdout != "Unknown" {
		t.Errorf("code %d, verdict %q", code, stdout)
	}
}
