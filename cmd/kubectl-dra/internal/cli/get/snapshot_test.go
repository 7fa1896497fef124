package get

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	use "github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// readArchived saves a snapshot to a file and reads it as --from does, a year later.
func readArchived(t *testing.T, s *inspect.Snapshot, opts archive.Options) *inspect.Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.json.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(file, s, opts); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	r := clitest.NewReader(io.Discard, func() time.Time { return s.Time().AddDate(1, 0, 0) })
	r.From = []string{path}
	back, err := r.Read(context.Background(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// subjectsOf are all claims, templates and pods; one of each name, as by name no other can be asked about.
func subjectsOf(s *inspect.Snapshot) []metav1.Object {
	var subjects []metav1.Object
	for _, resource := range []inspect.Resource{inspect.Claims, inspect.Templates, inspect.Pods} {
		subjects = append(subjects, inspect.KindOf(resource).Objects(s.Objects())...)
	}
	return slices.CompactFunc(subjects, func(a, b metav1.Object) bool {
		return inquiry.KindName(a) == inquiry.KindName(b) && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
	})
}

// answers explains every claim, template and pod, as text and as JSON.
func answersOf(t *testing.T, s *inspect.Snapshot) []string {
	t.Helper()
	cluster := scheduler.NewCluster(s, scheduler.Options{})
	subjects := subjectsOf(s)
	out := make([]string, len(subjects))
	err := allocator.Parallel(len(subjects), func(i int) error {
		e, err := question.Object(context.Background(), cluster, subjects[i], question.Options{})
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := text.Render(&b, e, text.Options{Width: 80, Verbose: true}); err != nil {
			return err
		}
		err = output.Format{Name: "json"}.PrintValue(&b, explanations.Explanations([]*explain.Explanation{e}))
		out[i] = b.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSnapshotAnswersAsItsSource: the demo cluster and its archive give the same answers, byte for byte.
func TestSnapshotAnswersAsItsSource(t *testing.T) {
	r := clitest.NewReader(io.Discard, time.Now)
	r.Demo = true
	s, err := r.Read(context.Background(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	back := readArchived(t, s, archive.Options{})
	if diff := cmp.Diff(answersOf(t, s), answersOf(t, back)); diff != "" {
		t.Errorf("explanations differ:\n%s", diff)
	}
	if n := len(subjectsOf(s)); n < 80 {
		t.Errorf("only %d questions", n)
	}
	for _, v := range views {
		if diff := cmp.Diff(listOf(t, &v, s), listOf(t, &v, back)); diff != "" {
			t.Errorf("get %s differs:\n%s", v.names[0], diff)
		}
	}
}

// ofFiles are the options of a command that reads files.
func ofFiles() *getOptions {
	reader := clitest.NewReader(io.Discard, time.Now)
	reader.From = []string{"-"}
	return &getOptions{Options: sources.Options{Streams: reader.Streams, Reader: reader}, by: use.Namespace, selector: labels.Everything()}
}

// listOf prints a list as JSON. A machine that is busy with other things gives up questions of a list that
// take milliseconds: it is asked again.
func listOf(t *testing.T, v *view, s *inspect.Snapshot) string {
	t.Helper()
	for again := 0; ; again++ {
		var got bytes.Buffer
		list, err := v.list(ofFiles(), t.Context(), s, "")
		if err != nil {
			t.Fatal(err)
		}
		if v.fillIn != nil {
			if err := v.fillIn(context.Background(), s, list); err != nil {
				t.Fatal(err)
			}
		}
		if err := (output.Format{Name: "json"}).PrintList(&got, list, output.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if again == 20 || !strings.Contains(got.String(), notWorkedOut) {
			return got.String()
		}
	}
}

// TestSnapshotOfScenarios: the same for the clusters of all scenarios, which have every feature.
func TestSnapshotOfScenarios(t *testing.T) {
	eachScenario(t, func(name string, s *inspect.Snapshot) {
		if diff := cmp.Diff(answersOf(t, s), answersOf(t, readArchived(t, s, archive.Options{}))); diff != "" {
			t.Errorf("%s: explanations differ:\n%s", name, diff)
		}
	})
}

// eachScenario calls f with the clusters of all scenarios that an archive can hold.
func eachScenario(t *testing.T, f func(name string, s *inspect.Snapshot)) {
	t.Helper()
	paths, err := filepath.Glob("../../../../../testdata/scenarios/*.txtar")
	if err != nil || len(paths) < 90 {
		t.Fatalf("%d scenarios: %v", len(paths), err)
	}
	for _, path := range paths {
		loaded, err := scenario.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !emptyListMatters[loaded.Name] {
			f(loaded.Name, asRead(loaded.Snapshot))
		}
	}
}

// emptyListMatters are scenarios about lists that are written out but empty. An archive does not tell them
// from lists that are left out, nor does an API server.
var emptyListMatters = map[string]bool{"hard-04-empty-binding-conditions": true}

// asRead gives a snapshot of a scenario the time and revision that a source gives.
func asRead(s *inspect.Snapshot) *inspect.Snapshot {
	objects := *s.Objects()
	if s.NodesAssumed() {
		objects.Nodes = nil
	}
	health := map[inspect.Resource]inspect.Health{}
	for _, resource := range inspect.Resources() {
		health[resource] = s.Health(resource)
	}
	return inspect.New(objects, inspect.Config{
		Revision: 1, Time: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Features: s.Features(), Health: health, ServerVersion: s.ServerVersion(),
	})
}

// TestAnonymizedSnapshotAnswersAlike: other names, but the same verdicts, counts, reasons and devices.
func TestAnonymizedSnapshotAnswersAlike(t *testing.T) {
	r := clitest.NewReader(io.Discard, time.Now)
	r.Demo = true
	s, err := r.Read(context.Background(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shapesOf(t, s), shapesOf(t, readArchived(t, s, archive.Options{Anonymize: true}))); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
}

// TestAnonymizedScenariosAnswerAlike: the same for every feature and every hard case.
func TestAnonymizedScenariosAnswerAlike(t *testing.T) {
	eachScenario(t, func(name string, s *inspect.Snapshot) {
		if diff := cmp.Diff(shapesOf(t, s), shapesOf(t, readArchived(t, s, archive.Options{Anonymize: true}))); diff != "" {
			t.Errorf("%s: answers differ:\n%s", name, diff)
		}
	})
}

// TestAnonymizedDriversAnswerAlike: the same for what real drivers publish.
func TestAnonymizedDriversAnswerAlike(t *testing.T) {
	sources, err := filepath.Glob("../../../../../testdata/drivers/*/SOURCE.md")
	if err != nil || len(sources) < 10 {
		t.Fatalf("%d folders: %v", len(sources), err)
	}
	for _, source := range sources {
		dir := filepath.Dir(source)
		result, err := manifest.Read(t.Context(), []string{dir}, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(result.Objects, inspect.Config{Revision: 1, Time: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
			Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
		if diff := cmp.Diff(shapesOf(t, s), shapesOf(t, readArchived(t, s, archive.Options{Anonymize: true}))); diff != "" {
			t.Errorf("%s: answers differ:\n%s", dir, diff)
		}
	}
}

// shapesOf is what remains of the answers without names. Names keep their order, and so do the subjects.
func shapesOf(t *testing.T, s *inspect.Snapshot) [][]string {
	t.Helper()
	cluster := scheduler.NewCluster(s, scheduler.Options{})
	place := map[inspect.DeviceID]int{}
	for _, slice := range s.Objects().Slices {
		for i := range slice.Spec.Devices {
			place[inspect.DeviceIDOf(slice, i)] = len(place)
		}
	}
	var shapes [][]string
	for _, subject := range subjectsOf(s) {
		shape := []string{inquiry.KindName(subject)}
		e, err := question.Object(context.Background(), cluster, subject, question.Options{})
		if err != nil {
			shapes = append(shapes, append(shape, "error"))
			continue
		}
		shape = append(shape, fmt.Sprintf("%s %d of %d nodes", e.Verdict, e.Nodes.Allocatable, e.Nodes.Total))
		for _, f := range e.Fixes {
			if f.Kind == explain.UseClass {
				continue // for a misspelled name, which names of another spelling are not
			}
			shape = append(shape, fmt.Sprintf("fix %s, %d nodes, %d claims", f.Kind, f.Nodes, len(f.Claims)))
		}
		if e.Conflict != nil {
			shape = append(shape, fmt.Sprintf("%d requirements", len(e.Conflict.Requirements)))
		}
		if e.Allocation != nil {
			for _, d := range e.Allocation.Devices {
				shape = append(shape, fmt.Sprintf("device %d %v", place[d.ID], len(d.Consumed)))
			}
		}
		for _, g := range e.Groups {
			for _, r := range g.Reasons {
				shape = append(shape, fmt.Sprintf("%d nodes %s %d devices %d claims", len(g.Nodes), r.Code, r.Total, len(r.Claims)))
			}
		}
		shapes = append(shapes, shape)
	}
	return shapes
}
