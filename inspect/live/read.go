package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/programs"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

const (
	defaultPageSize = 500

	// A read is a burst of a few dozen requests at most, so the client must not slow it down. The API
	// server has its own priority and fairness.
	queriesPerSecond = 50
	burst            = 100

	// listTimeouts is how many times as long as a request all pages of a list may take, where requests have a
	// timeout.
	listTimeouts = 10
)

// Options say what Read reads. The zero value reads what a question about devices needs, in all namespaces.
type Options struct {
	// Namespace is what the user looks at; "" means all namespaces. Namespaced resources are always
	// listed cluster-wide, because the holder of a device may live in any namespace. Where that is
	// forbidden, Namespace alone is read and the resource is recorded as inspect.Narrowed.
	Namespace string
	// Progress, if not nil, is told in a few words what is being read. It is called from several
	// goroutines, one call at a time, and must not block.
	Progress func(string)
	// PageSize is how many objects one request asks for; 0 means 500, and more after pages that were small.
	PageSize int64
	// Resources are those to read; nil means DefaultResources().
	Resources []inspect.Resource
	// First are those of the Resources that somebody waits for. Of the others, only the first page is read
	// before these have been read, or have failed, or have taken too long. Only Watch uses it.
	First []inspect.Resource
	// Override, if not nil, changes the features that the server is found to have. Only Watch uses it.
	Override func(inspect.Features) inspect.Features
	// Scheduler is the configuration of kube-scheduler. If it is nil, that which the scheduler of the cluster
	// names is read, if it can be.
	Scheduler *schedulerconfig.Config
	// Kueue is the configuration of Kueue. If it is nil, that which its manager names is read, if it can be.
	Kueue *kueueconfig.Config
}

// DefaultResources are the resources that a question about devices needs.
func DefaultResources() []inspect.Resource {
	return []inspect.Resource{
		inspect.Claims, inspect.Templates, inspect.Classes, inspect.Slices, inspect.TaintRules,
		inspect.Pods, inspect.Nodes,
	}
}

// PodResources are the resources that a question about a pod needs: beside the devices, all that the
// scheduler's filters and preemption look at, and the quotas that limit its claims.
func PodResources() []inspect.Resource {
	return append(DefaultResources(),
		inspect.VolumeClaims, inspect.Volumes, inspect.StorageClasses, inspect.StorageCapacities, inspect.CSIDrivers, inspect.CSINodes,
		inspect.VolumeAttachments, inspect.Namespaces, inspect.PodGroups, inspect.CompositePodGroups, inspect.Quotas, inspect.Budgets,
	)
}

// KueueResources are those of Kueue, which a question about a pod needs besides where it may wait in a queue,
// and the LimitRanges that it heeds.
func KueueResources() []inspect.Resource {
	return slices.DeleteFunc(inspect.Resources(), func(r inspect.Resource) bool { return !r.OfKueue() && r != inspect.LimitRanges })
}

// Cluster is what Read found out about a cluster.
type Cluster struct {
	// Objects are those that could be read, in the order of the server (by namespace and name). Items
	// of a list carry no kind and apiVersion of their own.
	Objects inspect.Objects
	// Health has an entry for every resource that was to be read.
	Health map[inspect.Resource]inspect.Health
	// Features are the gates of the API server, or else the defaults of its version and what objects use.
	Features inspect.Features
	// Scheduler is the configuration of kube-scheduler. It is nil if that is the default one, or is not
	// known.
	Scheduler *schedulerconfig.Config
	// Selecting are the objects by whose selectors pods are spread, if kube-scheduler may refuse nodes
	// because of them, and they could be read.
	Selecting *inspect.Selecting
	// Kueue is the configuration of Kueue. It is nil where there is no Kueue, or it is not known.
	Kueue *kueueconfig.Config
	// ServerVersion is the version that the server calls itself, such as "v1.37.1". It has no patch if it
	// could not be read.
	ServerVersion string
}

// reader is one Read under way.
type reader struct {
	client *rest.RESTClient
	// negotiator finds the decoder of an answer that is not decoded here.
	negotiator runtime.ClientNegotiator
	server     string
	timeout    time.Duration // of each request but watches; 0 stands for that of the client, if it has one
	retries    int           // how often client-go repeats a request by itself
	opts       Options
	grow       bool // pages may become larger than opts.PageSize
	progress   func(format string, args ...any)
	recent     sync.Map   // of *recent by schema.GroupVersion, see mayServe
	lead       *headStart // nil if all resources are read alike
	large      connection.LargeMemory
	age        *wire.Age
	patience   time.Duration // how long all pages of a list may take; 0 is for ever
	programs   *programs.Seen
}

// Read reads the cluster that config points to. It ends when everything has been read, when the
// server turns out not to answer (a *ServerError) or when ctx is done (its error, wrapped). The
// Timeout of config bounds every single request.
func Read(ctx context.Context, config *rest.Config, opts Options) (*Cluster, error) {
	r, kinds, err := newReader(config, opts)
	if err != nil {
		return nil, err
	}
	results := make([]listed, len(kinds))
	var about serverVersion
	var gates metricGates

	group, groupCtx := errgroup.WithContext(connection.WithoutErrorLog(ctx))
	group.Go(func() (err error) { about, err = r.version(groupCtx); return err })
	group.Go(func() error { gates = r.gates(groupCtx); return nil })
	for i, k := range kinds {
		group.Go(func() (err error) { results[i], err = r.read(groupCtx, k); return err })
	}
	err = group.Wait()
	if ctx.Err() != nil { // whatever failed, or was given up without an error, has no other reason
		return nil, fmt.Errorf("reading %s: %w", r.server, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}

	cluster := &Cluster{Health: map[inspect.Resource]inspect.Health{}, ServerVersion: about.release()}
	for i, k := range kinds {
		cluster.Health[k.Resource] = results[i].health
		inspect.SetObjects(&cluster.Objects, k.Kind, results[i].objects)
	}
	cluster.Features = features(about, gates, &cluster.Objects)
	found := r.running(ctx, cluster.Features)
	cluster.Scheduler, cluster.Features, cluster.Kueue = cmp.Or(opts.Scheduler, found.Config), found.Features(cluster.Features), found.Kueue
	if err := r.nothingAnswered(about, kinds, results); err != nil {
		return nil, err
	}
	cluster.Selecting, err = r.spreading(ctx, cluster.Scheduler)
	return cluster, err
}

// newReader checks the options and makes the client.
func newReader(config *rest.Config, opts Options) (*reader, []wire.Kind, error) {
	grow := opts.PageSize <= 0
	if grow {
		opts.PageSize = defaultPageSize
	}
	if opts.Resources == nil {
		opts.Resources = DefaultResources()
	}
	if problems := content.IsPathSegmentName(opts.Namespace); len(problems) > 0 {
		return nil, nil, fmt.Errorf("namespace %q: %s", opts.Namespace, problems[0])
	}
	seen := programs.New()
	var chosen []wire.Kind
	for _, resource := range opts.Resources {
		k, ok := wire.KindOf(resource)
		if !ok {
			return nil, nil, fmt.Errorf("reading %q: not a resource that can be read", resource)
		}
		if resource == inspect.Pods || resource == inspect.ClusterQueues || resource == inspect.LocalQueues {
			k.Reduced = func(o wire.Object) { seen.See(o); wire.ReduceObject(o) }
		}
		chosen = append(chosen, k)
	}
	a := &wire.Age{}
	client, err := newClient(config, a)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	r := &reader{client: client, negotiator: negotiator(a), age: a, server: serverName(client), opts: opts, grow: grow, retries: readRetries, large: connection.NewLargeMemory(), programs: seen}
	r.patience = listTimeouts * config.Timeout
	r.progress = serialized(opts.Progress)
	return r, chosen, nil
}

// newClient returns a client for any path. It asks for protobuf, which for pods is several times
// cheaper to decode than JSON, and takes JSON where a server has nothing else.
func newClient(config *rest.Config, a *wire.Age) (*rest.RESTClient, error) {
	c := rest.CopyConfig(config)
	c.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	c.ContentType = runtime.ContentTypeProtobuf
	c.NegotiatedSerializer = wire.NewCodec(a)
	// Deprecated versions are chosen only where nothing newer is served: no news for the user.
	c.WarningHandler, c.WarningHandlerWithContext = rest.NoWarnings{}, nil
	if c.RateLimiter == nil && c.QPS >= 0 {
		c.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(max(c.QPS, queriesPerSecond), max(c.Burst, burst))
	}
	client, err := connection.Client(c)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says which server
	}
	return rest.UnversionedRESTClientForConfigAndClient(c, client)
}

// negotiator returns what finds the decoders of client-go.
func negotiator(a *wire.Age) runtime.ClientNegotiator {
	return runtime.NewClientNegotiator(wire.NewCodec(a), schema.GroupVersion{})
}

// serialized wraps a progress function so that calls do not overlap.
func serialized(progress func(string)) func(string, ...any) {
	if progress == nil {
		return func(string, ...any) {}
	}
	var mu sync.Mutex
	return func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		mu.Lock()
		defer mu.Unlock()
		progress(text)
	}
}
