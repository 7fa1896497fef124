package live_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestRecoversInSeconds: whatever was wrong with a server, one thing soon after the other, the picture of
// every kind is right again as soon as the longest pause is over after it answers again.
func TestRecoversInSeconds(t *testing.T) {
	live.RealRhythm(t)
	for _, phases := range [][]phase{
		{{0, time.Second}, {http.StatusGone, time.Second}, {http.StatusTooManyRequests, time.Second}, {http.StatusUnauthorized, time.Second}, {http.StatusForbidden, 4 * time.Second}, {http.StatusServiceUnavailable, 2 * time.Second}},
		{{http.StatusTooManyRequests, 20 * time.Minute}}, {{http.StatusForbidden, time.Hour}}, {{http.StatusUnauthorized, time.Hour}},
		{{http.StatusTooManyRequests, 40 * time.Second}, {http.StatusServiceUnavailable, 3 * time.Minute}},
	} {
		t.Run(fmt.Sprint(phases), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { recoverFrom(t, phases) })
		})
	}
}

// phase is a time in which a server answers all lists and watches with a status, after watches were cut. 0 is
// none.
type phase struct {
	status int
	length time.Duration
}

// soon is within what time a picture has to be right again.
const soon = 40 * time.Second

func recoverFrom(t *testing.T, phases []phase) {
	t.Helper()
	h := &hub{
		t: t, served: newFake().served, objects: map[string]map[string]string{}, status: map[string]int{},
		watchers: map[*watcher]bool{}, lists: map[string]int{}, revision: 100,
	}
	var mu sync.Mutex
	status := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := status
		mu.Unlock()
		if now == 0 || !lists(r) || now == http.StatusGone && !watches(r) || !faultyStatus(now, "")(w, r) {
			h.ServeHTTP(w, r)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	w, err := live.Watch(ctx, &rest.Config{Host: "http://memory", Transport: inMemory{handler}}, live.Options{Resources: inspect.Resources()})
	if err != nil {
		t.Fatal(err)
	}
	picture := &latest{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range w.Updates() {
			picture.set(s)
		}
	}()
	time.Sleep(10 * time.Second)
	for i, p := range phases {
		mu.Lock()
		status = p.status
		mu.Unlock()
		h.cut()
		name := fmt.Sprint("after-", i)
		for _, path := range []string{podsPath, claimsPath, slicesPath} {
			h.put(path, "ml", name, "")
		}
		time.Sleep(p.length)
		mu.Lock()
		status = 0
		mu.Unlock()
		begin, why := time.Now(), ""
		for picture.wrong(i+1) != "" && time.Since(begin) < 10*time.Minute {
			why = picture.wrong(i + 1)
			time.Sleep(100 * time.Millisecond)
		}
		took := time.Since(begin)
		t.Logf("right %v after %v of %d", took, p.length, p.status)
		if took > soon {
			t.Errorf("the picture is right %v after %v of %d: %s", took, p.length, p.status, why)
		}
	}
	cancel()
	<-done
	h.cut()
	time.Sleep(time.Second) // handlers end
	synctest.Wait()
}

// latest is the newest snapshot.
type latest struct {
	mu  sync.Mutex
	now *inspect.Snapshot
}

func (l *latest) set(s *inspect.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = s
}

// wrong says what is missing of so many objects of some kinds, and what cannot be read.
func (l *latest) wrong(objects int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		return "no snapshot"
	}
	for _, r := range inspect.Resources() {
		if h := l.now.Health(r); h.State != inspect.Synced && h.State != inspect.NotServed {
			return fmt.Sprintf("%s: %s", r, h.Message)
		}
	}
	if o := l.now.Objects(); len(o.Pods) != objects || len(o.Claims) != objects || len(o.Slices) != objects {
		return fmt.Sprintf("%d pods, %d claims, %d slices, want %d", len(o.Pods), len(o.Claims), len(o.Slices), objects)
	}
	return ""
}
