package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// faults is a transport that can be told to fail, and to cut the watches that are open.
type faults struct {
	http.RoundTripper
	mu   sync.Mutex
	code int // answers every request with it; 0 passes requests on
	open map[*cuttable]bool
}

type cuttable struct {
	io.ReadCloser
	of *faults
}

func (c *cuttable) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.ReadCloser.Close()
}

func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	code := f.code
	f.mu.Unlock()
	isWatch := r.URL.Query().Get("watch") != ""
	if code == http.StatusGone && !isWatch { // only watches can be too old
		code = 0
	}
	if code != 0 {
		reason := map[int]string{http.StatusTooManyRequests: "TooManyRequests", http.StatusUnauthorized: "Unauthorized", http.StatusGone: "Expired"}[code]
		body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"a fault of the test"}`, code, reason)
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(body)))}, nil
	}
	response, err := f.RoundTripper.RoundTrip(r)
	if err != nil || !isWatch {
		return response, err
	}
	body := &cuttable{response.Body, f}
	f.mu.Lock()
	f.open[body] = true
	f.mu.Unlock()
	response.Body = body
	return response, nil
}

func (f *faults) answer(code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.code = code
}

// cut ends the watches that are open, as a load balancer does.
func (f *faults) cut() int {
	f.mu.Lock()
	var open []*cuttable
	for c := range f.open {
		open = append(open, c)
	}
	f.mu.Unlock()
	for _, c := range open {
		_ = c.ReadCloser.Close()
	}
	return len(open)
}

// soak is a cluster that is watched while things go wrong.
type soak struct {
	t       *testing.T
	c       *cluster.Cluster
	faults  *faults
	watcher *live.Watcher
	now     *inspect.Snapshot
	serial  int
}

// TestSoak follows a cluster whose server is killed, whose watches are cut, whose history is lost, which is
// too busy, refuses the token and takes permissions away: after each the picture is right again. It goes
// through all of these once, beside other tests, or alone for as long as KUBECTL_DRA_SOAK says ("30m"): then
// neither memory nor goroutines may grow from round to round.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(cmp.Or(os.Getenv("KUBECTL_DRA_SOAK"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	if length == 0 {
		t.Parallel()
	}
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"soaked"}})
	for i := range 20 {
		c.AddNode(t, fmt.Sprint("n", i), nil)
		c.ApplyText(t, sliceYAML("gpu.example.com", fmt.Sprint("n", i), 8))
	}
	s := &soak{t: t, c: c, faults: &faults{open: map[*cuttable]bool{}}}
	s.permit()
	config := c.Config("soaked")
	config.WrapTransport = func(rt http.RoundTripper) http.RoundTripper {
		s.faults.RoundTripper = rt
		return s.faults
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.watcher, err = live.Watch(ctx, config, live.Options{Resources: followed()}); err != nil {
		t.Fatal(err)
	}
	s.right("the beginning")

	var rounds int
	var heap uint64
	var goroutines int
	for begin := time.Now(); rounds == 0 || time.Since(begin) < length; rounds++ {
		s.round()
		if h, n := resident(); rounds == 0 {
			heap, goroutines = h, n
		} else {
			t.Logf("round %d after %v: heap %d KiB, %d goroutines", rounds, time.Since(begin).Round(time.Second), h>>10, n)
		}
	}
	h, n := resident()
	t.Logf("%d rounds, %d snapshots: heap %d KiB after the first round, %d KiB after the last; %d and %d goroutines", rounds, s.now.Revision(), heap>>10, h>>10, goroutines, n)
	if rounds > 1 && (h > heap*3/2+4<<20 || n > goroutines+20) {
		t.Errorf("memory or goroutines grow: heap %d → %d, goroutines %d → %d", heap, h, goroutines, n)
	}
	cancel()
	for range s.watcher.Updates() { // closed when everything has ended
	}
}

// followed are the resources that the server serves: a PodGroup takes a feature gate, Kueue is not installed.
func followed() []inspect.Resource {
	return slices.DeleteFunc(inspect.Resources(), func(r inspect.Resource) bool {
		return r == inspect.PodGroups || r == inspect.CompositePodGroups || r == inspect.LimitRanges || r.OfKueue()
	})
}

// resident is what is in use after a garbage collection.
func resident() (heap uint64, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// round lets everything go wrong once.
func (s *soak) round() {
	s.faults.cut()
	s.churn()
	s.right("watches were cut")

	for _, code := range []int{http.StatusGone, http.StatusTooManyRequests, http.StatusUnauthorized} {
		s.faults.answer(code)
		s.faults.cut()
		s.churn()
		time.Sleep(time.Second)
		s.faults.answer(0)
		s.right(fmt.Sprint("the server answered ", code))
	}

	s.forbid()
	s.faults.cut()
	s.churn()
	s.until("claims are forbidden", func(now *inspect.Snapshot) string {
		if state := now.Health(inspect.Claims).State; state != inspect.Forbidden {
			return string(state)
		}
		return ""
	})
	s.permit()
	s.right("permissions were taken away")

	s.c.Restart(s.t, "kube-apiserver", 2*time.Second)
	s.churn()
	s.right("the server was killed")
}

const soakRole = "soak"

// permit lets the user read everything.
func (s *soak) permit() {
	s.t.Helper()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "watch"}}}
	_, err := s.client().RbacV1().ClusterRoles().Create(s.t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: soakRole}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: soakRole}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: soakRole},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "soaked"}},
	}
	if _, err := s.client().RbacV1().ClusterRoleBindings().Create(s.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) forbid() {
	s.t.Helper()
	if err := s.client().RbacV1().ClusterRoleBindings().Delete(s.t.Context(), soakRole, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.client().RbacV1().ClusterRoles().Delete(s.t.Context(), soakRole, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
	awaitPermission(s.t, s.c, "soaked", "", claimsRule("list"), false)
	awaitPermission(s.t, s.c, "soaked", "", claimsRule("watch"), false)
}

func (s *soak) client() kubernetes.Interface { return s.c.Client() }

// churn makes claims, changes some and deletes others.
func (s *soak) churn() {
	s.t.Helper()
	claims := s.client().ResourceV1().ResourceClaims("default")
	for range 20 {
		s.serial++
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("claim-", s.serial)}}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}
		made, err := claims.Create(s.t.Context(), claim, metav1.CreateOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		made.Labels = map[string]string{"changed": "true"}
		if _, err := claims.Update(s.t.Context(), made, metav1.UpdateOptions{}); err != nil {
			s.t.Fatal(err)
		}
		if s.serial > 60 {
			if err := claims.Delete(s.t.Context(), fmt.Sprint("claim-", s.serial-60), metav1.DeleteOptions{}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// right waits until the snapshot has what the server has, and knows it.
func (s *soak) right(after string) {
	s.t.Helper()
	begin := time.Now()
	s.until("the truth after "+after, func(now *inspect.Snapshot) string {
		var wrong []string
		for _, r := range followed() {
			if h := now.Health(r); h.State != inspect.Synced {
				wrong = append(wrong, fmt.Sprintf("%s is %s: %s", r, h.State, h.Message))
			}
		}
		if len(wrong) > 0 {
			return strings.Join(wrong, "; ")
		}
		truth, err := live.Read(s.t.Context(), s.c.Config(cluster.Admin), live.Options{Resources: []inspect.Resource{inspect.Claims, inspect.Slices, inspect.Nodes}})
		if err != nil {
			return err.Error()
		}
		if got, want := versions(*now.Objects()), versions(truth.Objects); !slices.Equal(got, want) {
			return fmt.Sprintf("%d objects, the server has %d", len(got), len(want))
		}
		return ""
	})
	s.t.Logf("%-35s right after %v", after, time.Since(begin).Round(10*time.Millisecond))
}

// versions names all claims, slices and nodes with their versions.
func versions(o inspect.Objects) []string {
	var all []string
	for _, c := range o.Claims {
		all = append(all, c.Namespace+"/"+c.Name+" "+c.ResourceVersion)
	}
	for _, c := range o.Slices {
		all = append(all, c.Name+" "+c.ResourceVersion)
	}
	for _, n := range o.Nodes {
		all = append(all, n.Name)
	}
	return all
}

// until takes snapshots until nothing is wrong.
func (s *soak) until(what string, wrong func(*inspect.Snapshot) string) {
	s.t.Helper()
	why := "no snapshot"
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		select {
		case next, ok := <-s.watcher.Updates():
			if !ok {
				s.t.Fatalf("waiting for %s: the watcher has ended", what)
			}
			s.now = next
		case <-time.After(200 * time.Millisecond):
		}
		if s.now == nil {
			continue
		}
		if why = wrong(s.now); why == "" {
			return
		}
	}
	s.t.Fatalf("waiting for %s: %s", what, why)
}
