package lifecycle_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// scenario is a file of testdata/running.
type scenario struct {
	*manifest.Result
	now time.Time
}

func scenarios(t *testing.T) map[string]*scenario {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/running/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	out := map[string]*scenario{}
	for _, path := range paths {
		file, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, at, _ := strings.Cut(string(file.Files[0].Data), "at ")
		now, err := time.Parse(time.RFC3339, strings.TrimSpace(at))
		if err != nil {
			t.Fatal(err)
		}
		result, err := manifest.ReadBytes(path, file.Files[1].Data, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".txtar")] = &scenario{result, now}
	}
	return out
}

func (s *scenario) snapshot() *inspect.Snapshot {
	gates := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(s.Objects) {
		gates[gate] = true
	}
	return inspect.New(s.Objects, inspect.Config{Time: s.now, Features: inspect.DefaultFeatures(inspect.NewestMinor).With(gates), Health: s.Health})
}

// lifecycles are what becomes of the pods in a namespace, by name.
func lifecycles(s *inspect.Snapshot, events inspect.Events, namespace string) map[string]*explain.Lifecycle {
	out := map[string]*explain.Lifecycle{}
	for _, pod := range s.Objects().Pods {
		if pod.Namespace != namespace {
			continue
		}
		var claims []*resourcev1.ResourceClaim
		for i := range pod.Spec.ResourceClaims {
			name, _ := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
			if claim, ok := s.Claim(inspect.ClaimRef{Namespace: namespace, Name: name}); ok && claim.Status.Allocation != nil {
				claims = append(claims, claim)
			}
		}
		out[pod.Name] = lifecycle.Pod(s, pod, claims, events)
	}
	return out
}

// TestReducedPodsTellTheSame: what is kept of pods that are read from a server is enough.
func TestReducedPodsTellTheSame(t *testing.T) {
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			events := inspect.Events{List: s.Events}
			want := lifecycles(s.snapshot(), events, "ml")
			for _, pod := range s.Objects.Pods {
				inspect.ReducePod(pod)
			}
			got := lifecycles(s.snapshot(), events, "ml")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("of reduced pods (-whole +reduced):\n%s", diff)
			}
		})
	}
}

// TestArchivesTellTheSame: a cluster that was saved, with other names even, has the same problems. Events are
// not saved.
func TestArchivesTellTheSame(t *testing.T) {
	lines := 0
	for name, s := range scenarios(t) {
		for _, anonymize := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, anonymize), func(t *testing.T) {
				before := s.snapshot()
				var file bytes.Buffer
				if _, err := archive.Write(&file, before, archive.Options{Anonymize: anonymize}); err != nil {
					t.Fatal(err)
				}
				header, result, err := archive.Read(t.Context(), &file, "saved", manifest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				after := inspect.New(result.Objects, inspect.Config{Time: header.Time, Features: before.Features(), Health: result.Health})
				want, got := outlines(before), outlines(after)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("of the archive (-saved +read):\n%s", diff)
				}
				lines += len(want)
			})
		}
	}
	if lines < 100 {
		t.Errorf("only %d things were compared", lines)
	}
}

// outlines are the stages and problems of the pods that are not of a driver, without names and sorted.
func outlines(s *inspect.Snapshot) []string {
	var out []string
	for _, pod := range s.Objects().Pods {
		if l := lifecycles(s, inspect.Events{}, pod.Namespace)[pod.Name]; l != nil && metav1.GetControllerOf(pod) == nil {
			out = append(out, outline(l)...)
		}
	}
	slices.Sort(out)
	return out
}

func outline(l *explain.Lifecycle) []string {
	var out []string
	for _, p := range l.Pods {
		out = append(out, fmt.Sprint(l.Outcome, " ", p.Stage, " ", p.Prepared, " ", p.Heard))
	}
	for _, p := range l.Problems {
		out = append(out, fmt.Sprint(p.Code, " ", p.Fails, " ", p.Object.Kind, " devices ", len(p.Devices), " ", p.Until.UTC(), " ", p.Actor))
	}
	for _, d := range l.Devices {
		out = append(out, fmt.Sprint(d.Health, " conditions ", len(d.Conditions), " network ", d.Network != nil))
	}
	return out
}
