package live_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// everything answers all requests alike.
func everything(t *testing.T, handle http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestServerThatCannotBeAsked(t *testing.T) {
	tlsServer := httptest.NewUnstartedServer(newFake())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are what is tested
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	plain := newFake().start(t)

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closedAddress := "https://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		config  *rest.Config
		cause   live.Cause
		message string
	}{
		"nothing listens": {&rest.Config{Host: closedAddress}, live.Unreachable, "connection refused; check that the server runs"},
		"no such host":    {&rest.Config{Host: "https://no-such-host.invalid"}, live.Unreachable, "no-such-host.invalid"},
		"unknown authority": {&rest.Config{Host: tlsServer.URL}, live.Untrusted,
			"certificate signed by unknown authority; check the server address and its certificate authority"},
		"server speaks plain HTTP": {&rest.Config{Host: strings.Replace(plain.Host, "http:", "https:", 1)}, live.Untrusted,
			"server gave HTTP response to HTTPS client"},
		"bad credentials": {everything(t, func(w http.ResponseWriter, _ *http.Request) {
			answerStatus(w, http.StatusUnauthorized, "Unauthorized")
		}), live.Unauthenticated, "the server refused the credentials (401 Unauthorized); log in again"},
		"login helper is missing": {&rest.Config{Host: tlsServer.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
			ExecProvider: &clientcmdapi.ExecConfig{Command: "no-such-login-helper", APIVersion: "client.authentication.k8s.io/v1",
				InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}, live.Unauthenticated, "no-such-login-helper"},
		"connection is dropped": {everything(t, func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		}), live.Unreachable, "EOF; check that the server runs"},
		"a web page answers": {everything(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>please log in</html>"))
		}), live.NotKubernetes, "does not answer as a Kubernetes API server"},
		"a server without these paths": {everything(t, http.NotFound), live.NotKubernetes, "does not answer as a Kubernetes API server"},
		"every list fails": {everything(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/version" {
				answerJSON(w, newFake().version)
				return
			}
			answerStatus(w, http.StatusInternalServerError, "etcdserver: leader changed")
		}), live.Failing, "etcdserver: leader changed; check the API server and its etcd"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := live.Read(t.Context(), c.config, live.Options{})
			var failure *live.ServerError
			if !errors.As(err, &failure) {
				t.Fatalf("error %v, want a ServerError", err)
			}
			if failure.Cause != c.cause || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%s: %v\nwant %s: … %s …", failure.Cause, err, c.cause, c.message)
			}
			if !strings.HasPrefix(err.Error(), "reading "+c.config.Host+": ") || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q does not name the server on one line", err)
			}
		})
	}
}

func TestRequestTimeout(t *testing.T) {
	f := newFake()
	f.override[podsPath] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	config := f.start(t)
	var err error
	for _, config.Timeout = range slower(100 * time.Millisecond) {
		_, err = live.Read(t.Context(), config, live.Options{})
		var failure *live.ServerError
		if errors.As(err, &failure) && failure.Cause == live.TimedOut && strings.Contains(err.Error(), "raise --request-timeout") {
			return
		}
	}
	t.Errorf("error %v, want one that says to raise the timeout", err)
}

func TestDeadlineOfTheCallerIsNotTheServersFault(t *testing.T) {
	f := newFake()
	f.override[podsPath] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := live.Read(ctx, f.start(t), live.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*live.ServerError)) {
		t.Errorf("error %v, want the deadline of the caller", err)
	}
}

func TestCredentialsInTheAddressAreNotShown(t *testing.T) {
	_, err := live.Read(t.Context(), &rest.Config{Host: "https://user:hunter2@127.0.0.1:1"}, live.Options{})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v shows the password or is missing", err)
	}
}

// client-go logs an answer that breaks off, which for a command line tool is noise on standard error
// beside the error that says the same.
func TestBrokenAnswersAreNotLogged(t *testing.T) {
	f := newFake()
	f.override[podsPath] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("{"))
	}
	var mu sync.Mutex
	var log strings.Builder
	logger := funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		log.WriteString(prefix + args + "\n")
	}, funcr.Options{Verbosity: 8})
	ctx := klog.NewContext(t.Context(), logger.WithName("test"))
	cluster, err := live.Read(ctx, f.start(t), live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h := cluster.Health[inspect.Pods]; h.State != inspect.Broken || !strings.Contains(h.Message, "unexpected EOF") {
		t.Errorf("pods: %+v, want Broken", h)
	}
	if strings.Contains(log.String(), "Unexpected error") {
		t.Errorf("the error was logged as well:\n%s", &log)
	}
	if !strings.Contains(log.String(), "Response Body") {
		t.Errorf("the requests are not in the log:\n%s", &log)
	}
}
