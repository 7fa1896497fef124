package flowcontrol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

const (
	metricsPath = "/metrics"
	dumpPath    = "/debug/api_priority_and_fairness/dump_priority_levels"
	// requestsPath is asked for with details, which say who asks what.
	requestsPath = "/debug/api_priority_and_fairness/dump_requests"

	// readTimeout bounds each of the two requests. Metrics of a busy server are tens of megabytes.
	readTimeout = 10 * time.Second
	// How much of an answer is read, in bytes. The dump has a line for each level and for each request that waits.
	metricsLimit = 256 << 20
	dumpLimit    = 32 << 20
	// longestMessage bounds what a server can make us print, in bytes.
	longestMessage = 300
)

// Reading is what one Read found out. Each half is there when its health is Synced, and nil otherwise.
type Reading struct {
	Metrics       *Metrics
	MetricsHealth inspect.Health
	Dump          *Dump
	DumpHealth    inspect.Health
}

// Source is where readings come from: a [Reader], or something that plays a server.
type Source interface {
	// Read takes a reading. It does not fail: what could not be read is in the health of the reading.
	Read(ctx context.Context) Reading
}

// Reader reads the live figures of a server, as often as it is asked.
//
// What fails is asked for less and less often: until then the last health is given again.
type Reader struct {
	client                  rest.Interface
	metrics, dump, requests source
}

// source is one of the two things that are read.
type source struct {
	path  string
	limit int64
	pace  *connection.Pace

	mu     sync.Mutex
	failed inspect.Health // the last time, if it failed
}

// due reports whether it may be asked for, or else why not.
func (s *source) due() (inspect.Health, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed, s.pace.Wait(time.Now()) == 0
}

// note writes down how asking went.
func (s *source) note(ctx context.Context, h inspect.Health, retryAfter int64) {
	if ctx.Err() != nil {
		return // the caller gave up
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = h
	if h.State == inspect.Synced {
		s.pace.Succeeded()
		return
	}
	rare := h.State == inspect.Forbidden || h.State == inspect.NotServed
	s.pace.Failed(time.Now(), rare, time.Duration(retryAfter)*time.Second)
}

// NewReader returns a Reader of the server that config points to.
func NewReader(config *rest.Config) (*Reader, error) {
	c := rest.CopyConfig(config)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // to understand why the server refuses
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.WarningHandler, c.WarningHandlerWithContext = rest.NoWarnings{}, nil
	bounded, err := connection.Client(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(c, bounded)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return &Reader{
		client:  client,
		metrics: source{path: metricsPath, limit: metricsLimit, pace: connection.NewPace(connection.Default)},
		dump:    source{path: dumpPath, limit: dumpLimit, pace: connection.NewPace(connection.Default)},

		requests: source{path: requestsPath, limit: dumpLimit, pace: connection.NewPace(connection.Default)},
	}, nil
}

// Read reads the metrics and the dump at the same time. It does not fail: what could not be read is in
// the health, Forbidden when the user may not read it.
func (r *Reader) Read(ctx context.Context) Reading {
	var reading Reading
	var both sync.WaitGroup
	both.Go(func() { reading.Dump, reading.DumpHealth = get(ctx, r.client, &r.dump, ParseDump) })
	reading.Metrics, reading.MetricsHealth = get(ctx, r.client, &r.metrics, ParseMetrics)
	both.Wait()
	return reading
}

// RequestSource is where dumps of requests come from.
type RequestSource interface {
	// Requests returns the requests that wait or are executed. The dump is nil unless the health is Synced.
	Requests(ctx context.Context) (*RequestDump, inspect.Health)
}

// Requests implements RequestSource. It is for one server: behind a load balancer, any of them.
func (r *Reader) Requests(ctx context.Context) (*RequestDump, inspect.Health) {
	return get(ctx, r.client, &r.requests, ParseRequestDump)
}

// errOff says that a server has metrics, but none about priority levels.
var errOff = errors.New("they say nothing of priority levels: API Priority and Fairness is off, or the server is too old")

func get[T any](ctx context.Context, client rest.Interface, from *source, parse func(io.Reader) (*T, error)) (*T, inspect.Health) {
	if h, due := from.due(); !due {
		return nil, h
	}
	var retryAfter atomic.Int64
	out, h := getNow(connection.With(ctx, connection.Bounds{Bytes: from.limit, RetryAfter: &retryAfter}), client, from.path, parse)
	from.note(ctx, h, retryAfter.Load())
	return out, h
}

func getNow[T any](ctx context.Context, client rest.Interface, path string, parse func(io.Reader) (*T, error)) (*T, inspect.Health) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	request := client.Get().AbsPath(path).SetHeader("Accept", "text/plain").MaxRetries(0)
	if path == requestsPath {
		request.Param("includeRequestDetails", "1")
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, failed(path, err)
	}
	defer func() { _ = body.Close() }() // nothing was written
	out, err := parse(body)
	if m, ok := any(out).(*Metrics); ok && err == nil && len(m.Levels) == 0 {
		err = errOff
	}
	if err != nil {
		return nil, failed(path, err)
	}
	return out, inspect.Health{State: inspect.Synced}
}

func failed(path string, err error) inspect.Health {
	switch {
	case apierrors.IsForbidden(err):
		return inspect.Health{State: inspect.Forbidden, Message: "cannot get " + path}
	case apierrors.IsNotFound(err), errors.Is(err, errOff):
		return inspect.Health{State: inspect.NotServed, Message: fmt.Sprintf("getting %s: %s", path, clean(err.Error()))}
	}
	return inspect.Health{State: inspect.Broken, Message: fmt.Sprintf("getting %s: %s", path, clean(err.Error()))}
}

// clean makes text from a server one safe line that is not endless.
func clean(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "..."
	}
	return text
}
