package get

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// watchClaims shows the snapshots to a watch of the claims in ml, one after the other, and returns what it
// prints.
func watchClaims(t *testing.T, format output.Format, snapshots ...*inspect.Snapshot) (stdout, stderr string, err error) {
	t.Helper()
	return watchView(t, "claims", "ml", format, snapshots...)
}

func watchView(t *testing.T, name, namespace string, format output.Format, snapshots ...*inspect.Snapshot) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := &console.Streams{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}}
	v, err := viewByName(name)
	if err != nil {
		t.Fatal(err)
	}
	o := &getOptions{Options: sources.Options{Streams: streams, Reader: &sources.Reader{}, Format: format}, view: v, namespace: namespace, selector: labels.Everything()}
	streams.Remarks = &console.Remarks{}
	updates := make(chan *inspect.Snapshot)
	done := make(chan error, 1)
	w := &sources.OutageWatch{Streams: streams, Resources: o.resources(), OnlyAgain: true}
	go func() { done <- w.Follow(t.Context(), updates, nil, (&changes{getOptions: o}).print) }()
	for _, s := range snapshots {
		select {
		case updates <- s:
		case err := <-done:
			return out.String(), errOut.String(), err
		}
	}
	close(updates)
	err = <-done
	return out.String(), errOut.String(), err
}

func TestGetWatchPrintsWhatChanges(t *testing.T) {
	stdout, stderr, err := watchClaims(t, output.Format{Name: "custom-columns", Argument: "NAME:.name,STATE:.state,NODE:.node"},
		clitest.Watched(0, inspect.Syncing, clitest.WatchedClaim("a", "")), // not whole yet
		clitest.Watched(1, inspect.Synced, clitest.WatchedClaim("a", ""), clitest.WatchedClaim("b", "")),
		clitest.Watched(9, inspect.Synced, clitest.WatchedClaim("a", ""), clitest.WatchedClaim("b", "")), // only older
		clitest.Watched(10, inspect.Synced, clitest.WatchedClaim("a", ""), clitest.WatchedClaim("b", "n1")),
		clitest.Watched(11, inspect.Synced, clitest.WatchedClaim("b", "n1"), clitest.WatchedClaim("c-with-a-long-name", "")),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := "NAME   STATE     NODE\n" +
		"a      Pending   \n" +
		"b      Pending   \n" +
		"b      Allocated   n1\n" +
		"c-with-a-long-name   Pending     \n"
	// Empty fields are <none> or empty, as in the command without --watch; spaces at the end do not count.
	if diff := cmp.Diff(fields(want), fields(strings.ReplaceAll(stdout, "<none>", ""))); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if stderr != "resourceclaim ml/a is gone\n" {
		t.Errorf("stderr %q", stderr)
	}
}

// fields are the words of each line.
func fields(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		out = append(out, strings.Fields(line))
	}
	return out
}

// TestGetWatchExtended: a row is printed when something in it changes, and what a node no longer has is gone.
func TestGetWatchExtended(t *testing.T) {
	at := func(moment int, allocatable map[string]string, pods ...*corev1.Pod) *inspect.Snapshot {
		s := clitest.Watched(moment, inspect.Synced)
		return s.With(func(o *inspect.Objects) {
			o.Nodes, o.Pods = nil, pods
			for _, name := range []string{"n1", "n2"} {
				node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
				if n, ok := allocatable[name]; ok {
					node.Status.Capacity = corev1.ResourceList{"x.com/r": resource.MustParse("4")}
					node.Status.Allocatable = corev1.ResourceList{"x.com/r": resource.MustParse(n)}
				}
				o.Nodes = append(o.Nodes, node)
			}
		})
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}
	pod.Spec.NodeName = "n1"
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"x.com/r": resource.MustParse("1")}}}}
	stdout, stderr, err := watchView(t, "extended", "", output.Format{Name: "custom-columns", Argument: "NODE:.node,HEALTHY:.allocatable,FREE:.free"},
		at(1, map[string]string{"n1": "4", "n2": "4"}), at(2, map[string]string{"n1": "4", "n2": "4"}),
		at(3, map[string]string{"n1": "4", "n2": "3"}), at(4, map[string]string{"n1": "4", "n2": "3"}, pod), at(5, map[string]string{"n1": "4"}, pod))
	if err != nil {
		t.Fatal(err)
	}
	want := "NODE  HEALTHY  FREE\nn1 4 4\nn2 4 4\nn2 3 3\nn1 4 3\n"
	if diff := cmp.Diff(strings.Join(strings.Fields(want), " "), strings.Join(strings.Fields(stdout), " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if stderr != "extendedresource n2/x.com/r is gone\n" {
		t.Errorf("stderr %q", stderr)
	}
}

// TestGetWatchWhileReadingFails: what cannot be read any more is not gone, and that is said once.
func TestGetWatchWhileReadingFails(t *testing.T) {
	a, b := clitest.WatchedClaim("a", ""), clitest.WatchedClaim("b", "")
	stdout, stderr, err := watchClaims(t, output.Format{Name: "name"},
		clitest.Watched(0, inspect.Synced, a, b),
		clitest.Watched(1, inspect.Forbidden), clitest.Watched(2, inspect.Forbidden),
		clitest.Watched(3, inspect.Synced, a, b),
		clitest.Watched(4, inspect.Narrowed, a), clitest.Watched(5, inspect.Narrowed),
	)
	if err != nil {
		t.Fatal(err)
	}
	const item = "resourceclaim.resource.k8s.io/"
	if want := item + "a\n" + item + "b\n"; stdout != want {
		t.Errorf("stdout %q, want %q", stdout, want)
	}
	want := "warning: claims are Forbidden; what is shown may be old\nall is read again, after 2m\n" +
		"warning: claims are Narrowed\n" + "resourceclaim ml/a is gone\n"
	if stderr != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}

func TestGetWatchOfWhatIsForbidden(t *testing.T) {
	stdout, _, err := watchClaims(t, output.Format{}, clitest.Watched(0, inspect.Forbidden), clitest.Watched(1, inspect.Synced))
	if err == nil || err.Error() != "claims are Forbidden" || stdout != "" {
		t.Errorf("error %v, stdout %q", err, stdout)
	}
}

func TestGetWatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	updates := make(chan *inspect.Snapshot)
	close(updates)
	if err := new(sources.OutageWatch).Follow(ctx, updates, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestGetWatchFollowsTheLifeOfTheDemoCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time passes at once
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		first := &clitest.StopAfter{Lines: 1, Stop: func() {}}
		if err := watchDemo(ctx, first, false); err != nil {
			t.Fatal(err)
		}
		count := strings.Count(first.Text.String(), "\n")
		out := &clitest.StopAfter{Lines: count + 1, Stop: cancel}
		if err := watchDemo(ctx, out, true); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v before anything changed:\n%s", err, out.Text.String())
		}
	})
}

// watchDemo gets the devices of the demo cluster, once or again and again.
func watchDemo(ctx context.Context, out io.Writer, watch bool) error {
	r := clitest.NewReader(out, time.Now)
	r.Demo = true
	o := &getOptions{Options: sources.Options{Streams: r.Streams, Reader: r}, watch: watch}
	if err := o.complete([]string{"devices"}); err != nil {
		return err
	}
	if watch {
		return o.watchCluster(ctx)
	}
	return o.run(ctx)
}
