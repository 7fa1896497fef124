package live_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// inMemory sends requests to a handler without a network, so that hours can pass within a test.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	body, in := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: in, begun: make(chan struct{})}
	go func() {
		defer in.Close() //nolint:errcheck // never fails
		defer w.WriteHeader(http.StatusOK)
		m.handler.ServeHTTP(w, r)
	}()
	context.AfterFunc(r.Context(), func() { _ = in.CloseWithError(r.Context().Err()) })
	select {
	case <-w.begun:
		return &http.Response{StatusCode: w.code, Header: w.header, Body: body, Request: r, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	code   int
	begun  chan struct{}
	once   sync.Once
}

func (w *pipeWriter) Header() http.Header { return w.header }
func (w *pipeWriter) Flush()              {}
func (w *pipeWriter) WriteHeader(code int) {
	w.once.Do(func() { w.code = code; close(w.begun) })
}
func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// lastingFaults are ways in which a server fails for hours. Each handler reports whether it answered; the
// honest server does otherwise.
var lastingFaults = map[string]func(w http.ResponseWriter, r *http.Request) bool{
	"401": faultyStatus(http.StatusUnauthorized, ""), "403": faultyStatus(http.StatusForbidden, ""), "410": faultyStatus(http.StatusGone, ""),
	"429": faultyStatus(http.StatusTooManyRequests, "1"), "429 for long": faultyStatus(http.StatusTooManyRequests, "3600"),
	"500": faultyStatus(http.StatusInternalServerError, ""), "503": faultyStatus(http.StatusServiceUnavailable, "1"),
	"{}":   listsAnswer("application/json", `{}`),
	"HTML": listsAnswer("text/html", `<html>log in</html>`),
	"watches are cut": func(_ http.ResponseWriter, r *http.Request) bool {
		return watches(r) // without an event
	},
	"watches are garbage": func(w http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			answerJSON(w, `{"type": "MODIFIED", "object": {garbage`)
		}
		return watches(r)
	},
	"watches are HTML": func(w http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			answering("text/html", "<html>")(w, r)
		}
		return watches(r)
	},
	"watches expire at once": func(w http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			answerJSON(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired","message":"too old"}}`+"\n")
		}
		return watches(r)
	},
	"watches are forbidden": func(w http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			answerStatus(w, http.StatusForbidden, "forbidden")
		}
		return watches(r)
	},
	"watches have wrong objects": func(w http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			answerJSON(w, `{"type":"MODIFIED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"99999"}}}`+"\n")
		}
		return watches(r)
	},
	"watches hang": func(_ http.ResponseWriter, r *http.Request) bool {
		if watches(r) {
			<-r.Context().Done()
		}
		return watches(r)
	},
	"streams drip": func(w http.ResponseWriter, r *http.Request) bool {
		if !watches(r) {
			return false
		}
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return true
	},
	"lists hang": func(_ http.ResponseWriter, r *http.Request) bool {
		if lists(r) {
			<-r.Context().Done()
		}
		return lists(r)
	},
}

func watches(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// lists reports whether a request is for objects, be it as a list or a watch.
func lists(r *http.Request) bool {
	n := len(strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	return strings.HasPrefix(r.URL.Path, "/api/") || n > 3
}

func faultyStatus(code int, retryAfter string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !lists(r) {
			return false
		}
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		answerStatus(w, code, "the server said so")
		return true
	}
}

func listsAnswer(content, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if lists(r) {
			answering(content, body)(w, r)
		}
		return lists(r)
	}
}

// TestFailingServersAreAskedRarely follows servers that fail for long and counts the requests: after the
// first minutes a list or watch, or both, of each kind twice a minute.
func TestFailingServersAreAskedRarely(t *testing.T) {
	live.RealRhythm(t)
	for name, fault := range lastingFaults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hub{
					t: t, served: newFake().served, objects: map[string]map[string]string{}, status: map[string]int{},
					watchers: map[*watcher]bool{}, lists: map[string]int{}, revision: 100,
				}
				h.put(podsPath, "ml", "a", "")
				var mu sync.Mutex
				healed, count := false, 0
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					well := healed
					if lists(r) || strings.HasPrefix(r.URL.Path, "/apis/") {
						count++
					}
					mu.Unlock()
					if well || !fault(w, r) {
						h.ServeHTTP(w, r)
					}
				})
				ctx, cancel := context.WithCancel(t.Context())
				config := &rest.Config{Host: "http://memory", Transport: inMemory{handler}}
				w, err := live.Watch(ctx, config, live.Options{Resources: inspect.Resources()})
				if err != nil {
					t.Fatal(err)
				}
				var last *inspect.Snapshot
				done := make(chan struct{})
				go func() {
					defer close(done)
					for s := range w.Updates() {
						mu.Lock()
						last = s
						mu.Unlock()
					}
				}()
				requests := func(during time.Duration) int {
					mu.Lock()
					count = 0
					mu.Unlock()
					time.Sleep(during)
					mu.Lock()
					defer mu.Unlock()
					return count
				}
				kinds := len(inspect.Resources())
				first := requests(5 * time.Minute)
				if most := kinds * 30; first > most {
					t.Errorf("%d requests in the first five minutes, want at most %d", first, most)
				}
				minutes := effort.Of(120, 30)
				later := requests(time.Duration(minutes) * time.Minute)
				if most := kinds * minutes * 4; later > most {
					t.Errorf("%d requests in %d minutes, want at most %d", later, minutes, most)
				}
				t.Logf("%d requests in five minutes, then %.2f a minute for each kind", first, float64(later)/float64(kinds*minutes))
				mu.Lock()
				healed = true
				mu.Unlock()
				time.Sleep(12 * time.Minute)
				mu.Lock()
				if last == nil {
					t.Error("there is no snapshot")
				} else if last.Health(inspect.Pods).State != inspect.Synced || len(last.Objects().Pods) != 1 {
					t.Errorf("after it is well again: %+v with %d pods", last.Health(inspect.Pods), len(last.Objects().Pods))
				}
				mu.Unlock()
				cancel()
				<-done
				h.cut()
				time.Sleep(time.Second) // handlers end
				synctest.Wait()
			})
		})
	}
}
