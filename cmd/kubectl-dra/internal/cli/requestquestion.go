package cli

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// methods are the HTTP methods of verbs.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "watch": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
	"post": http.MethodPost, "put": http.MethodPut, "head": http.MethodHead, "options": http.MethodOptions,
}

// requestFlags say which request is asked about.
type requestFlags struct {
	user           string
	groups         []string
	verb, resource string
	name, url      string
	verify         bool
	output         string
	template       string
	seats          int
}

// placeholder stands for the name of an object where it does not matter.
const placeholder = "NAME"

// request returns the request that the flags describe. The namespace is that of -n, or empty; usual is the one that
// is meant without it.
func (f *requestFlags) request(namespace string, usual func() (string, error)) (*flowcontrol.Request, error) {
	if f.user == "" {
		return nil, usagef("name the user of the request: --as USER, and --as-group GROUP for each group")
	}
	if (f.resource == "") == (f.url == "") {
		return nil, usagef("name what is requested: either --resource RESOURCE or --url URL")
	}
	f.verb = strings.ToLower(f.verb)
	method, known := methods[f.verb]
	if f.verb != "" && !known {
		return nil, usagef("unknown verb %q%s; there are %s", f.verb, didYouMean(f.verb, verbs()), commaList(verbs()))
	}
	if f.url != "" {
		return f.ofURL(namespace, cmp.Or(method, http.MethodGet))
	}
	if !slices.Contains(verbs(), f.verb) {
		return nil, usagef("name the verb: --verb %s", strings.Join(verbs(), "|"))
	}
	at, err := f.path(namespace, usual)
	if err != nil {
		return nil, err
	}
	return newRequest(f, method, at)
}

func verbs() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(methods)), func(verb string) bool {
		return slices.Contains([]string{"post", "put", "head", "options"}, verb) // those of URLs
	})
}

func (f *requestFlags) ofURL(namespace, method string) (*flowcontrol.Request, error) {
	if f.name != "" || namespace != "" {
		return nil, usagef("--url says everything: --name and --namespace are for --resource")
	}
	at, err := url.Parse(f.url)
	if err != nil {
		return nil, usagef("--url: %w", err)
	}
	if !strings.HasPrefix(at.Path, "/") {
		return nil, usagef("--url is %q; it needs a path, such as /api/v1/pods", f.url)
	}
	r, err := newRequest(f, method, at)
	if err != nil {
		return nil, err
	}
	if f.verb != "" && f.verb != r.Info.Verb && f.verb != strings.ToLower(method) {
		return nil, usagef("the server takes %s %s for the verb %s, not %s", method, f.url, r.Info.Verb, f.verb)
	}
	return r, nil
}

func newRequest(f *requestFlags, method string, at *url.URL) (*flowcontrol.Request, error) {
	r, err := flowcontrol.NewRequest(f.user, f.groups, method, at)
	if err != nil {
		return nil, usagef("no server would take this request: %w", err)
	}
	return &r, nil
}

// path is the path of a request for a resource.
func (f *requestFlags) path(namespace string, usual func() (string, error)) (*url.URL, error) {
	text, sub, _ := strings.Cut(f.resource, "/")
	resource, err := resourceNamed(text, namespace != "")
	if err != nil {
		return nil, err
	}
	if resource.name == "namespaces" && namespace == "" {
		namespace = f.name
	}
	collection := slices.Contains([]string{"list", "watch", "deletecollection"}, f.verb)
	named := sub != "" || !collection && f.verb != "create"
	query := url.Values{}
	if f.verb == "watch" {
		query.Set("watch", "true")
	}
	if f.name != "" && collection {
		query.Set("fieldSelector", "metadata.name="+f.name)
	}
	path := "/api/v1"
	if resource.group != "" {
		path = "/apis/" + resource.group + "/v1"
	}
	if !resource.cluster {
		if namespace == "" && !collection {
			if namespace, err = usual(); err != nil {
				return nil, err
			}
		}
		if namespace != "" {
			path += "/namespaces/" + url.PathEscape(namespace)
		}
	}
	path += "/" + resource.name
	if named {
		if collection {
			return nil, usagef("%s is for whole resources, and %s belongs to one object", f.verb, f.resource)
		}
		path += "/" + url.PathEscape(cmp.Or(f.name, placeholder))
	}
	if sub != "" {
		path += "/" + sub
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return url.Parse(path)
}
