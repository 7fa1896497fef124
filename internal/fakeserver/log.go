package fakeserver

import (
	"net/http"
	"net/url"
	"time"
)

// Request is one that the server got.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Query  url.Values
	// Code is the status that it was answered with; 0 when there was no answer, or none yet.
	Code int
	// Sent are the bytes of the answer so far.
	Sent int64
	// Watch: changes were asked for.
	Watch bool
	// Write: the request asked for a change. One that is only tried (dryRun), and the question what one may
	// do, are none.
	Write bool
}

func (s *Server) note(r *http.Request) *Request {
	query := r.URL.Query()
	entry := &Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: query, Watch: isWatch(query)}
	entry.Write = r.Method != http.MethodGet && r.URL.Path != reviewPath && query.Get("dryRun") == ""
	s.logging.Lock()
	defer s.logging.Unlock()
	s.log = append(s.log, entry)
	return entry
}

func isWatch(query url.Values) bool {
	text := query.Get("watch")
	return text == "true" || text == "1"
}

// Requests returns what was asked so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.logging.Lock()
	defer s.logging.Unlock()
	out := make([]Request, len(s.log))
	for i, entry := range s.log {
		out[i] = *entry
	}
	return out
}

// recorder notes how a request was answered.
type recorder struct {
	http.ResponseWriter
	server *Server
	entry  *Request
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(code int) {
	w.server.logging.Lock()
	w.entry.Code = code
	w.server.logging.Unlock()
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data)
	w.server.logging.Lock()
	defer w.server.logging.Unlock()
	w.entry.Sent += int64(n)
	if w.entry.Code == 0 {
		w.entry.Code = http.StatusOK
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
