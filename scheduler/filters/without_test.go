package filters_test

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// TestWithoutPodsOfANode compares pods that have ended by supposition with a cluster in which they are not
// there.
func TestWithoutPodsOfANode(t *testing.T) {
	helped := 0
	for seed := range effort.Of(1000, 60) {
		maker := randompod.New(seed)
		objects := maker.World()
		pod := maker.Pod("asks")
		pod.Spec.NodeName, pod.Status.NominatedNodeName = "", ""
		s := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		x := filters.NewIndex(s, nil)
		p := x.Prepare(pod)
		for i, node := range s.Nodes() {
			name := inspect.NodeName(node.Name)
			var gone []inspect.PodRef
			for k, occupant := range x.Occupants(name) {
				if (seed+i+k)%3 > 0 {
					gone = append(gone, inspect.PodRef{Namespace: occupant.Namespace, Name: occupant.Name})
				}
			}
			rest := s.With(func(o *inspect.Objects) {
				var pods []*corev1.Pod
				for _, other := range o.Pods {
					if !isOneOf(other, gone) {
						pods = append(pods, other)
					}
				}
				o.Pods = pods
			})
			got, want := p.Without(gone...), filters.NewIndex(rest, nil).Prepare(pod)
			for _, other := range s.Nodes() {
				at := inspect.NodeName(other.Name)
				if text, same := fmt.Sprintf("%+v", got.On(at)), reflect.DeepEqual(got.On(at), want.On(at)); !same {
					t.Fatalf("seed %d, without %v: %s says %s, want %+v", seed, gone, at, text, want.On(at))
				}
			}
			if len(p.On(name).Refusals) > len(got.On(name).Refusals) {
				helped++
			}
		}
	}
	if helped < 10 {
		t.Errorf("it mattered %d times", helped)
	}
}

func isOneOf(pod *corev1.Pod, refs []inspect.PodRef) bool {
	for _, ref := range refs {
		if ref == (inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}) {
			return true
		}
	}
	return false
}
