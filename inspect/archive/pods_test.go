package archive_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// TestFiltersAnswerAlikeFromArchives: pods that wait are refused on the same nodes for the same reasons,
// whether asked in the cluster, from an archive of it, or from one with other names. All names and labels of
// pods, namespaces and volumes that decide are referred to as before.
func TestFiltersAnswerAlikeFromArchives(t *testing.T) {
	for seed := range effort.Of(200, 50) {
		g := randompod.New(seed)
		objects := g.World()
		for i := range 3 {
			pod := g.Pod(fmt.Sprint("asked-", i))
			pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
			objects.Pods = append(objects.Pods, pod)
			objects.VolumeClaims = append(objects.VolumeClaims, g.ClaimsOf(pod)...)
		}
		objects.Sort()
		config := inspect.Config{Time: demo.Now(), ServerVersion: "v1.37.1", Features: inspect.DefaultFeatures(37), Health: map[inspect.Resource]inspect.Health{}}
		for _, r := range inspect.Resources() {
			config.Health[r] = inspect.Health{State: inspect.Synced}
		}
		s := inspect.New(objects, config)
		want := answers(s)
		for _, anonymize := range []bool{false, true} {
			got := answers(read(t, write(t, s, archive.Options{Anonymize: anonymize})))
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, anonymized %v (-before +after):\n%s", seed, anonymize, diff)
			}
		}
	}
}

// answers are what filters say of pods that wait, without names. Names keep their order, so pods and nodes
// have their places.
func answers(s *inspect.Snapshot) []string {
	var out []string
	x := filters.NewIndex(s, nil)
	for i, pod := range s.Objects().Pods {
		if pod.Spec.NodeName != "" {
			continue
		}
		p := x.Prepare(pod)
		out = append(out, fmt.Sprint("pod ", i, ": ", nameless(p.Everywhere)))
		for j, node := range s.Nodes() {
			out = append(out, fmt.Sprint("pod ", i, " on node ", j, ": ", nameless(p.On(inspect.NodeName(node.Name)))))
		}
	}
	return out
}

func nameless(o filters.Outcome) string {
	var all []string
	for _, r := range o.Refusals {
		all = append(all, fmt.Sprint(r.Plugin, " ", r.Code, " ", r.Unresolvable, " ", r.Requested, "/", r.Used, "/", r.Allocatable, " ", r.Index, " ", r.Object.Kind, " ", len(r.Pods)))
	}
	for _, d := range o.Doubts {
		all = append(all, fmt.Sprint(d.Plugin, " doubts ", d.Resource))
	}
	slices.SortFunc(all, cmp.Compare[string])
	return strings.Join(all, "; ")
}

// TestDeclaredFeaturesArePublic: what nodes declare is said by Kubernetes, and pods need it by that name.
func TestDeclaredFeaturesArePublic(t *testing.T) {
	node := &corev1.Node{}
	node.Name = "n"
	for _, feature := range features.AllFeatures {
		node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, feature.Name())
	}
	s := inspect.New(inspect.Objects{Nodes: []*corev1.Node{node}}, inspect.Config{Time: demo.Now()})
	back := read(t, write(t, s, archive.Options{Anonymize: true}))
	if diff := gocmp.Diff(node.Status.DeclaredFeatures, back.Objects().Nodes[0].Status.DeclaredFeatures); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
