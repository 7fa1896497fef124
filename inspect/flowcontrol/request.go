package flowcontrol

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Request is a request as the API server sees it when it classifies it.
type Request struct {
	// User is the name of who asks, and Groups are all groups that the server would put the user into; see
	// AllGroups.
	User   string
	Groups []string
	// Method and URL are those of the HTTP request. Of the URL only path and query count.
	Method string
	URL    *url.URL
	// Info is what the server reads out of the method and the URL.
	Info request.RequestInfo
}

// resolver reads URLs with the prefixes that kube-apiserver has.
var resolver = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// NewRequest returns the request that a user makes with a method, such as GET, and a URL.
func NewRequest(name string, groups []string, method string, at *url.URL) (Request, error) {
	info, err := resolver.NewRequestInfo(&http.Request{Method: method, URL: at})
	if err != nil {
		return Request{}, fmt.Errorf("reading the URL %s: %w", at, err)
	}
	return Request{User: name, Groups: AllGroups(name, groups), Method: method, URL: at, Info: *info}, nil
}

// AllGroups returns the groups of a user with those that the server adds: every service account is in
// system:serviceaccounts and in the group of its namespace, and every user is in system:authenticated, or
// else in system:unauthenticated. They are in the order of the server, each once.
func AllGroups(name string, groups []string) []string {
	all := slices.Clone(groups)
	if namespace, _, err := serviceaccount.SplitUsername(name); err == nil {
		all = append(all, serviceaccount.MakeGroupNames(namespace)...)
	}
	switch {
	case slices.Contains(all, user.AllUnauthenticated):
	case name == user.Anonymous:
		all = append(all, user.AllUnauthenticated)
	default:
		all = append(all, user.AllAuthenticated)
	}
	var out []string
	for _, group := range all {
		if !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// longRunning are the subresources whose requests kube-apiserver lets pass by priority and fairness.
var longRunning = []string{"attach", "exec", "proxy", "log", "portforward"}

// LongRunning reports whether the server serves the request without asking priority and fairness: it may take
// as long as it likes. A watch also is long-running, but it has seats until its initial events are sent.
func (r *Request) LongRunning() bool {
	switch {
	case r.Info.Verb == "watch":
		return false
	case r.Info.IsResourceRequest:
		return r.Info.Verb == "proxy" || slices.Contains(longRunning, r.Info.Subresource)
	}
	return strings.HasPrefix(r.Info.Path, "/debug/pprof/")
}

// Resource is the resource with its subresource, as the rules of FlowSchemas write it: "pods/log".
func (r *Request) Resource() string {
	if r.Info.Subresource == "" {
		return r.Info.Resource
	}
	return r.Info.Resource + "/" + r.Info.Subresource
}
