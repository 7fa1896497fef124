package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
)

// localYAML lets a user allocate in one namespace, and make DeviceTaintRules; the claims of others it may
// only read.
const localYAML = `
{apiVersion: v1, kind: Namespace, metadata: {name: tenants}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: local-reads}, rules: [
  {apiGroups: ["", resource.k8s.io], resources: ["*"], verbs: [get, list, watch]},
  {apiGroups: [resource.k8s.io], resources: [resourceclaims/binding], verbs: [update]},
  {apiGroups: [resource.k8s.io], resources: [devicetaintrules], verbs: [create, delete]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: local-reads},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: local-reads},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: local}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: local-writes, namespace: default}, rules: [
  {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaims/status], verbs: [update]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: local-writes, namespace: default},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: local-writes},
 subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: local}]}
`

const local = "local" // the user of localYAML

// prepareLocal makes the user and the namespace of the tenants.
func (f *fight) prepareLocal(t *testing.T) {
	t.Helper()
	f.ApplyText(t, localYAML)
	client, err := kubernetes.NewForConfig(f.Config(local))
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(ctx context.Context) error { // the authorizer learns of roles a moment later
		_, err := client.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
		return err
	})
}

// tenants has somebody who may only annotate claims of another namespace announce every device: once, once in
// a way that cannot be read, and anew twice a second, in the name of nobody or of a run that is at work. It
// returns what ends that.
func (f *fight) tenants(t *testing.T) (stop func()) {
	t.Helper()
	for _, name := range []string{"static", "malformed", "refreshed"} {
		f.ApplyText(t, strings.Replace(claimYAML(name), "name: "+name, "namespace: tenants, name: "+name, 1))
	}
	numbers := []string{"0", "", "zzz", "5"}
	random := rand.New(rand.NewPCG(f.random.Uint64(), 0))
	number := numbers[random.IntN(len(numbers))]
	if random.IntN(2) == 0 {
		number, numbers = "zzz", []string{"zzz"} // all runs go before that: they need not wait, but remove it, or may not
	}
	f.forge(t, "static", forgery(number))
	f.forge(t, "malformed", strings.TrimSuffix(forgery("0"), "}"))
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(500 * time.Millisecond):
			}
			next := numbers[random.IntN(len(numbers))]
			if len(numbers) > 1 {
				next = f.runAtWork(t, next)
			}
			f.forge(t, "refreshed", forgery(next))
		}
	})
	return func() { close(end); done.Wait() }
}

// runAtWork is the number of a run that has announced something, or otherwise.
func (f *fight) runAtWork(t *testing.T, otherwise string) string {
	for _, claim := range f.all(t) {
		if a := commit.AnnouncementOn(&claim); a != nil && a.Run != "" {
			return a.Run
		}
	}
	return otherwise
}

// forgery is an announcement of every device.
func forgery(number string) string {
	a := &commit.Announcement{Run: number, Action: commit.Allocating, By: fmt.Sprint("tenant \x1b[31m ", time.Now().UnixNano())}
	for i := range fightDevices {
		a.Devices = append(a.Devices, commit.AnnouncedDevice{Driver: "gpu.example.com", Pool: "arena", Device: fmt.Sprint("gpu-", i)})
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // of constants
	}
	return string(text)
}

func (f *fight) forge(t *testing.T, name, text string) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{commit.Annotation: text}}})
	if err == nil {
		_, err = f.Client().ResourceV1().ResourceClaims("tenants").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		t.Error(err)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.counts["announcements forged"]++
}

// unforged makes sure that the last run cleared away what the tenants wrote.
func (f *fight) unforged(t *testing.T) {
	t.Helper()
	list, err := f.Client().ResourceV1().ResourceClaims("tenants").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range list.Items {
		if len(claim.Annotations) > 0 || claim.Status.Allocation != nil {
			t.Errorf("claim %s of a tenant is left with annotations %v and allocation %v", claim.Name, claim.Annotations, claim.Status.Allocation)
		}
	}
}

// faultyServer is the API server for a user, but once something was written, one in four lists of
// DeviceTaintRules fails: so a run that begins again may have a partial view.
func (f *fight) faultyServer(t *testing.T, user string, first int64) (address string, stop func()) {
	t.Helper()
	config := f.Config(user) // without TLS the plugin does not say who it is
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	var written, asked atomic.Int64
	asked.Store(first)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			written.Add(1)
		}
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/devicetaintrules") && written.Load() > 0 && asked.Add(1)%4 == 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"reason":"InternalError","message":"a fault"}`) // the client says so
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	return server.URL, func() { server.CloseClientConnections(); server.Close() }
}

// promptReplaced asks whether a claim is to be deallocated, replaces it by another one of that name while the
// question stands, and answers yes: the other one must keep its device.
func (f *fight) promptReplaced(t *testing.T, name string) {
	t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		return // there is no program to get a pseudo terminal from
	}
	plugin := f.Command(t, cluster.Admin, "deallocate", "claim", name)
	cmd := exec.CommandContext(t.Context(), script, "-qfec", "exec "+strings.Join(plugin.Args, " "), "/dev/null")
	cmd.Env, cmd.Dir = append(plugin.Env, "TERM=xterm"), plugin.Dir
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(context.Context) error {
		if !strings.Contains(out.String(), "[y/N]") {
			return fmt.Errorf("there is no question: %s", out.String())
		}
		return nil
	})
	f.RemoveClaim(t, "default", name)
	f.ApplyText(t, claimYAML(name))
	if result := f.Plugin(t, cluster.Admin, "allocate", "claim", name, "--yes", "--settle", noSettle); result.Code != 0 {
		t.Errorf("%v", result)
	}
	if _, err := io.WriteString(keys, "y\n"); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	f.counts["claims replaced while somebody was asked"]++
	if err == nil || !strings.Contains(out.String(), "was replaced by another one of that name after it was shown") {
		t.Errorf("a claim that was replaced: %v\n%s", err, out.String())
	}
	if f.Claim(t, "default", name).Status.Allocation == nil {
		f.counts["wrong writes"]++
		t.Error("another claim was cleared than the one that was confirmed")
	}
}

// lockedBuffer is written to by a process while it is read.
type lockedBuffer struct {
	mutex sync.Mutex
	b     bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.String()
}
