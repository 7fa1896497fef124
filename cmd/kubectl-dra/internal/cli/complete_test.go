package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// completed returns what is offered for the last word of a command line.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	code, stdout, stderr := command(t.Context(), append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	last := lines[len(lines)-1]
	// The line on stderr is cobra's, and scripts of shells do away with it.
	if code != console.ExitAnswered || !strings.HasPrefix(last, ":") || strings.Count(stderr, "\n") > 1 || !strings.HasPrefix(stderr, "Completion ended with directive") {
		t.Errorf("%q: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
	}
	return lines[:len(lines)-1]
}

// TestOfferedWordsArePlain: nothing that files say is offered as it is, if a shell would not take it for a
// word.
func TestOfferedWordsArePlain(t *testing.T) {
	var b strings.Builder
	for i, name := range []string{"$(x)", "`x`", "a b", "-x", "=x", "~x", "a;b", "a\tb", "a\nb", "a'b", `a"b`, `a\b`, "*", "a|b", "{a,b}", "#", "!x", "\x1b[2J", "honest"} {
		quoted := fmt.Sprintf("%q", name)
		fmt.Fprintf(&b, "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n---\n", quoted)
		fmt.Fprintf(&b, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: %s}, spec: {}}\n---\n", quoted)
		fmt.Fprintf(&b, `{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s%d}, spec: {driver: %s, nodeName: n1, pool: {name: %s, generation: 1, resourceSliceCount: 1}, devices: [{name: %s, attributes: {%q: {string: %s}, m: {string: %s}}}]}}`+"\n---\n", i, quoted, quoted, quoted, name+"/x", quoted, quoted)
	}
	path := filepath.Join(t.TempDir(), "hostile.yaml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{{"explain", "claim", ""}, {"cel", "--class", ""}, {"cel", "--driver", ""}} {
		args := append([]string{line[0], "--from", path}, line[1:]...)
		if found := completed(t, args...); len(found) != 1 || found[0] != "honest" {
			t.Errorf("%q: %q", line, found)
		}
	}
	for view, want := range map[string]string{"devices": "honest/honest/honest", "pools": "honest/honest"} {
		if found := completed(t, "get", view, "--from", path, ""); len(found) != 1 || found[0] != want {
			t.Errorf("%q: %q", view, found)
		}
	}
}

// TestCompletionIsGivenUp: a server that accepts connections and never answers, and one that answers without
// end, hold nobody up.
func TestCompletionIsGivenUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	endless := serverOf(t, map[string]http.HandlerFunc{"/api/v1/nodes": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = fmt.Fprint(w, " ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}})
	for _, server := range []string{"http://" + listener.Addr().String(), endless} {
		const patience = 1500 * time.Millisecond
		begun := time.Now()
		found := completed(t, "plan", "drain", "--server", server, "")
		if took := time.Since(begun); len(found) > 0 || took < patience/2 || took > patience+2*time.Minute { // a hang, not a busy machine
			t.Errorf("%s: %q after %v", server, found, took)
		}
	}
}

// TestCompletionAsksForLittle: one request for names, no discovery and no version.
func TestCompletionAsksForLittle(t *testing.T) {
	var asked []string
	table := func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String()) // one request comes after the other
		_, _ = fmt.Fprint(w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Driver"},{"name":"Pool"}],"rows":[{"cells":["a","d","p"]},{"cells":["b","d","q"]}]}`)
	}
	url := serverOf(t, map[string]http.HandlerFunc{
		"/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims": table, "/api/v1/namespaces/ml/pods": table, "/api/v1/nodes": table, "/api/v1/namespaces": table,
		"/apis/resource.k8s.io/v1/resourceslices": table, "/apis/apps/v1/namespaces/ml/deployments": table,
		"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations": table, "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas": table,
	})
	for line, want := range map[string]string{
		"explain claim -n ml SERVER ": "a b", "explain pod -n ml SERVER ": "a b", "plan drain SERVER ": "a b", "get claims SERVER -n ": "a b",
		"cel SERVER --driver ": "d", "plan lose pool SERVER ": "p q", "explain -n ml SERVER deploy/": "deploy/a deploy/b",
		"explain prioritylevel SERVER ": "a b", "get flowschemas SERVER ": "a b", "get pools SERVER ": "d/p d/q", "plan lose device SERVER ": "d/p/ d/q/",
	} {
		asked = nil
		if found := completed(t, strings.Split(strings.Replace(line, "SERVER", "--server="+url, 1), " ")...); strings.Join(found, " ") != want {
			t.Errorf("%s: %q, want %q", line, found, want)
		}
		if len(asked) != 1 || !strings.HasSuffix(asked[0], "?includeObject=None&resourceVersion=0") {
			t.Errorf("%s: asked %q", line, asked)
		}
	}
}
