package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// readRetries is how often a request of Read is repeated when the server asks for that (429, or 5xx with
// Retry-After) or drops the connection. A reader that is started by hand has no use for client-go's
// ten.
const readRetries = 3

// bodyVerbosity is that from which on client-go logs bodies.
const bodyVerbosity = 8

// listed is the outcome of reading one resource.
type listed struct {
	health inspect.Health
	// answered says that at least one page was read.
	answered bool
	objects  []object
	revision string // of the list
}

// read lists a resource at its newest served version. The error is that of a server that does not
// answer; everything else is in the health.
func (r *reader) read(ctx context.Context, k kind) (listed, error) {
	for _, v := range k.versions {
		may, err := r.mayServe(ctx, k, v)
		if err != nil {
			return listed{}, err
		}
		if !may {
			continue
		}
		result, err := r.readVersion(ctx, k, v)
		if err == nil || !isNotServed(err) {
			return result, err
		}
	}
	return listed{health: inspect.Health{State: inspect.NotServed, Message: notServed(k)}}, nil
}

func notServed(k kind) string {
	oldest := k.versions[len(k.versions)-1]
	if oldest == k.versions[0] {
		return fmt.Sprintf("this server does not serve %s at %s", k.qualified(), oldest)
	}
	return fmt.Sprintf("this server does not serve %s at any version from %s to %s", k.qualified(), oldest, k.versions[0])
}

// readVersion lists a resource at one version, cluster-wide or else in the namespace of the options.
// Its error is one of those of read, or says that the version is not served.
func (r *reader) readVersion(ctx context.Context, k kind, v apiVersion) (listed, error) {
	version := k.groupVersion(v).String()
	result, err := r.list(ctx, k, v, "")
	if err == nil {
		result.health = inspect.Health{State: inspect.Synced, Version: version}
		return result, nil
	}
	var partial *partialError
	switch {
	case errors.As(err, &partial):
		result.health = inspect.Health{State: inspect.Broken, Version: version,
			Message: fmt.Sprintf("listing %s: %v", k.qualified(), partial)}
		return result, nil
	case !apierrors.IsForbidden(err):
		return r.broken(k, version, err)
	}
	message := fmt.Sprintf("cannot list %s at cluster scope", k.qualified())
	if !k.Namespaced || r.opts.Namespace == "" {
		return listed{health: inspect.Health{State: inspect.Forbidden, Version: version, Message: message}}, nil
	}
	result, err = r.list(ctx, k, v, r.opts.Namespace)
	switch {
	case err == nil:
		result.health = inspect.Health{State: inspect.Narrowed, Version: version,
			Namespaces: []string{r.opts.Namespace},
			Message:    fmt.Sprintf("%s; only namespace %s was read", message, r.opts.Namespace)}
		return result, nil
	case apierrors.IsForbidden(err):
		message += " or in namespace " + r.opts.Namespace
		return listed{health: inspect.Health{State: inspect.Forbidden, Version: version, Message: message}}, nil
	}
	return r.broken(k, version, err)
}

// broken turns the error of a list into a health, unless it ends the whole read or says that the
// version is not served.
func (r *reader) broken(k kind, version string, err error) (listed, error) {
	if isNotServed(err) {
		return listed{}, err
	}
	if err := r.fatal(err); err != nil {
		return listed{}, err
	}
	return listed{health: inspect.Health{State: inspect.Broken, Version: version,
		Message: fmt.Sprintf("listing %s: %s", k.qualified(), clean(cause(err)))}}, nil
}

// list reads all pages. When a continue token has expired (410 Gone) it starts again and asks for
// everything at once: a server that compacts faster than we read would expire the next token too. A
// *partialError comes with the result, every other error without.
func (r *reader) list(ctx context.Context, k kind, v apiVersion, namespace string) (listed, error) {
	result, err := r.listPages(ctx, k, v, namespace, r.opts.PageSize)
	if isExpired(err) && result.answered {
		result, err = r.listPages(ctx, k, v, namespace, 0)
	}
	if err != nil && !errors.As(err, new(*partialError)) {
		return listed{}, err
	}
	return result, err
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// listPages is list without a second beginning. With an error, only whether there was a page counts.
func (r *reader) listPages(ctx context.Context, k kind, v apiVersion, namespace string, limit int64) (listed, error) {
	var result listed
	var partial error
	options := metav1.ListOptions{Limit: limit}
	shared, buffer := sharing.New(), &bytes.Buffer{}
	for pages := newPaging(k, r.patience); ; {
		page, err := r.listPage(ctx, k, v, namespace, options, buffer)
		if smaller, ok := smallerPage(options, err); ok {
			options = smaller
			continue
		}
		if err != nil {
			return result, err
		}
		objects, err := k.read(v, page.list, shared)
		if err != nil && !errors.As(err, new(*partialError)) {
			return listed{}, err
		}
		partial = errors.Join(partial, err)
		if err := pages.add(page, objects, options.Limit); err != nil {
			return listed{}, err
		}
		result.answered, result.revision = true, page.revision
		result.objects = append(result.objects, objects...)
		r.progress("read %d %s", pages.objects, k.Resource)
		if options.Continue = page.next; page.next == "" {
			return result, partial
		}
		if r.grow {
			options.Limit = nextLimit(options.Limit, page.bytes)
		}
		if err := r.lead.wait(ctx, k.Resource); err != nil {
			return listed{}, err
		}
	}
}

// listPage asks for a page. Its error is that of ctx when that has ended, whatever the server said. The
// buffer is memory to read into, which the next page may use again.
func (r *reader) listPage(ctx context.Context, k kind, v apiVersion, namespace string, options metav1.ListOptions, buffer *bytes.Buffer) (*page, error) {
	bounds := connection.Bounds{Bytes: limits.page}
	if options.Limit == 0 || options.ResourceVersion != "" { // a server may answer that from its cache, which knows no pages
		bounds.Bytes = limits.whole
	}
	var p *page
	err := r.fetch(ctx, r.request(k, v, namespace, options), bounds, buffer, func(data []byte, media string) (err error) {
		p, err = r.newPage(data, media, k, v)
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err() //nolint:wrapcheck // of the caller
	}
	return p, err
}

// fetch reads the answer to a request, and gives it to a function with its media type. It is read into a
// buffer, or into the memory for large answers, and is not kept.
func (r *reader) fetch(ctx context.Context, request *rest.Request, bounds connection.Bounds, into *bytes.Buffer, take func(data []byte, media string) error) error {
	if r.timeout > 0 { // client-go does not see to it where it does not read the body
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	var content atomic.Value
	var paused atomic.Bool
	bounds.ContentType, bounds.Paused = &content, &paused
	body, err := request.Stream(connection.With(ctx, bounds))
	if err != nil {
		return err //nolint:wrapcheck // callers look at it and say what they asked for
	}
	defer body.Close() //nolint:errcheck // it was read
	data, release, err := r.large.readAll(ctx, body, into, &paused)
	defer release()
	if err != nil {
		// The words of client-go, which reads all other answers.
		return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	if log := klog.FromContext(ctx).V(bodyVerbosity); log.Enabled() {
		log.Info("Response Body", "body", clean(string(data)))
	}
	text, _ := content.Load().(string)
	if err := checkContent(text); err != nil {
		return err
	}
	media, _, err := mime.ParseMediaType(text)
	if err != nil { // there is none
		media = runtime.ContentTypeProtobuf
	}
	return take(data, media)
}

// decode decodes the answer to a request.
func decode(result rest.Result, into runtime.Object) error {
	if err := result.Error(); err != nil {
		return err //nolint:wrapcheck // callers look at it and say what they asked for
	}
	var content string
	result.ContentType(&content)
	if err := checkContent(content); err != nil {
		return err
	}
	return result.Into(into) //nolint:wrapcheck // as above
}

// checkContent refuses an answer that no API server gives.
func checkContent(content string) error {
	if content == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(content)
	if err != nil || media != runtime.ContentTypeJSON && media != runtime.ContentTypeProtobuf {
		return fmt.Errorf("the answer is %q: a page of a login or of a proxy, and not of an API server", clean(content))
	}
	return nil
}

// request asks for a resource at a version, in one namespace or in all ("").
func (r *reader) request(k kind, v apiVersion, namespace string, options metav1.ListOptions) *rest.Request {
	request := r.client.Get().AbsPath(k.path(v, namespace)...).
		SpecificallyVersionedParams(&options, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"}).
		MaxRetries(r.retries)
	if r.timeout > 0 && !options.Watch {
		request.Timeout(r.timeout)
	}
	if k.jsonOnly(v) {
		request.SetHeader("Accept", runtime.ContentTypeJSON)
	}
	return request
}
