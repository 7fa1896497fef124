package record

import (
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// outages are snapshots, a second after the other, of a cluster where some resources cannot be read at times.
type outages struct {
	t    *testing.T
	from *inspect.Snapshot
	now  time.Time
}

func (o *outages) next(broken ...inspect.Resource) *inspect.Snapshot {
	o.now = o.now.Add(time.Second)
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	for _, r := range broken {
		health[r] = inspect.Health{State: inspect.Broken, Message: "no answer for " + string(r)}
	}
	return inspect.New(*o.from.Objects(), inspect.Config{Revision: 1, Time: o.now, Features: o.from.Features(), Health: health})
}

func theDemo(t *testing.T) *inspect.Snapshot {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
}

// TestRecordOutage: while the server cannot be read nothing is recorded, which is said, and is a gap of the
// log. What fails alone is recorded as such, after a while.
func TestRecordOutage(t *testing.T) {
	const began = "2026-11-20T09:00:00Z"
	at, err := time.Parse(time.RFC3339, began)
	if err != nil {
		t.Fatal(err)
	}
	o := &outages{t: t, from: theDemo(t), now: at}
	path := t.TempDir() + "/cluster.log"
	said := &clitest.Buffer{}
	file, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	streams := &console.Streams{IOStreams: genericiooptions.IOStreams{ErrOut: said}}
	r := &recording{
		recordOptions: &recordOptions{Streams: streams}, log: file, recorder: history.NewRecorder(history.Bounds{}, time.Time{}),
		outage: sources.OutageWatch{Streams: streams, Resources: inspect.Resources()},
	}
	take := func(broken ...inspect.Resource) {
		t.Helper()
		if err := r.take(o.next(broken...)); err != nil {
			t.Fatal(err)
		}
		if err := r.write(o.now); err != nil {
			t.Fatal(err)
		}
	}
	take()
	take()
	take(inspect.Claims) // second 3: watches end one after the other
	take(inspect.Claims, inspect.Nodes)
	take(inspect.Resources()...)
	o.now = o.now.Add(time.Minute)
	take(inspect.Resources()...)
	take(inspect.Nodes) // second 67: so do they begin again
	take()
	o.now = o.now.Add(time.Minute)
	take(inspect.Nodes) // second 129
	o.now = o.now.Add(recordPatience)
	take(inspect.Nodes) // second 160
	take(inspect.Nodes)
	if err := file.close(); err != nil {
		t.Fatal(err)
	}
	log, err := (&sources.Reader{Streams: streams, Memory: &sources.Memory{}}).OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // nothing was written
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	if gaps := log.Gaps(); len(gaps) != 1 || !gaps[0].From.Equal(second(3)) || !gaps[0].To.Equal(second(68)) {
		t.Errorf("the gaps are %v", gaps)
	}
	if _, to := log.Span(); !to.Equal(second(161)) {
		t.Errorf("it ends at %s", to)
	}
	for n, want := range map[int]inspect.HealthState{2: inspect.Synced, 20: inspect.Synced, 130: inspect.Synced, 160: inspect.Broken} {
		moment, _, err := log.Find(t.Context(), second(n))
		if err != nil {
			t.Fatal(err)
		}
		s, err := log.Snapshot(t.Context(), moment)
		if err != nil || s.Health(inspect.Nodes).State != want || s.Health(inspect.Claims).State != inspect.Synced {
			t.Errorf("second %d: nodes are %q, claims %q, %v", n, s.Health(inspect.Nodes).State, s.Health(inspect.Claims).State, err)
		}
	}
	for _, want := range []string{"warning: no answer for resourceclaims; what changes there meanwhile is not seen\n", "all is read again, after 65s\n", "warning: no answer for nodes; "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it says %q, and not %q", said, want)
		}
	}
}

// TestIdleLog: a log in which nothing happens goes on without becoming longer.
func TestIdleLog(t *testing.T) {
	o := &outages{t: t, from: theDemo(t), now: time.Unix(1_000_000, 0)}
	file, err := openLogFile(t.TempDir() + "/cluster.log")
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{recordOptions: &recordOptions{Streams: &console.Streams{IOStreams: genericiooptions.IOStreams{ErrOut: &clitest.Buffer{}}}}, log: file, recorder: history.NewRecorder(history.Bounds{}, time.Time{})}
	if err := r.take(o.next()); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for range 5 {
		o.now = o.now.Add(recordPause)
		if err := r.write(o.now); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, file.size)
	}
	if sizes[1] != sizes[0] || sizes[4] != sizes[0] {
		t.Errorf("it has %v bytes", sizes)
	}
	if err := file.close(); err != nil {
		t.Fatal(err)
	}
	again, err := openLogFile(file.path)
	if err != nil || !again.end.Equal(o.now) {
		t.Fatalf("it ends at %v, and not at %s: %v", again, o.now, err)
	}
	_ = again.close()
}
