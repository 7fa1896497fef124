package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"regexp"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// hideUserinfo moves a user and a password from the address of the server to where they are not printed: package
// http would send them all the same, but logs and errors show the address.
func hideUserinfo(config *rest.Config) {
	address, err := url.Parse(config.Host)
	if err != nil || address.User == nil {
		return
	}
	if config.Username == "" && config.BearerToken == "" && config.BearerTokenFile == "" && config.ExecProvider == nil && config.AuthProvider == nil {
		config.Username = address.User.Username()
		config.Password, _ = address.User.Password()
	}
	address.User = nil
	config.Host = address.String()
}

// userinfo is what stands before the last @ of an address, also of one that cannot be parsed.
var userinfo = regexp.MustCompile(`(://)[^\s"'<>]*@`)

// maskUserinfo is a text in which addresses have no user and no password.
func maskUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}…@") }

// logWriter makes the log of libraries, which has a lot from servers in it, safe to show.
type logWriter struct{ w io.Writer }

// Write implements io.Writer. Each call has whole entries.
func (l *logWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		text := inspect.Sanitize(maskUserinfo(string(bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("\t"), []byte("    ")))))
		if _, err := fmt.Fprintln(l.w, text); err != nil {
			return 0, err //nolint:wrapcheck // a writer passes on what it meets
		}
	}
	return len(p), nil
}
