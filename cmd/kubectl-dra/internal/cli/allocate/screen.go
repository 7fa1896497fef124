package allocate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/tui"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// topWriter lets the terminal UI allocate and deallocate, by the means of the commands of these names.
type topWriter struct {
	access  *Access
	mu      sync.Mutex
	ended   bool           // nothing is begun any more; guarded by mu
	writing sync.WaitGroup // added to only under mu and before ended, so never while it is waited for
}

// Cluster returns what the terminal UI writes to the cluster with. wait returns when nothing is being written
// any more, or after a while.
func (a *Access) Cluster() (writer tui.Writer, wait func()) {
	t := &topWriter{access: a}
	return t, t.wait
}

// begin tells that something is being written until the function that it returns is called.
func (t *topWriter) begin() (done func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errors.New("the terminal UI has ended: nothing was written")
	}
	t.writing.Add(1)
	return t.writing.Done, nil
}

// execute writes something. When the terminal UI has ended by the time that it is done, nobody is left to
// show how that went, so it is said on stderr.
func (t *topWriter) execute(write func() (string, error)) (string, error) {
	end, err := t.begin()
	if err != nil {
		return "", err
	}
	defer end()
	t.access.Grace.Extend()
	said, err := write()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended && err != nil:
		t.access.Streams.Note("%s", console.OneLine(err))
	case t.ended:
		t.access.Streams.Note("%s", said)
	}
	return said, err
}

// offScreen is the same access with notes that go into a buffer instead of over the screen.
func (a *Access) offScreen(notes *bytes.Buffer) *Access {
	streams := &console.Streams{IOStreams: genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: notes, ErrOut: notes}, Color: "never"}
	reader := sources.NewReader(streams, a.Connection, &sources.Memory{}, a.Reader.Clock)
	reader.Features, reader.Gates = a.Reader.Features, a.Reader.Gates
	return &Access{streams, a.Connection, reader, a.Grace}
}

// wait returns when nothing is being written any more, or after a while: what was begun is finished or taken
// back before the program ends. Nothing is begun from then on.
func (t *topWriter) wait() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	done := make(chan struct{})
	go func() { t.writing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(console.UndoGrace):
	}
}

// Plan implements tui.Writer.
func (t *topWriter) Plan(ctx context.Context, action tui.Action, subject screen.Ref) (tui.Plan, error) {
	if action != tui.Allocate && action != tui.Deallocate {
		return nil, fmt.Errorf("there is no way to %s on a cluster", action)
	}
	notes := &bytes.Buffer{}
	write := writeOptions{Access: t.access.offScreen(notes), namespace: subject.Namespace, dryRun: dryRunNone}
	if action == tui.Deallocate {
		return t.planDeallocation(ctx, &deallocateOptions{write, []string{subject.Name}})
	}
	o := &allocateOptions{writeOptions: write, kind: inquiry.Claim, names: []string{subject.Name}, settle: commit.DefaultSettle}
	read := func(ctx context.Context) (*inspect.Snapshot, error) { return o.Reader.Read(ctx, o.namespace, nil) }
	snapshot, err := read(ctx)
	if err != nil {
		return nil, err
	}
	decided, text, err := o.planned(ctx, snapshot, notes)
	if err != nil {
		return nil, err
	}
	return t.plan(text, func(ctx context.Context) (string, error) {
		committer, err := o.committer(ctx, snapshot, decided)
		if err != nil {
			return "", err
		}
		committer.Read = read // time has gone by while the user was reading
		// If the cluster has changed so that something else would be written than what was confirmed, nothing
		// is.
		committer.Confirm = func(_ context.Context, d *commit.Decision) (bool, error) { return d.Same(decided), nil }
		done, claims, err := committer.Allocate(ctx, o.decide)
		switch {
		case errors.Is(err, commit.ErrDeclined):
			return "", errMoved
		case err != nil && len(claims) > 0:
			return "", fmt.Errorf("allocated all the same: %s: %w", summary(done), err)
		case err != nil:
			return "", err
		case len(done.Refusal) > 0:
			return "", refusalOf(done)
		}
		return "allocated: " + summary(done), nil
	}), nil
}

// errMoved says that the cluster has gone on so that something else would be written than what was shown.
var errMoved = errors.New("the cluster has changed in the meantime: nothing was written, look again")

// writePlan is a change that was not made yet.
type writePlan struct {
	text  string
	write func(context.Context) (string, error)
}

// Text implements tui.Plan.
func (p *writePlan) Text() string { return p.text }

// Execute implements tui.Plan.
func (p *writePlan) Execute(ctx context.Context) (string, error) { return p.write(ctx) }

// plan is a change of the cluster that was not made yet.
func (t *topWriter) plan(text string, write func(context.Context) (string, error)) tui.Plan {
	return &writePlan{text, func(ctx context.Context) (string, error) {
		return t.execute(func() (string, error) { return write(ctx) })
	}}
}

// planned decides on a snapshot, and says what would be written. The notes are what the streams of the
// options write to.
func (o *allocateOptions) planned(ctx context.Context, snapshot *inspect.Snapshot, notes *bytes.Buffer) (*commit.Decision, string, error) {
	d, err := o.decide(ctx, snapshot)
	if err != nil {
		return nil, "", err
	}
	if len(d.Refusal) > 0 {
		return nil, "", refusalOf(d)
	}
	if len(d.Allocations) == 0 {
		return nil, "", fmt.Errorf("%s/%s is allocated already", o.namespace, o.names[0])
	}
	o.announce(d)
	text, err := statusText(d.Written(o.Reader.Now(snapshot)))
	return d, notes.String() + "\n" + text, err
}

// refusalOf says why a decision allocates nothing. The further lines of a refusal name commands, where the
// terminal UI has a key.
func refusalOf(d *commit.Decision) error { return errors.New(d.Refusal[0] + "; e says why") }

// statusText is the status of claims as it would be written.
func statusText(claims []*resourcev1.ResourceClaim) (string, error) {
	var b strings.Builder
	for _, claim := range claims {
		data, err := yaml.Marshal(map[string]any{"status": claim.Status})
		if err != nil {
			return "", fmt.Errorf("printing claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
		b.Write(data)
	}
	return b.String(), nil
}

func summary(d *commit.Decision) string {
	var parts []string
	for _, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		if allocation := d.Allocations[ref]; allocation != nil {
			parts = append(parts, fmt.Sprintf("%s has %s", ref, devicesText(devicesOf(allocation))))
		}
	}
	return strings.Join(parts, "; ")
}

// planDeallocation looks at what would be cleared.
func (t *topWriter) planDeallocation(ctx context.Context, o *deallocateOptions) (tui.Plan, error) {
	snapshot, err := o.Reader.Read(ctx, o.namespace, []inspect.Resource{inspect.Claims, inspect.TaintRules})
	if err != nil {
		return nil, err
	}
	claim, text, err := o.planned(snapshot)
	if err != nil {
		return nil, err
	}
	return t.plan(text, func(ctx context.Context) (string, error) {
		c, err := o.committer(ctx, snapshot)
		if err != nil {
			return "", err
		}
		shown := []*resourcev1.ResourceClaim{claim}
		if err := o.clear(ctx, c, shown, shown); err != nil {
			return "", err
		}
		return fmt.Sprintf("deallocated: %s/%s", claim.Namespace, claim.Name), nil
	}), nil
}

// planned finds the claim that would be cleared, and says what of it.
func (o *deallocateOptions) planned(snapshot *inspect.Snapshot) (*resourcev1.ResourceClaim, string, error) {
	claims, err := o.find(snapshot)
	if err != nil {
		return nil, "", err
	}
	claim := claims[0]
	if claim.Status.Allocation == nil {
		return nil, "", fmt.Errorf("%s/%s is not allocated", claim.Namespace, claim.Name)
	}
	text, err := statusText([]*resourcev1.ResourceClaim{commit.Cleared(claim)})
	head := fmt.Sprintf("To be cleared:\n  %s/%s holds %s\n\nThen it is:\n", claim.Namespace, claim.Name, devicesText(devicesOf(claim.Status.Allocation)))
	return claim, head + text, err
}
