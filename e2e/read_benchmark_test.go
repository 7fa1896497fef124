package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// BenchmarkReadLargeCluster reads a thousand nodes with a slice of 64 devices each and 5,000 pods from a
// real server: go test -run '^$' -bench ReadLarge .
func BenchmarkReadLargeCluster(b *testing.B) {
	c := cluster.Start(b, cluster.Options{NoScheduler: true})
	var texts []string
	for i := range 1000 {
		texts = append(texts, sliceYAML("gpu.example.com", fmt.Sprint("n", i), 64),
			fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: n%d}\n", i))
	}
	for i := range 5000 {
		texts = append(texts, podYAML(fmt.Sprint("pod-", i), "n1", "", ""))
	}
	var group sync.WaitGroup
	work := make(chan string)
	for range 16 {
		group.Go(func() {
			for text := range work {
				object := &unstructured.Unstructured{}
				if err := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096).Decode(object); err != nil {
					b.Error(err)
				} else if err := c.Create(b.Context(), object); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, text := range texts {
		work <- text
	}
	close(work)
	group.Wait()

	b.ReportAllocs()
	for b.Loop() {
		got, err := live.Read(b.Context(), c.Config(cluster.Admin), live.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if len(got.Objects.Slices) != 1000 || len(got.Objects.Pods) != 5000 {
			b.Fatalf("%d slices, %d pods", len(got.Objects.Slices), len(got.Objects.Pods))
		}
	}
}
