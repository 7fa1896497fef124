package explain

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// methods are the HTTP methods of verbs.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "watch": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
	"post": http.MethodPost, "put": http.MethodPut, "head": http.MethodHead, "options": http.MethodOptions,
}

// requestOptions are a question about a request.
type requestOptions struct {
	sources.Options
	user                      string
	groups                    []string
	verb, resource, name, url string
	verify                    bool
	seats                     int
	request                   *flowcontrol.Request
}

// placeholder stands for the name of an object where it does not matter.
const placeholder = "NAME"

// asked returns the request that the flags describe. The namespace is that of -n, or empty.
func (o *requestOptions) asked(namespace string) (*flowcontrol.Request, error) {
	if o.user == "" {
		return nil, console.Usagef("name the user of the request: --as USER, and --as-group GROUP for each group")
	}
	if (o.resource == "") == (o.url == "") {
		return nil, console.Usagef("name what is requested: either --resource RESOURCE or --url URL")
	}
	o.verb = strings.ToLower(o.verb)
	method, known := methods[o.verb]
	if o.verb != "" && !known {
		return nil, console.Usagef("unknown verb %q%s; there are %s", o.verb, console.DidYouMean(o.verb, verbs()), console.CommaList(verbs()))
	}
	if o.url != "" {
		return o.ofURL(namespace, cmp.Or(method, http.MethodGet))
	}
	if !slices.Contains(verbs(), o.verb) {
		return nil, console.Usagef("name the verb: --verb %s", strings.Join(verbs(), "|"))
	}
	at, err := o.path(namespace)
	if err != nil {
		return nil, err
	}
	return newRequest(o, method, at)
}

func verbs() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(methods)), func(verb string) bool {
		return slices.Contains([]string{"post", "put", "head", "options"}, verb) // those of URLs
	})
}

func (o *requestOptions) ofURL(namespace, method string) (*flowcontrol.Request, error) {
	if o.name != "" || namespace != "" {
		return nil, console.Usagef("--url says everything: --name and --namespace are for --resource")
	}
	at, err := url.Parse(o.url)
	if err != nil {
		return nil, console.Usagef("--url: %w", err)
	}
	if !strings.HasPrefix(at.Path, "/") {
		return nil, console.Usagef("--url is %q; it needs a path, such as /api/v1/pods", o.url)
	}
	r, err := newRequest(o, method, at)
	if err != nil {
		return nil, err
	}
	if o.verb != "" && o.verb != r.Info.Verb && o.verb != strings.ToLower(method) {
		return nil, console.Usagef("the server takes %s %s for the verb %s, not %s", method, o.url, r.Info.Verb, o.verb)
	}
	return r, nil
}

func newRequest(o *requestOptions, method string, at *url.URL) (*flowcontrol.Request, error) {
	r, err := flowcontrol.NewRequest(o.user, o.groups, method, at)
	if err != nil {
		return nil, console.Usagef("no server would take this request: %w", err)
	}
	return &r, nil
}

// path is the path of a request for a resource.
func (o *requestOptions) path(namespace string) (*url.URL, error) {
	text, sub, _ := strings.Cut(o.resource, "/")
	resource, err := resourceNamed(text, namespace != "")
	if err != nil {
		return nil, err
	}
	if resource.name == "namespaces" && namespace == "" {
		namespace = o.name
	}
	collection := slices.Contains([]string{"list", "watch", "deletecollection"}, o.verb)
	named := sub != "" || !collection && o.verb != "create"
	query := url.Values{}
	if o.verb == "watch" {
		query.Set("watch", "true")
	}
	if o.name != "" && collection {
		query.Set("fieldSelector", "metadata.name="+o.name)
	}
	path := "/api/v1"
	if resource.group != "" {
		path = "/apis/" + resource.group + "/v1"
	}
	if !resource.cluster {
		if namespace == "" && !collection {
			if namespace, err = o.Reader.Namespace(); err != nil {
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
			return nil, console.Usagef("%s is for whole resources, and %s belongs to one object", o.verb, o.resource)
		}
		path += "/" + url.PathEscape(cmp.Or(o.name, placeholder))
	}
	if sub != "" {
		path += "/" + sub
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return url.Parse(path)
}
