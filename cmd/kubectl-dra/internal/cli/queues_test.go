package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// TestWithoutKueue: a cluster without Kueue is asked for nothing but whether it has it, and no answer
// mentions it.
func TestWithoutKueue(t *testing.T) {
	for _, args := range []string{"explain pod p", "explain claim c", "explain", "check", "plan pending", "get claims", "snapshot -o " + os.DevNull} {
		fake, url := serverWith(t, smallCluster)
		_, stdout, stderr := command(t.Context(), append(strings.Fields(args), "--server", url)...)
		if strings.Contains(strings.ToLower(stdout+stderr), "kueue") || strings.Contains(stdout+stderr, "limitranges") {
			t.Errorf("%s mentions Kueue:\n%s%s", args, stdout, stderr)
		}
		for _, r := range fake.Requests() {
			discovery := strings.HasPrefix(r.Path, "/apis/kueue.x-k8s.io/v1beta") && strings.Count(r.Path, "/") == 3
			if strings.Contains(r.Path, "kueue") && !discovery || strings.Contains(r.Path, "limitranges") {
				t.Errorf("%s asks for %s", args, r.Path)
			}
		}
	}
}

// TestFaultsOfQueues: where a list of Kueue may not be read, fails, is broken or is not served, every command
// answers, a yes is no longer one, and what is missing is named.
func TestFaultsOfQueues(t *testing.T) {
	archive, err := txtar.ParseFile("../../testdata/script/queuesquota.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, cluster := t.TempDir(), ""
	for _, f := range archive.Files {
		if f.Name == "cluster.yaml" {
			cluster = string(f.Data)
		}
		text := strings.ReplaceAll(string(f.Data), "queue-name: full", "queue-name: large")
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults := map[string]fakeserver.Answer{
		"forbidden": fakeserver.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "the server says no"),
		"failing":   fakeserver.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, "the server says no"),
		"no JSON":   fakeserver.JSON(`{"kind": "List", "items": [ {]`),
	}
	ask := func(t *testing.T, url, args string) (int, string) {
		t.Helper()
		code, stdout, stderr := command(t.Context(), append(strings.Fields(args), "--server", url, "--kueue-config", filepath.Join(dir, "kueue.yaml"))...)
		return code, stdout + stderr
	}
	yes := "explain -f " + filepath.Join(dir, "held.yaml")
	_, url := serverWith(t, cluster)
	if code, text := ask(t, url, yes); code != console.ExitAnswered || !strings.Contains(text, "is about to be admitted") {
		t.Fatalf("without a fault: %d, %s", code, text)
	}
	for name, answer := range faults {
		for _, resource := range live.KueueResources() {
			t.Run(name+" "+string(resource), func(t *testing.T) {
				fake, url := serverWith(t, cluster)
				fake.Inject(fakeserver.Fault{Match: "^GET /api.*/" + string(resource) + `(\?|$)`, Do: answer})
				if code, text := ask(t, url, yes); code == console.ExitAnswered || !strings.Contains(text, string(resource)) && !strings.Contains(text, "LimitRanges") {
					t.Errorf("a yes, or nothing is said of it: %d, %s", code, text)
				}
				for _, args := range []string{"get queues -A", "get workloads -A", "explain queue large -n ml", "explain clusterqueue strict"} {
					if code, text := ask(t, url, args); code == console.ExitAnswered && !strings.Contains(text, string(resource)) {
						t.Errorf("%s: %d, and nothing is said of it:\n%s", args, code, text)
					}
				}
			})
		}
	}
}
