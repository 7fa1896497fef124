package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/programs"
)

// running finds out how the scheduler of the cluster and Kueue run, unless that was given. What cannot be
// read of it is no error: the configuration says so.
func (r *reader) running(ctx context.Context, features inspect.Features) (out programs.Found) {
	if r.opts.Scheduler == nil {
		out = r.programs.Scheduler(ctx, r.readKey, features)
	}
	if out.Kueue = r.opts.Kueue; out.Kueue == nil {
		out.Kueue = r.programs.Kueue(ctx, r.readKey)
	}
	return out
}

// readKey is a programs.ReadKey.
func (r *reader) readKey(ctx context.Context, namespace, name, key string) ([]byte, error) {
	text, err := r.configMapKey(ctx, namespace, name, key)
	if err != nil && !apierrors.IsForbidden(err) {
		err = errors.New(reason(err))
	}
	return text, err
}

// configMapKey reads a key of a ConfigMap.
func (r *reader) configMapKey(ctx context.Context, namespace, name, key string) ([]byte, error) {
	if len(content.IsPathSegmentName(name))+len(content.IsPathSegmentName(namespace)) > 0 {
		return nil, fmt.Errorf("%q is no name", name)
	}
	data, err := r.get("/api/v1/namespaces", namespace, "configmaps", name).SetHeader("Accept", runtime.ContentTypeJSON).DoRaw(connection.With(ctx, connection.Bounds{Bytes: limits.event}))
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it asked for
	}
	var m corev1.ConfigMap
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("the answer is no ConfigMap: %w", err)
	}
	text := cmp.Or(m.Data[key], string(m.BinaryData[key]))
	if text == "" {
		return nil, fmt.Errorf("it has no key %q", key)
	}
	return []byte(text), nil
}
