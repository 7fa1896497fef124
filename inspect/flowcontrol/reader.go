package flowcontrol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	metricsPath = "/metrics"
	dumpPath    = "/debug/api_priority_and_fairness/dump_priority_levels"

	// readTimeout bounds each of the two requests. Metrics of a busy server are tens of megabytes.
	readTimeout = 10 * time.Second
	// answerLimit bounds how much of an answer is read, in bytes.
	answerLimit = 256 << 20
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

// Reader reads the live figures of a server, as often as it is asked.
type Reader struct {
	client rest.Interface
}

// NewReader returns a Reader of the server that config points to.
func NewReader(config *rest.Config) (*Reader, error) {
	c := rest.CopyConfig(config)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // to understand why the server refuses
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.WarningHandler, c.WarningHandlerWithContext = rest.NoWarnings{}, nil
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return &Reader{client: client}, nil
}

// Read reads the metrics and the dump at the same time. It does not fail: what could not be read is in
// the health, Forbidden when the user may not read it.
func (r *Reader) Read(ctx context.Context) Reading {
	var reading Reading
	var both sync.WaitGroup
	both.Go(func() { reading.Dump, reading.DumpHealth = get(ctx, r.client, dumpPath, ParseDump) })
	reading.Metrics, reading.MetricsHealth = get(ctx, r.client, metricsPath, ParseMetrics)
	both.Wait()
	return reading
}

// errOff says that a server has metrics, but none about priority levels.
var errOff = errors.New("they say nothing of priority levels: API Priority and Fairness is off, or the server is too old")

func get[T any](ctx context.Context, client rest.Interface, path string, parse func(io.Reader) (*T, error)) (*T, inspect.Health) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	body, err := client.Get().AbsPath(path).SetHeader("Accept", "text/plain").MaxRetries(0).Stream(ctx)
	if err != nil {
		return nil, failed(path, err)
	}
	defer func() { _ = body.Close() }() // nothing was written
	out, err := parse(io.LimitReader(body, answerLimit))
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
