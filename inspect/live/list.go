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
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
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
	objects  []wire.Object
	revision string // of the list
}

// read lists a resource at its newest served version. The error is that of a server that does not
// answer; everything else is in the health.
func (r *reader) read(ctx context.Context, k wire.Kind) (listed, error) {
	for _, v := range k.Versions {
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

func notServed(k wire.Kind) string {
	oldest := k.Versions[len(k.Versions)-1]
	if oldest == k.Versions[0] {
		return fmt.Sprintf("this server does not serve %s at %s", k.Qualified(), oldest)
	}
	return fmt.Sprintf("this server does not serve %s at any version from %s to %s", k.Qualified(), oldest, k.Versions[0])
}

// readVersion lists a resource at one version. Its error is one of those of read, or says that the version is
// not served.
func (r *reader) readVersion(ctx context.Context, k wire.Kind, v wire.Version) (listed, error) {
	var result listed
	health, _, err := r.anywhere(k, v, "listing", func(namespace string) (err error) {
		result, err = r.list(ctx, k, v, namespace)
		return err
	})
	if isNotServed(err) {
		return listed{}, err
	}
	if err != nil {
		if err := r.fatal(err); err != nil {
			return listed{}, err
		}
	}
	result.health = health
	return result, nil
}

// anywhere reads a resource at one version: everywhere or, if that is forbidden, in the namespace of the
// options. It returns how far it was read, and where. The error is that of what could not be read at all; the
// health says so, too, with what was done.
func (r *reader) anywhere(
	k wire.Kind, v wire.Version, doing string, read func(namespace string) error,
) (health inspect.Health, namespace string, err error) {
	health = inspect.Health{State: inspect.Synced, Version: k.GroupVersion(v).String()}
	forbidden := fmt.Sprintf("cannot list %s at cluster scope", k.Qualified())
	err = read("")
	if apierrors.IsForbidden(err) && k.Namespaced && r.opts.Namespace != "" {
		namespace = r.opts.Namespace
		err = read(namespace)
		health.State, health.Namespaces = inspect.Narrowed, []string{namespace}
		health.Message = fmt.Sprintf("%s; only namespace %s was read", forbidden, namespace)
		forbidden += " or in namespace " + namespace
	}
	switch {
	case err == nil:
		return health, namespace, nil
	case errors.As(err, new(*wire.PartialError)):
		health.State, health.Message = inspect.Broken, fmt.Sprintf("listing %s: %v", k.Qualified(), err)
		return health, namespace, nil
	case apierrors.IsForbidden(err):
		health = inspect.Health{State: inspect.Forbidden, Version: health.Version, Message: forbidden}
		return health, namespace, err
	}
	return broken(k, v, doing, err), namespace, err
}

// broken is the health of a resource that cannot be read, with what was done.
func broken(k wire.Kind, v wire.Version, doing string, err error) inspect.Health {
	return inspect.Health{State: inspect.Broken, Version: k.GroupVersion(v).String(),
		Message: fmt.Sprintf("%s %s: %s", doing, k.Qualified(), wire.Clean(cause(err)))}
}

// list reads all pages. When a continue token has expired (410 Gone) it starts again and asks for
// everything at once: a server that compacts faster than we read would expire the next token too. A
// *partialError comes with the result, every other error without.
func (r *reader) list(ctx context.Context, k wire.Kind, v wire.Version, namespace string) (listed, error) {
	result, err := r.listPages(ctx, k, v, namespace, metav1.ListOptions{Limit: r.opts.PageSize})
	if isExpired(err) && result.answered {
		result, err = r.listPages(ctx, k, v, namespace, metav1.ListOptions{})
	}
	if err != nil && !errors.As(err, new(*wire.PartialError)) {
		return listed{}, err
	}
	return result, err
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// listPages is list without a second beginning. With an error, only whether there was a page counts.
func (r *reader) listPages(ctx context.Context, k wire.Kind, v wire.Version, namespace string,
	options metav1.ListOptions) (listed, error) {
	var result listed
	var partial error
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
		objects, err := k.Read(v, page.list, shared)
		if err != nil && !errors.As(err, new(*wire.PartialError)) {
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
func (r *reader) listPage(ctx context.Context, k wire.Kind, v wire.Version, namespace string, options metav1.ListOptions, buffer *bytes.Buffer) (*page, error) {
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
	if errors.Is(err, wire.ErrNewer) {
		if _, known := r.age.Newer.LoadOrStore(k.Resource, true); !known {
			return r.listPage(ctx, k, v, namespace, options, buffer)
		}
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
	data, release, err := r.large.ReadAll(ctx, body, into, &paused)
	defer release()
	if err != nil {
		// The words of client-go, which reads all other answers.
		return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	if log := klog.FromContext(ctx).V(bodyVerbosity); log.Enabled() {
		log.Info("Response Body", "body", wire.Clean(string(data)))
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
		return fmt.Errorf("the answer is %q: a page of a login or of a proxy, and not of an API server", wire.Clean(content))
	}
	return nil
}

// get asks for a path, as patiently as the reader is.
func (r *reader) get(path ...string) *rest.Request {
	request := r.client.Get().AbsPath(path...).MaxRetries(r.retries)
	if r.timeout > 0 {
		request.Timeout(r.timeout)
	}
	return request
}

// request asks for a resource at a version, in one namespace or in all ("").
func (r *reader) request(k wire.Kind, v wire.Version, namespace string, options metav1.ListOptions) *rest.Request {
	request := r.get(k.Path(v, namespace)...)
	if options.Watch {
		request = r.client.Get().AbsPath(k.Path(v, namespace)...).MaxRetries(r.retries)
	}
	request.SpecificallyVersionedParams(&options, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
	if _, newer := r.age.Newer.Load(k.Resource); newer || k.JSONOnly(v) {
		request.SetHeader("Accept", runtime.ContentTypeJSON)
	}
	return request
}
