package clitest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var watchStart = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Watched is what a watch of the claims in ml is shown: moment counts minutes.
func Watched(moment int, state inspect.HealthState, claims ...*resourcev1.ResourceClaim) *inspect.Snapshot {
	objects := inspect.Objects{Claims: claims, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	health[inspect.Claims] = inspect.Health{State: state, Message: "claims are " + string(state)}
	return inspect.New(objects, inspect.Config{
		Revision: int64(moment + 1), Time: watchStart.Add(time.Duration(moment) * time.Minute),
		Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health,
	})
}

// WatchedClaim is a claim without requests, allocated to a node unless that is "".
func WatchedClaim(name, node string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, CreationTimestamp: metav1.NewTime(watchStart)}}
	if node != "" {
		c.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
	return c
}

// StopAfter ends a command once it has printed so many lines.
type StopAfter struct {
	Text  strings.Builder
	Lines int
	Stop  func()
}

func (s *StopAfter) Write(p []byte) (int, error) {
	s.Text.Write(p)
	if strings.Count(s.Text.String(), "\n") >= s.Lines {
		s.Stop()
	}
	return len(p), nil
}

// Buffer is an output that several goroutines write to.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// NewReader returns a reader that writes answers to out and drops remarks.
func NewReader(out io.Writer, clock sources.Clock) *sources.Reader {
	s := &console.Streams{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard}}
	return sources.NewReader(s, sources.NewConnection(s), &sources.Memory{}, clock)
}
