package allocate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/tui"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// newDemoWriter writes to a demo cluster that stands still but for that.
func newDemoWriter(t *testing.T) *demoWriter {
	t.Helper()
	life, err := demo.Live(t.Context(), sources.DemoSeed, inspect.DefaultFeatures(inspect.NewestMinor), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s := &console.Streams{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), Color: "never"}
	connection := &sources.Connection{}
	return &demoWriter{&Access{s, connection, sources.NewReader(s, connection, &sources.Memory{}, time.Now), &console.GracePeriod{}}, life}
}

func (d *demoWriter) plan(t *testing.T, action tui.Action, subject screen.Ref) tui.Plan {
	t.Helper()
	ctx, done := context.WithCancel(t.Context())
	plan, err := d.Plan(ctx, action, subject)
	done() // as the work of planning ends when the plan is there
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(plan.Text(), "This is the demo cluster") {
		t.Errorf("the plan does not say where it is written:\n%s", plan.Text())
	}
	return plan
}

func carryOut(t *testing.T, plan tui.Plan) string {
	t.Helper()
	said, err := plan.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func claimNamed(namespace, name string) screen.Ref {
	return screen.Ref{Kind: screen.Claim, Namespace: namespace, Name: name}
}

func refOf(r screen.Ref) inspect.ClaimRef {
	return inspect.ClaimRef{Namespace: r.Namespace, Name: r.Name}
}

// TestTheDemoAllocates what the allocator gives, and takes it back.
func TestTheDemoAllocates(t *testing.T) {
	d := newDemoWriter(t)
	train := claimNamed("ml", "train-1")
	before := d.life.Snapshot()
	plan := d.plan(t, tui.Allocate, train)
	if !strings.Contains(plan.Text(), "ml/train-1 gets gpu.example.com/gpu-b-03/gpu-4") || !strings.Contains(plan.Text(), "on node gpu-b-03") {
		t.Errorf("the plan is:\n%s", plan.Text())
	}
	if said := carryOut(t, plan); !strings.HasPrefix(said, "allocated: ml/train-1 has ") {
		t.Error(said)
	}
	was, _ := before.Claim(refOf(train))
	node, _ := before.Node("gpu-b-03")
	want, err := scheduler.NewCluster(before, scheduler.Options{}).Allocate(t.Context(), node, []*resourcev1.ResourceClaim{was}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claim, _ := d.life.Snapshot().Claim(refOf(train))
	if got := devicesOf(claim.Status.Allocation); !slices.Equal(got, devicesOf(&want.Allocations[0])) {
		t.Errorf("it has %v, the allocator gives %v", got, devicesOf(&want.Allocations[0]))
	}
	if at := claim.Status.Allocation.AllocationTimestamp; !at.Time.Equal(demo.Now()) {
		t.Errorf("it is allocated at %s, and in the cluster it is %s", at, demo.Now())
	}
	if _, err := plan.Execute(t.Context()); err == nil {
		t.Error("a plan was carried out twice")
	}
	if _, err := d.Plan(t.Context(), tui.Allocate, train); err == nil {
		t.Error("it can be allocated again")
	}
	carryOut(t, d.plan(t, tui.Deallocate, train))
	if claim, _ = d.life.Snapshot().Claim(refOf(train)); claim.Status.Allocation != nil {
		t.Error("it still has devices")
	}
	if _, err := d.Plan(t.Context(), tui.Allocate, claimNamed("ml", "train-0")); err == nil || !strings.Contains(err.Error(), "needs 5 devices") {
		t.Errorf("a claim that fits nowhere: %v", err)
	}
}

// TestTheDemoMovesOn: what was shown is written, or nothing.
func TestTheDemoMovesOn(t *testing.T) {
	d := newDemoWriter(t)
	first, second := d.plan(t, tui.Allocate, claimNamed("ml", "train-1")), d.plan(t, tui.Allocate, claimNamed("ml", "sweep-3"))
	idle := d.plan(t, tui.Deallocate, claimNamed("dev", "notebook-omar"))
	carryOut(t, first)
	if _, err := second.Execute(t.Context()); !errors.Is(err, errMoved) {
		t.Errorf("the devices of the plan are taken: %v", err)
	}
	carryOut(t, d.plan(t, tui.Deallocate, claimNamed("dev", "notebook-omar")))
	if _, err := idle.Execute(t.Context()); !errors.Is(err, errMoved) {
		t.Errorf("the claim is not as it was shown: %v", err)
	}
	if _, err := d.Plan(t.Context(), tui.Deallocate, claimNamed("ml", "pretrain-1")); err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Errorf("a claim that is in use: %v", err)
	}
}

// TestTheDemoReleasesAndTaints what is pointed at, a claim or a device.
func TestTheDemoReleasesAndTaints(t *testing.T) {
	d := newDemoWriter(t)
	held := screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-b-01/gpu-3"}
	state := func() inspect.DeviceState {
		for _, device := range d.life.Snapshot().Devices() {
			if device.ID == screen.DeviceID(held) {
				return device.State
			}
		}
		return ""
	}
	plan := d.plan(t, tui.Release, held)
	if !strings.Contains(plan.Text(), "ml/pretrain-1 gives back ") || !strings.Contains(plan.Text(), "Its pod pretrain-1 ends.") {
		t.Errorf("the plan is:\n%s", plan.Text())
	}
	if said := carryOut(t, plan); said != "released: ml/pretrain-1" || state() != inspect.DeviceFree {
		t.Errorf("%s; the device is %s", said, state())
	}
	if why := d.Refuses(tui.Release, held); !strings.Contains(why, "nobody holds") {
		t.Errorf("release of a free device: %q", why)
	}
	carryOut(t, d.plan(t, tui.Taint, held))
	if state() != inspect.DeviceTainted {
		t.Errorf("the device is %s", state())
	}
	plan = d.plan(t, tui.Taint, held)
	if !strings.Contains(plan.Text(), "is deleted") {
		t.Errorf("the plan is:\n%s", plan.Text())
	}
	if carryOut(t, plan); state() != inspect.DeviceFree {
		t.Errorf("the device is %s", state())
	}
	for _, ref := range []screen.Ref{claimNamed("ml", "train-0"), {Kind: screen.Node, Name: "gpu-a-01"}} {
		if _, err := d.Plan(t.Context(), tui.Taint, ref); err == nil {
			t.Errorf("%s was tainted", ref)
		}
	}
	if _, err := d.Plan(t.Context(), tui.Release, claimNamed("ml", "train-0")); err == nil {
		t.Error("a claim without devices was released")
	}
}

// TestClustersAreNotPlayedWith: what only the demo can do is refused before a cluster is read.
func TestClustersAreNotPlayedWith(t *testing.T) {
	writer := &topWriter{access: newDemoWriter(t).access}
	for _, action := range []tui.Action{tui.Release, tui.Taint} {
		if plan, err := writer.Plan(t.Context(), action, claimNamed("ml", "train-1")); plan != nil || err == nil || !strings.Contains(err.Error(), "no way to "+string(action)) {
			t.Errorf("%s: %v, %v", action, plan, err)
		}
	}
	if _, ok := any(writer).(tui.Player); ok {
		t.Error("keys of the demo for a cluster")
	}
}
