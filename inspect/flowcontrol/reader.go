package flowcontrol

import (
	"context"
	"errors"
	"fmt"
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

	// readTimeout bounds a request. Metrics of a busy server are tens of megabytes.
	readTimeout = 10 * time.Second
	// metricsLimit is how much of an answer is read, in bytes.
	metricsLimit = 256 << 20
	// longestMessage bounds what a server can make us print, in bytes.
	longestMessage = 300
)

// Reading is what one Read found out. Metrics are there when their health is Synced, and nil otherwise.
type Reading struct {
	Metrics *Metrics
	Health  inspect.Health
}

// Level returns what a level is doing, or nil where that was not read.
func (r Reading) Level(name string) *Load {
	if r.Metrics == nil {
		return nil
	}
	return r.Metrics.Levels[name]
}

// Schema returns the counts of a FlowSchema's requests in a level, or nil where they were not read. A count
// that has never been other than 0 has no metric.
func (r Reading) Schema(level, schema string) *Counts {
	if r.Metrics == nil {
		return nil
	}
	if load := r.Metrics.Levels[level]; load != nil && load.Schemas[schema] != nil {
		return load.Schemas[schema]
	}
	return &Counts{}
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
	client rest.Interface
	pace   *connection.Pace

	mu     sync.Mutex
	failed inspect.Health // the last time, if it failed
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
	return &Reader{client: client, pace: connection.NewPace(connection.Default)}, nil
}

// errOff says that a server has metrics, but none about priority levels.
var errOff = errors.New("they say nothing of priority levels: API Priority and Fairness is off, or the server is too old")

// Read reads the metrics, unless that failed so often that it is not yet time to ask again. It does not fail:
// what could not be read is in the health, Forbidden when the user may not read it.
func (r *Reader) Read(ctx context.Context) Reading {
	r.mu.Lock()
	last, due := r.failed, r.pace.Wait(time.Now()) == 0
	r.mu.Unlock()
	if !due {
		return Reading{Health: last}
	}
	var retryAfter atomic.Int64
	metrics, err := r.read(connection.With(ctx, connection.Bounds{Bytes: metricsLimit, RetryAfter: &retryAfter}))
	health := inspect.Health{State: inspect.Synced}
	if err != nil {
		metrics, health = nil, failed(metricsPath, err)
	}
	if ctx.Err() != nil {
		return Reading{metrics, health} // the caller gave up
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = health; err == nil {
		r.pace.Succeeded()
	} else {
		r.pace.Failed(time.Now(), time.Duration(retryAfter.Load())*time.Second)
	}
	return Reading{metrics, health}
}

func (r *Reader) read(ctx context.Context) (*Metrics, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	body, err := r.client.Get().AbsPath(metricsPath).SetHeader("Accept", "text/plain").MaxRetries(0).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // nothing was written
	metrics, err := ParseMetrics(body)
	if err == nil && len(metrics.Levels) == 0 {
		err = errOff
	}
	return metrics, err
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
