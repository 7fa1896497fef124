package fakeserver

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"
)

// Fault is something that is wrong with a server.
type Fault struct {
	// Match is a regular expression on "METHOD PATH?QUERY"; "" strikes every request.
	Match string
	// Times is how many requests it strikes; 0 is all.
	Times int
	// Do answers a request; nil answers honestly.
	Do Answer
}

// Answer answers a request in the place of the server.
type Answer func(*Exchange)

// Exchange is a request and where the answer to it goes.
type Exchange struct {
	http.ResponseWriter
	Request *http.Request
	Server  *Server
	Body    []byte
}

// armed is a fault in a server.
type armed struct {
	Fault
	match *regexp.Regexp
	left  int // -1 is for ever
}

// Inject adds a fault. Of several that match a request the first one counts, until it is used up. The
// function that is returned takes it away.
func (s *Server) Inject(f Fault) (remove func()) {
	a := &armed{Fault: f, match: regexp.MustCompile(f.Match), left: f.Times}
	if f.Times == 0 {
		a.left = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, a)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.left = 0
	}
}

// struck returns the fault that a request meets, or nil.
func (s *Server) struck(r *http.Request) *armed {
	text := r.Method + " " + r.URL.RequestURI()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.faults {
		if a.left != 0 && a.Do != nil && a.match.MatchString(text) {
			if a.left > 0 {
				a.left--
			}
			return a
		}
	}
	return nil
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if a := s.struck(r); a != nil {
		a.Do(&Exchange{ResponseWriter: w, Request: r, Server: s, Body: body})
		return
	}
	s.serve(w, r, body)
}

// Unwrap lets http.ResponseController reach the connection.
func (e *Exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// Kind returns the kind and the apiVersion of the objects that a request is about.
func (e *Exchange) Kind() (name, apiVersion string) {
	t, _ := e.Server.target(strings.Split(strings.Trim(e.Request.URL.Path, "/"), "/"))
	return t.Name, t.apiVersion()
}

// Honest answers as an honest server does.
func (e *Exchange) Honest() { e.Server.serve(e.ResponseWriter, e.Request, e.Body) }

// Hidden does what an honest server does, without telling. What it would have answered is returned.
func (e *Exchange) Hidden() (code int, body []byte) {
	w := httptest.NewRecorder()
	e.Server.serve(w, e.Request, e.Body)
	return w.Code, bytes.Clone(w.Body.Bytes())
}

// Wait waits, or less long if the client goes away. It reports whether the client is still there.
func (e *Exchange) Wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.Request.Context().Done():
		return false
	}
}
