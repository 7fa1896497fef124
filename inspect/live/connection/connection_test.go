package connection

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// get asks a server once and reads the answer.
func get(ctx context.Context, t *testing.T, handler http.HandlerFunc) (string, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	client, err := Client(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	data, err := io.ReadAll(response.Body)
	return string(data), err
}

// drip writes a text again and again.
func drip(text string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(pause)
		}
	}
}

func TestBounds(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, test := range map[string]struct {
		bounds  Bounds
		handler http.HandlerFunc
		large   bool
	}{
		"too large":           {Bounds{Bytes: 100}, drip("xxxxxxxxxx", 0), true},
		"a line is too large": {Bounds{Bytes: 100, Lines: true}, drip("xxxxxxxxxx", 0), true},
		"nothing comes":       {Bounds{Begin: 20 * time.Millisecond}, silent, false},
		"no event comes":      {Bounds{Begin: 20 * time.Millisecond, Lines: true}, silent, false},
		"too little comes":    {Bounds{Idle: 20 * time.Millisecond}, drip("x", time.Millisecond), false},
		"nothing comes behind": {Bounds{Idle: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := get(With(t.Context(), test.bounds), t, test.handler)
			var timeout net.Error
			if large := errors.As(err, new(*TooLargeError)); large != test.large || !large && (!errors.As(err, &timeout) || !timeout.Timeout()) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestLinesMayGoOn(t *testing.T) {
	data, err := get(With(t.Context(), Bounds{Bytes: 100, Lines: true, Idle: time.Millisecond}), t, func(w http.ResponseWriter, _ *http.Request) {
		for range 5 {
			_, _ = io.WriteString(w, strings.Repeat("x", 60)+"\n")
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	if err != nil || len(data) != 305 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]struct {
		seconds int64
		stays   bool
	}{"3": {3, true}, "3600": {3600, false}, "-1": {0, true}, "soon": {0, true}, "": {0, false}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer server.Close()
		client, err := Client(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		var seconds atomic.Int64
		ctx := With(With(t.Context(), Bounds{RetryAfter: &seconds}), Bounds{Bytes: 10})
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if seconds.Load() != want.seconds || (response.Header.Get("Retry-After") != "") != want.stays {
			t.Errorf("%q: %d seconds, header %q", header, seconds.Load(), response.Header.Get("Retry-After"))
		}
	}
}

// TestPace fails again and again and looks at the pauses, which may be a quarter longer.
func TestPace(t *testing.T) {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const s = time.Second
	for name, test := range map[string]struct {
		fail func(p *Pace, now time.Time)
		want []time.Duration
	}{
		"failures":      {func(p *Pace, now time.Time) { p.Failed(now, 0) }, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}},
		"Retry-After":   {func(p *Pace, now time.Time) { p.Failed(now, 60*s) }, []time.Duration{60 * s, 60 * s}},
		"a long one":    {func(p *Pace, now time.Time) { p.Failed(now, 1000*time.Hour) }, []time.Duration{600 * s, 600 * s}},
		"short watches": {func(p *Pace, now time.Time) { p.Ended(now.Add(-s), now) }, []time.Duration{0, s, 3 * s, 7 * s, 15 * s, 29 * s, 29 * s}},
		"long watches":  {func(p *Pace, now time.Time) { p.Ended(now.Add(-20*s), now) }, []time.Duration{0, 0, 0}},
		"successes":     {func(p *Pace, now time.Time) { p.Failed(now, 0); p.Succeeded() }, []time.Duration{s, s, s}},
	} {
		t.Run(name, func(t *testing.T) {
			p, now := NewPace(Default), start
			for i, want := range test.want {
				test.fail(p, now)
				if got := p.Wait(now); got < want || got > want+(want+s)/4 {
					t.Errorf("pause %d is %v, want %v", i+1, got, want)
				}
				now = now.Add(p.Wait(now))
			}
		})
	}
}

// TestRedirects: a redirect is followed on the server that was asked, and to no other.
func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for to, want := range map[string]string{
		"/there":            "",
		other.URL + "/":     "the server redirects to " + other.URL + ", which is not followed",
		"/again":            "stopped after 10 redirects",
		"file:///etc/hosts": "the server redirects to file://, which is not followed",
	} {
		body, err := get(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				_, _ = io.WriteString(w, "here")
				return
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		})
		if want == "" && (err != nil || body != "here") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("redirected to %s: got %q, %v; want %q", to, body, err, want)
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another server was asked %d times", n)
	}
}
