package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// Cause says in one word why a server could not be asked.
type Cause string

// The causes of a ServerError.
const (
	Unreachable     Cause = "Unreachable"     // no connection, or it broke
	TimedOut        Cause = "TimedOut"        // no answer in time
	Untrusted       Cause = "Untrusted"       // TLS failed: wrong authority, name, or protocol
	Unauthenticated Cause = "Unauthenticated" // the server does not know the user, or there are no credentials
	NotKubernetes   Cause = "NotKubernetes"   // something answers, but not as an API server does
	Failing         Cause = "Failing"         // the server answers every list with an error
)

// remedies say what to do about a cause.
var remedies = map[Cause]string{
	Unreachable:     "check that the server runs and that the kubeconfig context is the right one",
	TimedOut:        "check the network, or raise --request-timeout",
	Untrusted:       "check the server address and its certificate authority in the kubeconfig",
	Unauthenticated: "log in again, or check the user of the kubeconfig context",
	NotKubernetes:   "check the server address in the kubeconfig",
	Failing:         "check the API server and its etcd",
}

// ServerError says that a server could not be asked at all, so that there is nothing to show.
type ServerError struct {
	Server string // its address
	Cause  Cause
	Err    error
}

// Error says in one line what failed, where, and what to do.
func (e *ServerError) Error() string {
	return fmt.Sprintf("reading %s: %s; %s", e.Server, wire.Clean(cause(e.Err)), remedies[e.Cause])
}

// Unwrap returns the error of the connection or of the request.
func (e *ServerError) Unwrap() error { return e.Err }

// cause is the text of err without "Get https://…", which repeats the server.
func cause(err error) string {
	if apierrors.IsUnauthorized(err) {
		return "the server refused the credentials (401 Unauthorized)" // client-go words it in two other ways
	}
	if large := (*connection.TooLargeError)(nil); errors.As(err, &large) {
		return large.Error()
	}
	if silent := (*connection.SilentError)(nil); errors.As(err, &silent) {
		return silent.Error()
	}
	if isTimeout(err) || strings.Contains(err.Error(), "Client.Timeout") { // of a body, only the text tells
		text := "no whole answer in time" // client-go has many ways to say so
		if _, before, ok := strings.Cut(err.Error(), "error from a previous attempt: "); ok {
			text += ", after " + before
		}
		return text
	}
	if request := (*url.Error)(nil); errors.As(err, &request) && request.Err != nil {
		return request.Err.Error()
	}
	return err.Error()
}

// fatal returns err as a *ServerError when it says that the server as a whole cannot be asked, and nil
// when only this request failed.
func (r *reader) fatal(err error) error {
	if errors.As(err, new(*ServerError)) || errors.Is(err, context.Canceled) {
		return err // nothing is known of what was given up
	}
	var why Cause
	switch {
	case apierrors.IsUnauthorized(err):
		why = Unauthenticated
	case errors.As(err, new(apierrors.APIStatus)), errors.As(err, new(*connection.TooLargeError)):
		return nil
	case isTLS(err):
		why = Untrusted
	case isTimeout(err):
		why = TimedOut
	case strings.Contains(err.Error(), "getting credentials: "): // an exec plugin; client-go has no type for it
		why = Unauthenticated
	case errors.As(err, new(*url.Error)), errors.As(err, new(net.Error)):
		why = Unreachable
	default:
		return nil // such as an answer that cannot be decoded
	}
	return &ServerError{Server: r.server, Cause: why, Err: err}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func isTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) || errors.As(err, new(x509.CertificateInvalidError)) ||
		errors.As(err, new(tls.RecordHeaderError)) || errors.As(err, new(tls.AlertError)) ||
		errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "remote error: tls: ")
}

// isNotServed reports whether the answer was 404, which for a collection means that there is no such
// resource.
func isNotServed(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// nothingAnswered returns an error when no list was answered in a sensible way. That a user may list nothing,
// or that a server serves no such resource, are sensible answers; but many servers do not serve a resource
// that is optional, whatever else is wrong with them.
func (r *reader) nothingAnswered(v serverVersion, kinds []wire.Kind, results []listed) error {
	var first string
	for i, result := range results {
		switch state := result.health.State; {
		case result.answered:
			return nil // left something out, but answered
		case state == inspect.NotServed && kinds[i].Resource.Optional() && v.git != "":
		case state == inspect.Broken, state == inspect.NotServed && v.git == "":
			if first == "" {
				first = result.health.Message
			}
		default:
			return nil
		}
	}
	switch {
	case first == "":
		return nil
	case v.git == "":
		return &ServerError{Server: r.server, Cause: NotKubernetes,
			Err: fmt.Errorf("it does not answer as a Kubernetes API server (%s)", first)}
	}
	return &ServerError{Server: r.server, Cause: Failing, Err: errors.New(first)}
}

// serverName is the address of the server, without credentials and without the timeout that client-go adds.
func serverName(client *rest.RESTClient) string {
	u := *client.Get().AbsPath("/").URL()
	u.User, u.RawQuery = nil, ""
	return wire.Clean(strings.TrimSuffix(u.String(), "/"))
}
