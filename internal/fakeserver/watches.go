package fakeserver

import (
	"strconv"
	"strings"
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
		w := &Watch{Exchange: e, target: t, stream: newStream(e)}
		if e.Request.URL.Query().Get("sendInitialEvents") == "true" {
			e.Server.sendInitial(w.stream, t)
		}
		goOn(w)
	}
}

// Watch is one under way.
type Watch struct {
	*Exchange
	*stream
	target target
}

// First returns the first object of the resource with another resource version, or nil when there is none.
func (w *Watch) First(version int64) map[string]any {
	s := w.Server
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
