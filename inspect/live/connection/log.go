package connection

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// WithoutErrorLog returns a context whose logger drops errors. client-go logs some errors that it also
// returns, to the terminal by default, and a read that gives up cancels requests and would log every one
// of them. Lower levels are kept: they are what a user sees who asks for the requests.
func WithoutErrorLog(ctx context.Context) context.Context {
	sink := klog.FromContext(ctx).GetSink()
	if sink == nil {
		return ctx
	}
	return klog.NewContext(ctx, logr.New(errorless{sink}))
}

// errorless is a log sink that drops errors.
type errorless struct{ logr.LogSink }

func (errorless) Error(error, string, ...any) {}

func (s errorless) WithName(name string) logr.LogSink { return errorless{s.LogSink.WithName(name)} }

func (s errorless) WithValues(values ...any) logr.LogSink {
	return errorless{s.LogSink.WithValues(values...)}
}
