package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// command runs a command line, as Main does, until ctx is done.
func command(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errOut clitest.Buffer
	p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, time.Now)
	root := p.root()
	root.SetArgs(args)
	err := execute(ctx, root.ExecuteContext, p.grace.Length)
	p.connection.Plugin.Release()
	code = console.Report(&errOut, err)
	return code, out.String(), errOut.String()
}

// serverOf is an API server with an answer for some paths; the others are not served. With "tls" it speaks
// TLS.
func serverOf(t *testing.T, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if handle := handlers[r.URL.Path]; handle != nil {
			handle(w, r)
			return
		}
		if r.URL.Path == "/version" {
			_, _ = fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that hang up
	if _, tls := handlers["tls"]; tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

const claimsAt = "/apis/resource.k8s.io/v1/resourceclaims"

func discoveryOfClaims(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"resource.k8s.io/v1","resources":[{"name":"resourceclaims","namespaced":true,"kind":"ResourceClaim","verbs":["list","watch"]}]}`)
}

// TestInterruptedCommandsPrintNoAnswer: half of the claims are read when the user interrupts.
func TestInterruptedCommandsPrintNoAnswer(t *testing.T) {
	for _, args := range []string{"get claims -A", "get claims -A -o json", "get devices", "explain claim a -n ml", "fit claim a -n ml", "top --once", "get prioritylevels"} {
		t.Run(args, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			half := func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprint(w, `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"a","namespace":"ml"}}`)
				w.(http.Flusher).Flush()
				cancel()
				<-r.Context().Done()
			}
			server := serverOf(t, map[string]http.HandlerFunc{"/apis/resource.k8s.io/v1": discoveryOfClaims, claimsAt: half, "/metrics": half})
			code, stdout, stderr := command(ctx, append(strings.Fields(args), "--server", server)...)
			if code != console.ExitInterrupted || stdout != "" {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

// TestAnswersThatAreNoListsFail: a server that answers {} has no claims to show, and nothing to say about
// them.
func TestAnswersThatAreNoListsFail(t *testing.T) {
	for name, body := range map[string]string{"empty object": `{}`, "another kind": `{"kind":"ConfigMapList","apiVersion":"v1","items":[]}`} {
		answer := func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) }
		server := serverOf(t, map[string]http.HandlerFunc{"/apis/resource.k8s.io/v1": discoveryOfClaims, claimsAt: answer})
		code, stdout, stderr := command(t.Context(), "get", "claims", "-A", "--server", server)
		if code != console.ExitFailed || stdout != "" || !strings.Contains(stderr, "error: listing resourceclaims.resource.k8s.io: the answer is no ResourceClaimList") {
			t.Errorf("%s: code %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
}

// TestRequestTimeoutCountsFromTheBeginning: a command that follows a cluster does not wait longer for it than
// it was told.
func TestRequestTimeoutCountsFromTheBeginning(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, path := range []string{"/version", "/apis/resource.k8s.io/v1", claimsAt} {
		server := serverOf(t, map[string]http.HandlerFunc{"/apis/resource.k8s.io/v1": discoveryOfClaims, path: silent})
		begin := time.Now()
		code, stdout, stderr := command(t.Context(), "get", "claims", "-A", "--watch", "--request-timeout=200ms", "--server", server)
		if code != console.ExitFailed || stdout != "" || strings.Contains(stderr, "?timeout") {
			t.Errorf("%s: code %d, stdout %q, stderr %q", path, code, stdout, stderr)
		}
		if took := time.Since(begin); took > 30*time.Second { // else it waits until nothing has come for more than a minute
			t.Errorf("%s: it took %v", path, took)
		}
	}
}

// TestPasswordsInAddresses: a user and a password in the address of a server are sent and not shown.
func TestPasswordsInAddresses(t *testing.T) {
	var sent string
	handlers := map[string]http.HandlerFunc{"/version": func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		sent = user + ":" + password
		_, _ = fmt.Fprint(w, "{\"major\":\"1\",\"minor\":\"37\",\"gitVersion\":\"v1.37.1\",\"x\":\"\u009b\u202e\"}")
	}}
	server := serverOf(t, handlers)
	with := strings.Replace(server, "http://", "http://ann:s3cr3t@", 1)
	defer func() { _ = console.ConfigureLog(os.Stderr, 0) }()
	code, stdout, stderr := command(t.Context(), "version", "-v=9", "--server", with)
	if code != console.ExitAnswered || sent != "ann:s3cr3t" {
		t.Errorf("code %d, sent %q: %s", code, sent, stderr)
	}
	if !strings.Contains(stderr, "/version") || strings.Contains(stdout+stderr, "s3cr3t") || strings.ContainsAny(stderr, "\x1b\u009b\u202e") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	for _, address := range []string{"http://ann:s3cr3t@127.0.0.1:1", "http://ann:s3cr3t%zz@127.0.0.1:1", "http://ann:s3/cr3t@@127.0.0.1:1", "https://ann:s3cr3t@[::1"} {
		for _, args := range []string{"version", "get claims", "get claims --watch", "explain claim a", "allocate claim a --yes", "top --once"} {
			code, stdout, stderr := command(t.Context(), append(strings.Fields(args), "-v=9", "--request-timeout=1s", "--server", address)...)
			shown := func(part string) bool { return strings.Contains(stdout+stderr, part) }
			if code != console.ExitFailed || shown("s3cr") || shown("s3/") || shown("cr3t") {
				t.Errorf("%s %s: code %d, stdout %q, stderr %q", args, address, code, stdout, stderr)
			}
		}
	}
}

// kubeconfigWith writes a kubeconfig whose user is a credential plugin: a script.
func kubeconfigWith(t *testing.T, server, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x","clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],
"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],
"users":[{"name":"u","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh","args":["-c",%q],"interactiveMode":"Never"}}}]}`, server, script)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
}

// TestPluginsCannotSteerTheTerminal: what a credential plugin writes to stderr is shown without escape
// sequences.
func TestPluginsCannotSteerTheTerminal(t *testing.T) {
	server := serverOf(t, map[string]http.HandlerFunc{"tls": nil})
	kubeconfigWith(t, server, `printf 'open \033[31mhttps://x\033]0;pwn\007\nPassword: \303\244' >&2; exit 1 # `+server) // client-go keeps what it knows of a command, and where that writes to
	terminal := os.Stderr
	code, _, stderr := command(t.Context(), "version")
	if code != console.ExitFailed || strings.ContainsAny(stderr, "\x1b\x07") || !strings.Contains(stderr, `open \x1b[31mhttps://x`) || !strings.Contains(stderr, "\nPassword: ä") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	if os.Stderr != terminal {
		t.Error("os.Stderr is not as it was")
	}
}

// TestPluginsThatNeverReturn: an interrupt ends a command all the same.
func TestPluginsThatNeverReturn(t *testing.T) {
	server := serverOf(t, map[string]http.HandlerFunc{"tls": nil})
	kubeconfigWith(t, server, `exec sleep 30`) // as good as never
	for _, args := range []string{"get claims", "get claims --watch", "version", "top --once"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		code, stdout, _ := command(ctx, strings.Fields(args)...)
		cancel()
		if took := time.Since(begin); code != console.ExitInterrupted || stdout != "" || took > 15*time.Second {
			t.Errorf("%s: code %d after %v, stdout %q", args, code, took, stdout)
		}
	}
}
