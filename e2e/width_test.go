package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// TestWidth: the seats of requests are those that the server estimated, which it counts by FlowSchema. 300 ConfigMaps of 20 kB are 6 MB;
// 25 watch them. The server counts objects once a minute.
func TestWidth(t *testing.T) {
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	c.ApplyText(t, levelYAML("wide", "nominalConcurrencyShares: 300, limitResponse: {type: Queue, queuing: {queues: 64, handSize: 6, queueLengthLimit: 50}}")+schemaYAML("wide"))
	cluster.Eventually(t, func(ctx context.Context) error { // until the schema counts
		figures, err := serverFigures(ctx, c)
		if err == nil && figures["nominal_limit_seats"]["wide"] == 0 {
			err = errors.New("the level is not there yet")
		}
		return err
	})
	awaitSchemas(t, c, "wide-requests")
	text := strings.Repeat("x", 20_000)
	for i := range 300 {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("wide-%d", i)}, Data: map[string]string{"text": text}}
		if _, err := c.Client().CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 25 {
		watch, err := c.Client().CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watch.Stop)
	}
	reader, err := flowcontrol.NewReader(c.Config(cluster.Admin))
	if err != nil {
		t.Fatal(err)
	}
	var metrics *flowcontrol.Metrics
	cluster.Eventually(t, func(ctx context.Context) error {
		metrics = reader.Read(ctx).Metrics
		if stored := metrics.Stored["configmaps"]; stored.Objects < 300 || stored.Bytes == nil || *stored.Bytes < 5_000_000 || stored.Watches < 25 {
			return fmt.Errorf("the server counts %+v", stored)
		}
		return nil
	})
	schemas, levels, _ := flowControlOf(t, c)
	limits, asker := flowcontrol.Compute(levels, flowcontrol.DefaultServerConcurrency), newAsker(t, c)
	for _, ask := range []struct{ method, url string }{
		{"GET", "/api/v1/namespaces/default/configmaps"}, {"GET", "/api/v1/namespaces/default/configmaps?limit=7"},
		{"GET", "/api/v1/namespaces/default/configmaps?resourceVersion=1&resourceVersionMatch=Exact"},
		{"GET", "/api/v1/namespaces/default/configmaps?limit=33&continue=x"}, {"GET", "/api/v1/namespaces/default/configmaps?limit=33&continue=x&labelSelector=a"},
		{"GET", "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dwide-1"}, {"GET", "/api/v1/namespaces/default/configmaps/wide-1"},
		{"GET", "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1"}, {"GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=7&timeoutSeconds=1"},
		{"POST", "/api/v1/namespaces/default/configmaps"}, {"POST", "/api/v1/namespaces/default/events"},
		{"GET", "/apis/example.com/v1/namespaces/default/widgets"},
	} {
		at, err := url.Parse(ask.url)
		if err != nil {
			t.Fatal(err)
		}
		r, err := flowcontrol.NewRequest("wide", nil, ask.method, at)
		if err != nil {
			t.Fatal(err)
		}
		level, _ := limits.Level(flowcontrol.Classify(schemas, &limits, &r).Level)
		want := flowcontrol.WidthOf(&r, &level, metrics)
		before := estimated(t, c)
		asker.headersOf(t, &r)
		if got := estimated(t, c) - before; got != max(want.Seats, want.FinalSeats) || level.Name != "wide" {
			t.Errorf("%s %s: the server estimates %d seats, computed are %+v", ask.method, ask.url, got, want)
		}
		t.Logf("%s %s: %d seats by %s", ask.method, ask.url, max(want.Seats, want.FinalSeats), want.Reason)
	}
}

// estimated is the sum of the seats that the server has estimated for requests of the level wide.
func estimated(t *testing.T, c *cluster.Cluster) int {
	t.Helper()
	figures, err := serverFigures(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return int(figures["work_estimated_seats_sum"]["wide"])
}
