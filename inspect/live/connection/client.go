package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Client returns a client for the server of config, which it does not change.
func Client(config *rest.Config) (*http.Client, error) {
	c := rest.CopyConfig(config)
	c.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &bounded{inner} })
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, err //nolint:wrapcheck // callers say which server
	}
	client.Transport = &prompt{client.Transport}
	client.CheckRedirect = sameServer
	return client, nil
}

// sameServer refuses redirects that lead away from the server that was asked, or from TLS to plain text:
// nobody but the one in the kubeconfig gets to see requests, and it cannot make us ask others.
func sameServer(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	switch {
	case next.URL.Host != first.Host || next.URL.Scheme != first.Scheme && next.URL.Scheme != "https":
		return fmt.Errorf("the server redirects to %s://%s, which is not followed", next.URL.Scheme, next.URL.Host)
	case len(before) >= 10:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// prompt gives up a request as soon as its context ends. Transports do so by themselves, but a credential
// plugin runs to its end.
type prompt struct{ inner http.RoundTripper }

// WrappedRoundTripper lets client-go find the transport below.
func (p *prompt) WrappedRoundTripper() http.RoundTripper { return p.inner }

// RoundTrip implements http.RoundTripper.
func (p *prompt) RoundTrip(request *http.Request) (*http.Response, error) {
	type answer struct {
		response *http.Response
		err      error
	}
	done := make(chan answer, 1)
	ctx := request.Context()
	request = request.Clone(ctx) // it may outlive the call
	go func() {
		response, err := p.inner.RoundTrip(request) //nolint:bodyclose // whoever takes the answer closes it
		done <- answer{response, err}
	}()
	select {
	case a := <-done:
		return a.response, a.err
	case <-ctx.Done():
	}
	go func() {
		if a := <-done; a.response != nil {
			_ = a.response.Body.Close() // nobody is interested any more
		}
	}()
	return nil, ctx.Err()
}

// bounded watches over answers. It lies below what gets credentials: people take their time to log in.
type bounded struct{ inner http.RoundTripper }

// WrappedRoundTripper lets client-go find the transport below.
func (b *bounded) WrappedRoundTripper() http.RoundTripper { return b.inner }

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	bounds := boundsOf(request.Context())
	_, deadline := request.Context().Deadline()
	ctx, cancel := context.WithCancelCause(request.Context())
	if !deadline {
		timer := time.AfterFunc(bounds.Begin, func() { cancel(&SilentError{After: bounds.Begin}) })
		defer timer.Stop()
	}
	response, err := b.inner.RoundTrip(request.WithContext(ctx))
	if err != nil {
		err = because(ctx, request.Context(), err)
		cancel(nil)
		return nil, err
	}
	noteRetryAfter(response, bounds)
	if bounds.ContentType != nil {
		bounds.ContentType.Store(response.Header.Get("Content-Type"))
	}
	if response.StatusCode >= http.StatusBadRequest {
		response.Body = beginning{io.LimitReader(response.Body, longestError), response.Body}
	}
	response.Body = newBody(ctx, cancel, response.Body, bounds, !deadline && !bounds.Lines)
	return response, nil
}

// longestError is how much is read of what a server says of an error. That there is more is no error itself.
const longestError = 1 << 20

// beginning is the beginning of a body.
type beginning struct {
	io.Reader
	io.Closer
}

// because returns why a request was ended from here, or else its error.
func because(ctx, outer context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && outer.Err() == nil {
		return cause
	}
	return err
}

// noteRetryAfter tells the caller when the server wants to be asked again. A header that would have client-go
// wait for long is taken away.
func noteRetryAfter(response *http.Response, bounds Bounds) {
	const header = "Retry-After"
	seconds, err := strconv.ParseInt(response.Header.Get(header), 10, 32)
	if err != nil || seconds < 0 {
		return
	}
	if bounds.RetryAfter != nil {
		bounds.RetryAfter.Store(seconds)
	}
	if seconds > LongestRetryAfter {
		response.Header.Del(header)
	}
}
