package live

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

const (
	logsPatience = 15 * time.Second
	// logsBytes bounds what is read of one container: lines may have any length.
	logsBytes = 1 << 20
)

// Logs reads the last lines that a container of a pod has written, at most so many, and at most 1 MiB. They
// may hold anything: they are not safe to print.
func Logs(ctx context.Context, config *rest.Config, namespace, pod, container string, lines int) (string, error) {
	for _, name := range []string{namespace, pod} {
		if problems := content.IsPathSegmentName(name); len(problems) > 0 {
			return "", fmt.Errorf("name %q: %s", name, problems[0])
		}
	}
	r, _, err := newReader(config, Options{Resources: []inspect.Resource{}})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(connection.WithoutErrorLog(ctx), logsPatience)
	defer cancel()
	body, err := r.client.Get().AbsPath("/api/v1/namespaces", namespace, "pods", pod, "log").
		Param("container", container).Param("tailLines", strconv.Itoa(lines)).Param("limitBytes", strconv.Itoa(logsBytes)).
		SetHeader("Accept", "*/*").MaxRetries(0).Stream(connection.With(ctx, connection.Bounds{Bytes: logsBytes + 1<<10}))
	if err != nil {
		return "", fmt.Errorf("reading the logs of container %s of pod %s/%s: %s", container, namespace, pod, reason(err))
	}
	defer func() { _ = body.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(body, logsBytes))
	if err != nil {
		return "", fmt.Errorf("reading the logs of container %s of pod %s/%s: %s", container, namespace, pod, reason(err))
	}
	return string(text), nil
}
