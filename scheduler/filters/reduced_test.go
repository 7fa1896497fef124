package filters_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	helpers "k8s.io/component-helpers/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// TestReducedPodsAreAnsweredAlike: what is dropped of pods that are read from a server changes no answer of
// any filter, neither about the pod nor about those that are on nodes already.
func TestReducedPodsAreAnsweredAlike(t *testing.T) {
	for seed := range effort.Of(300, 75) {
		g := randompod.New(seed)
		objects := g.World()
		reduced := objects
		reduced.Pods = nil
		for _, pod := range objects.Pods {
			reduced.Pods = append(reduced.Pods, reducedCopy(pod))
		}
		config := inspect.Config{ServerVersion: "v1.37.1", Features: inspect.DefaultFeatures(37), Health: map[inspect.Resource]inspect.Health{}}
		for _, r := range inspect.Resources() {
			config.Health[r] = inspect.Health{State: inspect.Synced}
		}
		before, after := filters.NewIndex(inspect.New(objects, config), nil), filters.NewIndex(inspect.New(reduced, config), nil)
		for i := range 5 {
			pod := g.Pod(fmt.Sprint("asked-", i))
			pod.Spec.NodeName = ""
			want, got := before.Prepare(pod), after.Prepare(reducedCopy(pod))
			if diff := cmp.Diff(want.Everywhere, got.Everywhere); diff != "" {
				t.Fatalf("seed %d, everywhere (-whole +reduced):\n%s", seed, diff)
			}
			for _, node := range objects.Nodes {
				if diff := cmp.Diff(want.On(inspect.NodeName(node.Name)), got.On(inspect.NodeName(node.Name))); diff != "" {
					t.Fatalf("seed %d, %s (-whole +reduced):\n%s", seed, node.Name, diff)
				}
			}
		}
	}
}

// TestReducedPodsTakeAsMuch: the resources of a pod, and the features that it needs of a node, are computed
// alike. The filters do so with the functions that are called here.
func TestReducedPodsTakeAsMuch(t *testing.T) {
	declared := nodedeclaredfeatures.New(features.AllFeatures)
	needed := map[string]bool{}
	for seed := range effort.Of(2000, 500) {
		pod := randompod.New(seed).Pod("p")
		reduced := reducedCopy(pod)
		for _, opts := range []helpers.PodResourcesOptions{
			{}, {UseStatusResources: true}, {SkipPodLevelResources: true, UseStatusResources: true},
			{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true, UseDRANodeAllocatableResourceClaimStatus: true},
			{UseStatusResources: true, NonMissingContainerRequests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		} {
			want, got := helpers.PodRequests(pod, opts), helpers.PodRequests(reduced, opts)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %+v (-whole +reduced):\n%s", seed, opts, diff)
			}
		}
		infer := func(p *corev1.Pod) []string {
			set, err := declared.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &p.Spec, Status: &p.Status}, version.MajorMinor(1, 37))
			if err != nil {
				t.Fatal(err)
			}
			names, err := declared.Unmap(set)
			if err != nil {
				t.Fatal(err)
			}
			return names
		}
		if diff := cmp.Diff(infer(pod), infer(reduced)); diff != "" {
			t.Fatalf("seed %d, features (-whole +reduced):\n%s", seed, diff)
		}
		for _, name := range infer(pod) {
			needed[name] = true
		}
	}
	if len(needed) < 3 {
		t.Errorf("the pods need %v only: this compares too little", needed)
	}
}

func reducedCopy(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	inspect.ReduceAnnotations(out)
	inspect.ReducePod(out)
	return out
}
