package fakeserver

import (
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Watching begins a watch honestly, with all objects where they are asked for, and then goes on as told. When
// the function returns, the watch ends. Requests that are no watches are answered honestly.
func Watching(goOn func(*Watch)) Answer {
	return func(e *Exchange) {
		t, ok := e.Server.target(strings.Split(strings.Trim(e.Request.URL.Path, "/"), "/"))
		if !ok || !isWatch(e.Request.URL.Query()) {
			e.Honest()
			return
		}
		w := &Watch{exchange: e, target: t, stream: newStream(e)}
		if e.Request.URL.Query().Get("sendInitialEvents") == "true" {
			e.Server.sendInitial(w.stream, t)
		}
		goOn(w)
	}
}

// Watch is one under way.
type Watch struct {
	exchange *Exchange
	target   target
	stream   *stream
}

// Send sends an event and reports whether the client is still there.
func (w *Watch) Send(kind string, object any) bool { return w.stream.send(kind, object) }

// Raw sends bytes.
func (w *Watch) Raw(text string) bool { return w.stream.raw([]byte(text)) }

// Wait waits and reports whether the client is still there.
func (w *Watch) Wait(d time.Duration) bool { return w.exchange.Wait(d) }

// First returns the first object of the resource with another resource version, or nil when there is none.
func (w *Watch) First(version int64) map[string]any {
	s := w.exchange.Server
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := s.sorted(w.target.Resource, "")
	if len(objects) == 0 {
		return nil
	}
	o := objects[0].DeepCopy()
	o.SetResourceVersion(strconv.FormatInt(version, 10))
	return w.target.at(o)
}

// Bookmark is an object that tells only a version.
func (w *Watch) Bookmark(version int64) map[string]any { return w.target.bookmark(version, false) }

// Expired is the event of a watch whose version the server has forgotten.
func Expired(message string) (kind string, object any) {
	return "ERROR", metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonExpired, Code: 410, Message: message,
	}
}
