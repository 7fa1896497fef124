package cli

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

const flowControl = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: batch, uid: uid-of-batch}
spec: {type: Limited, limited: {nominalConcurrencyShares: 35, limitResponse: {type: Reject}}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: jobs, uid: uid-of-jobs}
spec:
  matchingPrecedence: 600
  priorityLevelConfiguration: {name: batch}
  rules: [{subjects: [{kind: User, user: {name: "*"}}], resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: [pods], namespaces: [ml]}]}]
`

// asked is a request that a server got in somebody's name.
type asked struct{ method, uri, user, groups string }

// verifying is a server with flow control that answers requests at versions which it does not serve as
// classify says.
func verifying(t *testing.T, classify http.HandlerFunc) (address string, requests func() []asked) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	result, err := manifest.ReadBytes("cluster", []byte(flowControl), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fake, err := fakeserver.New(result.Objects)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user := r.Header.Get("Impersonate-User"); user != "" {
			mu.Lock()
			seen = append(seen, asked{r.Method, r.URL.RequestURI(), user, strings.Join(r.Header["Impersonate-Group"], ",")})
			mu.Unlock()
			classify(w, r)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []asked {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// TestVerify: the cluster is read as oneself, and one request is sent in the name of the user, at a version
// that nobody serves. What the server says of it decides.
func TestVerify(t *testing.T) {
	says := func(status int, schema, level string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Kubernetes-PF-FlowSchema-UID", schema)
			w.Header().Set("X-Kubernetes-PF-PriorityLevel-UID", level)
			w.WriteHeader(status)
		}
	}
	const pods, list = "--verb get --resource pods --name a -n ml", "--verb list --resource pods"
	for name, test := range map[string]struct {
		ask            string
		classify       http.HandlerFunc
		code           int
		stdout, stderr string
		sent           asked
	}{
		"the same": {pods, says(404, "uid-of-jobs", "uid-of-batch"), 0, "Verified    the server says the same (it answered 404)", "",
			asked{"GET", "/api/v0kubectldra/namespaces/ml/pods/a", "jane", "dev"}},
		"the same, made up and refused": {list, says(403, "", ""), 0, "Verified    the server says the same (it answered 403)", "",
			asked{"GET", "/api/v0kubectldra/pods", "jane", "dev"}},
		"another": {list, says(404, "uid-of-jobs", "uid-of-batch"), 1, "Verified    NOT: the server says FlowSchema jobs and priority level batch",
			"error: the server classifies the request otherwise: FlowSchema jobs and priority level batch", asked{"GET", "/api/v0kubectldra/pods", "jane", "dev"}},
		"not permitted": {list, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "users \"jane\" cannot be impersonated\x1b[2J", http.StatusForbidden)
		}, 1,
			"Verified    not: the server did not say (it answered 403)", `error: the server did not say where the request goes (status 403): users "jane" cannot be impersonated [2J`,
			asked{"GET", "/api/v0kubectldra/pods", "jane", "dev"}},
		"a URL": {"--url /version?a=b", says(200, "", ""), 0, "Verified    the server says the same", "", asked{"GET", "/version?a=b", "jane", "dev"}},
	} {
		t.Run(name, func(t *testing.T) {
			address, requests := verifying(t, test.classify)
			args := append([]string{"explain", "request", "--as", "jane", "--as-group", "dev", "--verify", "--server", address}, strings.Fields(test.ask)...)
			code, stdout, stderr := command(t.Context(), args...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d\n%s%s", code, stdout, stderr)
			}
			if !strings.Contains(strings.Join(strings.Fields(stdout), " "), "how busy the level is, is not known") {
				t.Errorf("the server has no metrics, and nobody says so:\n%s", stdout)
			}
			if seen := requests(); len(seen) != 1 || seen[0] != test.sent {
				t.Errorf("sent in her name: %v, want %v", seen, test.sent)
			}
		})
	}
	address, requests := verifying(t, says(200, "", ""))
	if code, stdout, stderr := command(t.Context(), "explain", "request", "--as", "jane", "--verb", "create", "--resource", "pods", "--verify", "--server", address); code != 2 || len(requests()) > 0 {
		t.Errorf("a write: code %d, sent %v\n%s%s", code, requests(), stdout, stderr)
	}
}
