package replay

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubeconfig returns the variable that makes programs ask a server.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: replay, cluster: {server: %q}}]\ncontexts: [{name: replay, context: {cluster: replay, namespace: team-07}}, {name: other, context: {cluster: replay}}]\ncurrent-context: replay\n", url)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return "KUBECONFIG=" + path
}

// TestTab types commands and presses TAB, against a server and the demo cluster, through kubectl and without
// it.
func TestTab(t *testing.T) {
	server, err := New(50)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(server.ServeHTTP))
	t.Cleanup(web.Close)
	eachShell(t, []string{kubeconfig(t, web.URL)}, func(t *testing.T, s *shell) {
		for _, tt := range []struct {
			line string
			// becomes is the line after TAB, if there is one way on; else offers are words that are shown.
			becomes, offers string
		}{
			{"kubectl dra expl", "kubectl dra explain", ""},
			{"kubectl-dra expl", "kubectl-dra explain", ""},
			{"kubectl dra explain claim train-0000", "", "train-00007-0 train-00007-3"},
			{"kubectl dra explain claim -n team-08 train-00008-", "", "train-00008-0 train-00008-3"},
			{"kubectl dra explain pod/train-00007-", "", "train-00007-0 train-00007-3"},
			{"kubectl dra get claims -n team-1", "", "team-10 team-19"},
			{"kubectl dra get claims --context o", "kubectl dra get claims --context other", ""},
			{"kubectl dra explain claim x --node node-0001", "", "node-00010 node-00019"},
			{"kubectl dra cel --driver g", "kubectl dra cel --driver gpu.example.com", ""},
			{"kubectl dra cel --class g", "kubectl dra cel --class gpu", ""},
			{"kubectl dra plan lose device gpu.example.com/node-00012/gpu-", "", "gpu.example.com/node-00012/gpu-0 gpu.example.com/node-00012/gpu-7"},
			{"kubectl dra check --only PoolInc", "kubectl dra check --only PoolIncomplete", ""},
			{"kubectl dra explain request --as system:kube-s", "kubectl dra explain request --as system:kube-scheduler", ""},
			{"kubectl dra explain request --verb w", "kubectl dra explain request --verb watch", ""},
			{"kubectl dra explain claim x --features DRAAdminAccess=f", "kubectl dra explain claim x --features DRAAdminAccess=false", ""},
			{"kubectl dra explain claim --demo -n ml train-", "", "train-0 train-1"},
		} {
			s.tab(t, tt.line, tt.becomes+tt.offers, func(screen string) bool {
				if tt.becomes != "" {
					return strings.HasPrefix(typed(screen), tt.becomes)
				}
				for _, word := range strings.Split(tt.offers, " ") {
					if !offers(offered(screen), word) {
						return false
					}
				}
				return true
			})
		}
	})
}

// offers reports whether a word is on the screen, as a whole or, as fish shows long ones, without its
// beginning.
func offers(screen, word string) bool {
	if strings.Contains(screen, word) {
		return true
	}
	const least = 4 // characters
	for i := range max(0, len(word)-least) {
		if strings.Contains(screen, "…"+word[i+1:]) {
			return true
		}
	}
	return false
}
