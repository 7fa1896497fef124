package live_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/turns"
)

// follower takes the snapshots of a Watcher.
type follower struct {
	t     *testing.T
	w     *live.Watcher
	now   *inspect.Snapshot
	taken int
}

func follow(t *testing.T, config *rest.Config, opts live.Options) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := live.Watch(ctx, config, opts)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	f := &follower{t: t, w: w}
	t.Cleanup(func() {
		cancel()
		for range w.Updates() { // until it is closed
		}
	})
	return f
}

// until takes snapshots until one is as it should be.
func (f *follower) until(what string, ok func(*inspect.Snapshot) bool) *inspect.Snapshot {
	f.t.Helper()
	timeout := time.After(2 * time.Minute)
	for f.now == nil || !ok(f.now) {
		select {
		case s, open := <-f.w.Updates():
			if !open {
				f.t.Fatalf("waiting for %s: the channel is closed", what)
			}
			if f.now != nil && s.Revision() <= f.now.Revision() {
				f.t.Fatalf("revision %d after %d", s.Revision(), f.now.Revision())
			}
			f.now = s
			f.taken++
		case <-timeout:
			f.t.Fatalf("waiting for %s: claims %v, health %+v", what, claimNames(f.now), f.now.Health(inspect.Claims))
		}
	}
	return f.now
}

func claimNames(s *inspect.Snapshot) []string {
	var names []string
	if s == nil {
		return nil
	}
	for _, c := range s.Objects().Claims {
		names = append(names, c.Namespace+"/"+c.Name)
	}
	return names
}

// claims waits until exactly these claims are there and known to be all.
func (f *follower) claims(want ...string) *inspect.Snapshot {
	f.t.Helper()
	return f.until(fmt.Sprint("claims ", want), func(s *inspect.Snapshot) bool {
		return s.Health(inspect.Claims).State == inspect.Synced && slices.Equal(claimNames(s), want)
	})
}

func (f *follower) state(r inspect.Resource, state inspect.HealthState, message string) {
	f.t.Helper()
	f.until(fmt.Sprint(r, " ", state), func(s *inspect.Snapshot) bool {
		h := s.Health(r)
		return h.State == state && strings.Contains(h.Message, message) && !h.Since.IsZero()
	})
}

func TestWatchFollowsChanges(t *testing.T) {
	h, config := newHub(t)
	h.put(claimsPath, "ml", "b", "")
	h.put(podsPath, "ml", "p", `"spec":{"nodeName":"n1","containers":[{"name":"c","image":"secret"}]}`)
	f := follow(t, config, live.Options{Resources: inspect.Resources()})
	s := f.claims("ml/b")
	if got := s.Objects().Claims[0].ManagedFields; got != nil {
		t.Errorf("managed fields are kept: %v", got)
	}
	f.until("the pod", func(s *inspect.Snapshot) bool { return len(s.Objects().Pods) == 1 })
	if pod := f.now.Objects().Pods[0]; pod.Spec.NodeName != "n1" || pod.Spec.Containers[0].Image != "" {
		t.Errorf("the pod is not reduced: %+v", pod.Spec)
	}
	h.put(claimsPath, "ml", "a", "")
	h.put(claimsPath, "dev", "z", "")
	f.claims("dev/z", "ml/a", "ml/b")
	h.remove(claimsPath, "ml", "b")
	f.claims("dev/z", "ml/a")
	if f.now.ServerVersion() != "v1.37.1" {
		t.Errorf("server version %q", f.now.ServerVersion())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if lists := h.lists[claimsPath]; lists != 1 || h.streams > 0 {
		t.Errorf("claims were listed %d times, and %d watches were to begin with all objects", lists, h.streams)
	}
}

// A snapshot is made when it is the Watcher's turn: what works in the background of a screen leaves a
// processor to keys, together with it.
func TestSnapshotsWaitForTheirTurn(t *testing.T) {
	_, config := newHub(t)
	end := make(chan struct{})
	var held, ended sync.WaitGroup
	for range turns.AtOnce() {
		held.Add(1)
		ended.Go(func() { _ = turns.Do(t.Context(), func() { held.Done(); <-end }) })
	}
	held.Wait()
	f := follow(t, config, live.Options{Resources: inspect.Resources()})
	select {
	case <-f.w.Updates():
		t.Error("a snapshot is made while all processors but one are taken")
	case <-time.After(1500 * time.Millisecond):
	}
	close(end)
	ended.Wait()
	f.until("a snapshot", func(*inspect.Snapshot) bool { return true })
}

// TestFirstComesFirst: of what nobody waits for, no second page is asked for before what somebody waits for
// is there, and then the snapshot says what is still missing.
func TestFirstComesFirst(t *testing.T) {
	fake := newFake()
	fake.objects[podsPath] = []string{named("a"), named("b"), named("c")}
	release := make(chan struct{})
	now := sync.OnceFunc(func() { close(release) })
	defer now()
	fake.override[claimsPath] = func(w http.ResponseWriter, r *http.Request) {
		<-release
		fake.list(w, r)
	}
	config := fake.start(t)
	begin := time.Now()
	f := follow(t, config, live.Options{PageSize: 1, First: []inspect.Resource{inspect.Claims}})
	f.until("a first look", func(s *inspect.Snapshot) bool { return s.Health(inspect.Claims).State == inspect.Syncing })
	for len(fake.asked(podsPath+"?limit=1")) == 0 && time.Since(begin) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	first, more := fake.asked(podsPath+"?limit=1"), fake.asked(podsPath+"?continue")
	if late := time.Since(begin) > live.LongestLead; len(first) != 1 || len(more) > 0 && !late { // nobody waits for ever
		t.Errorf("asked for %v and %v", first, more)
	}
	if state := f.now.Health(inspect.Pods).State; state != inspect.Syncing {
		t.Errorf("pods are %s", state)
	}
	now()
	f.until("the pods", func(s *inspect.Snapshot) bool { return len(s.Objects().Pods) == 3 })
}

func TestWatchSurvivesFaults(t *testing.T) {
	h, config := newHub(t)
	h.put(claimsPath, "ml", "a", "")
	f := follow(t, config, live.Options{})
	f.claims("ml/a")
	step := func(name string, fault, heal func(), seen inspect.HealthState) {
		t.Logf("%s", name)
		h.set(fault)
		h.cut()
		if seen != "" {
			f.state(inspect.Claims, seen, "")
			if len(f.now.Objects().Claims) == 0 {
				t.Errorf("%s: what was known is forgotten", name)
			}
		}
		h.put(claimsPath, "ml", "during "+name, "")
		h.set(heal)
		h.cut()
		f.claims("ml/a", "ml/during "+name)
		h.remove(claimsPath, "ml", "during "+name)
		f.claims("ml/a")
	}
	nothing := func() {}
	step("watches are cut", nothing, nothing, "")
	step("the history is gone", func() { h.gone = true }, func() { h.gone = false }, "")
	step("etcd is down", func() { h.status[""] = http.StatusInternalServerError }, func() { clear(h.status) }, inspect.Broken)
	step("the server is busy", func() { h.status[claimsPath] = http.StatusTooManyRequests }, func() { clear(h.status) }, inspect.Broken)
	step("the token has expired", func() { h.status[""] = http.StatusUnauthorized }, func() { clear(h.status) }, inspect.Broken)
	step("permissions are taken away", func() { h.status[claimsPath] = http.StatusForbidden }, func() { clear(h.status) }, inspect.Forbidden)
}

// TestWatchSurvivesARestart stops the server for a while and starts it again at the same address.
func TestWatchSurvivesARestart(t *testing.T) {
	h, _ := newHub(t)
	h.put(claimsPath, "ml", "before", "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	serve := func(l net.Listener) *http.Server {
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }()
		return server
	}
	server := serve(listener)
	f := follow(t, &rest.Config{Host: "http://" + address}, live.Options{})
	f.claims("ml/before")
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	f.state(inspect.Claims, inspect.Broken, "what is known is older")
	h.put(claimsPath, "ml", "after", "")
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Skipf("somebody else took the port: %v", err)
	}
	server = serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	f.claims("ml/after", "ml/before")
}

// TestListsWhereWatchingIsForbidden: permission to list is enough to see something.
func TestListsWhereWatchingIsForbidden(t *testing.T) {
	live.RealRhythm(t)
	h, config := newHub(t)
	h.put(claimsPath, "ml", "a", "")
	h.noWatch = true
	begin := time.Now()
	f := follow(t, config, live.Options{})
	f.claims("ml/a")
	time.Sleep(300 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	if n, most := h.lists[claimsPath], 2+int(time.Since(begin)/time.Second); n > most {
		t.Errorf("claims were listed %d times in a moment, want at most %d", n, most)
	}
}

func TestWatchOfOneNamespace(t *testing.T) {
	h, config := newHub(t)
	h.put(claimsPath, "ml", "a", "")
	h.put(claimsPath, "dev", "b", "")
	h.status[claimsPath] = http.StatusForbidden
	h.status["/apis/resource.k8s.io/v1/resourceslices"] = http.StatusForbidden
	f := follow(t, config, live.Options{Namespace: "ml"})
	f.state(inspect.Claims, inspect.Narrowed, "only namespace ml was read")
	if got := claimNames(f.now); !slices.Equal(got, []string{"ml/a"}) {
		t.Errorf("claims %v", got)
	}
	h.put(claimsPath, "ml", "c", "")
	f.until("the new claim", func(s *inspect.Snapshot) bool { return slices.Equal(claimNames(s), []string{"ml/a", "ml/c"}) })
	f.state(inspect.Slices, inspect.Forbidden, "cannot list resourceslices.resource.k8s.io")
}

func TestWatchFallsBackToOlderVersions(t *testing.T) {
	h, config := newHub(t)
	h.served["resource.k8s.io/v1"] = nil
	h.served["resource.k8s.io/v1beta1"] = []string{"resourceclaims", "resourceslices"}
	const old = "/apis/resource.k8s.io/v1beta1/resourceclaims"
	h.put(old, "ml", "a", `"spec":{"devices":{"requests":[{"name":"gpu","deviceClassName":"gpu"}]}}`)
	f := follow(t, config, live.Options{})
	s := f.claims("ml/a")
	if got := s.Health(inspect.Claims).Version; got != "resource.k8s.io/v1beta1" {
		t.Errorf("read at %s", got)
	}
	if r := s.Objects().Claims[0].Spec.Devices.Requests; len(r) != 1 || r[0].Exactly == nil || r[0].Exactly.DeviceClassName != "gpu" {
		t.Errorf("not converted: %+v", r)
	}
	h.put(old, "ml", "b", "")
	f.claims("ml/a", "ml/b")
	f.state(inspect.TaintRules, inspect.NotServed, "does not serve devicetaintrules")
}

func TestManyChangesMakeFewSnapshots(t *testing.T) {
	h, config := newHub(t)
	f := follow(t, config, live.Options{})
	f.claims()
	before, begin := f.taken, time.Now()
	for i := range 5000 {
		h.put(claimsPath, "ml", fmt.Sprintf("claim-%04d", i%500), "")
	}
	h.put(claimsPath, "ml", "last", "")
	f.until("the last change", func(s *inspect.Snapshot) bool {
		return len(s.Objects().Claims) == 501
	})
	// One more than fits: the pause is measured after a snapshot was made.
	if most := int(time.Since(begin)/(100*time.Millisecond)) + 2; f.taken-before > most {
		t.Errorf("%d snapshots, want at most %d", f.taken-before, most)
	}
}

func TestUnchangedObjectsAreShared(t *testing.T) {
	h, config := newHub(t)
	h.put(claimsPath, "ml", "a", "")
	h.put(slicesPath, "", "s", "")
	f := follow(t, config, live.Options{})
	f.until("the slice", func(s *inspect.Snapshot) bool { return len(s.Objects().Slices) == 1 && len(s.Objects().Claims) == 1 })
	old := f.now
	h.put(claimsPath, "ml", "b", "")
	s := f.claims("ml/a", "ml/b")
	if s.Objects().Claims[0] != old.Objects().Claims[0] || s.Objects().Slices[0] != old.Objects().Slices[0] {
		t.Error("objects that did not change were made anew")
	}
	if len(old.Objects().Claims) != 1 {
		t.Error("an old snapshot has changed")
	}
}

func TestHeartbeatsAreNoNews(t *testing.T) {
	h, config := newHub(t)
	node := func(beat, ready string) {
		h.put(nodesPath, "", "n1", fmt.Sprintf(`"status":{"conditions":[{"type":"Ready","status":%q,"lastHeartbeatTime":%q}]}`, ready, beat))
	}
	node("2026-08-03T07:00:00Z", "True")
	f := follow(t, config, live.Options{})
	f.until("the node", func(s *inspect.Snapshot) bool { return len(s.Objects().Nodes) == 1 })
	old := f.now.Objects().Nodes[0]
	node("2026-08-03T07:05:00Z", "True")
	h.put(claimsPath, "ml", "a", "")
	if s := f.claims("ml/a"); s.Objects().Nodes[0] != old {
		t.Error("a heartbeat makes a new node")
	}
	node("2026-08-03T07:10:00Z", "Unknown")
	f.until("the node is not ready", func(s *inspect.Snapshot) bool { return s.Objects().Nodes[0].Status.Conditions[0].Status == "Unknown" })
}

func TestWatchOfAServerThatIsNotThere(t *testing.T) {
	w, err := live.Watch(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range w.Updates() {
		t.Error("there is a snapshot")
	}
	err = w.Err()
	if server := (*live.ServerError)(nil); !errors.As(err, &server) || server.Cause != live.Unreachable {
		t.Errorf("the error is %v", err)
	}
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	h, config := newHub(t)
	h.put(claimsPath, "ml", "a", "")
	before := runtime.NumGoroutine()
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := live.Watch(ctx, config, live.Options{Resources: inspect.Resources()})
		if err != nil {
			t.Fatal(err)
		}
		<-w.Updates()
		cancel()
		for range w.Updates() {
		}
	}
	h.hangUp() // connections are kept open for the next request, and their goroutines with them
	deadline := time.Now().Add(2 * time.Minute)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(20 * time.Millisecond)
	}
}
