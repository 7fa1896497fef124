package allocate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// demoWriter lets the terminal UI write to the demo cluster, which is only in memory. What it allocates was
// decided as for any other cluster.
type demoWriter struct {
	access *Access
	life   *demo.Alive
}

// Demo returns what the terminal UI writes to the demo cluster with.
func (a *Access) Demo(life *demo.Alive) tui.Writer { return &demoWriter{access: a, life: life} }

// demoPlan is a change of the demo cluster that was not made yet.
func demoPlan(text string, write func(context.Context) (string, error)) *writePlan {
	return &writePlan{"This is the demo cluster: it is written in memory, and nowhere else.\n\n" + text, write}
}

// Plan implements tui.Writer.
func (d *demoWriter) Plan(ctx context.Context, action tui.Action, subject screen.Ref) (tui.Plan, error) {
	if why := d.Refuses(action, subject); why != "" && (action == tui.Release || action == tui.Taint) {
		return nil, errors.New(why)
	}
	switch action {
	case tui.Allocate:
		return d.planAllocation(ctx, subject)
	case tui.Deallocate:
		return d.planDeallocation(subject)
	case tui.Release:
		return d.planRelease(subject)
	case tui.Taint:
		return d.planTaint(subject)
	}
	return nil, fmt.Errorf("the demo cannot %s", action)
}

// options are those of a command that writes, with notes that go into a buffer.
func (d *demoWriter) options(subject screen.Ref, notes *bytes.Buffer) writeOptions {
	access := d.access.offScreen(notes)
	access.Reader.Demo = true // which has a time of its own
	return writeOptions{Access: access, namespace: subject.Namespace, dryRun: dryRunClient}
}

func (d *demoWriter) planAllocation(ctx context.Context, subject screen.Ref) (tui.Plan, error) {
	notes := &bytes.Buffer{}
	o := &allocateOptions{writeOptions: d.options(subject, notes), kind: inquiry.Claim, names: []string{subject.Name}}
	shown, text, err := o.planned(ctx, d.life.Snapshot(), notes)
	if err != nil {
		return nil, err
	}
	return demoPlan(text, func(ctx context.Context) (string, error) { // not that of the planning, which has ended
		var done *commit.Decision
		err := d.life.Write(func(l *demo.Life) error {
			now, err := o.decide(ctx, l.Snapshot())
			if err != nil {
				return err
			}
			if len(now.Refusal) > 0 || !now.Same(shown) {
				return errMoved
			}
			done = now
			return l.Allocate(now.Written(o.Reader.Now(l.Snapshot()))[0])
		})
		if err != nil {
			return "", err
		}
		return "allocated: " + summary(done), nil
	}), nil
}

func (d *demoWriter) planDeallocation(subject screen.Ref) (tui.Plan, error) {
	o := &deallocateOptions{d.options(subject, &bytes.Buffer{}), []string{subject.Name}}
	shown, text, err := o.planned(d.life.Snapshot())
	if err != nil {
		return nil, err
	}
	return demoPlan(text, func(context.Context) (string, error) {
		return "deallocated: " + subject.String(), d.life.Write(func(l *demo.Life) error {
			if !sameStatus(l.Snapshot(), shown) {
				return errMoved
			}
			return l.Deallocate(inspect.RefOf(shown))
		})
	}), nil
}

// sameStatus reports whether a claim still is as it was.
func sameStatus(s *inspect.Snapshot, shown *resourcev1.ResourceClaim) bool {
	now, ok := s.Claim(inspect.RefOf(shown))
	return ok && equality.Semantic.DeepEqual(now.Status, shown.Status)
}

// held is the claim that is meant to be released: the one that is pointed at, or the first that holds the
// device that is.
func (d *demoWriter) held(s *inspect.Snapshot, subject screen.Ref) (inspect.ClaimRef, string) {
	switch subject.Kind {
	case screen.Claim:
		return inspect.ClaimRef{Namespace: subject.Namespace, Name: subject.Name}, ""
	case screen.Device:
		for _, h := range s.Holders(screen.DeviceID(subject)) {
			if !h.Admin() {
				return h.Claim, ""
			}
		}
		return inspect.ClaimRef{}, "nobody holds " + subject.Name
	}
	return inspect.ClaimRef{}, "select a claim, or a device that is held"
}

func (d *demoWriter) planRelease(subject screen.Ref) (tui.Plan, error) {
	s := d.life.Snapshot()
	ref, why := d.held(s, subject)
	claim, ok := s.Claim(ref)
	if why != "" || !ok {
		return nil, errors.New(why)
	}
	if claim.Status.Allocation == nil {
		return nil, fmt.Errorf("%s holds no devices", ref)
	}
	text := fmt.Sprintf("%s gives back %s.\n", ref, devicesText(devicesOf(claim.Status.Allocation)))
	for _, pod := range s.PodsOf(ref) {
		text += fmt.Sprintf("Its pod %s ends.\n", pod.Name)
	}
	return demoPlan(text, func(context.Context) (string, error) {
		return "released: " + ref.String(), d.life.Write(func(l *demo.Life) error {
			if !sameStatus(l.Snapshot(), claim) {
				return errMoved
			}
			return l.Release(ref)
		})
	}), nil
}

// tainted is the device, or with no name of one the pool, that is meant.
func tainted(subject screen.Ref) (inspect.DeviceID, bool) {
	switch subject.Kind {
	case screen.Device:
		return screen.DeviceID(subject), true
	case screen.Pool:
		driver, pool, ok := strings.Cut(subject.Name, "/")
		return inspect.DeviceID{Driver: driver, Pool: pool}, ok
	}
	return inspect.DeviceID{}, false
}

func (d *demoWriter) planTaint(subject screen.Ref) (tui.Plan, error) {
	id, _ := tainted(subject)
	var rule *resourcev1.DeviceTaintRule
	taken := false
	look := func(l *demo.Life) { rule, taken = l.TaintRule(id), l.Tainted(id) }
	d.life.Look(look)
	data, err := yaml.Marshal(map[string]any{"apiVersion": resourcev1.SchemeGroupVersion.String(), "kind": "DeviceTaintRule", "metadata": map[string]any{"name": rule.Name}, "spec": rule.Spec})
	if err != nil {
		return nil, fmt.Errorf("printing a DeviceTaintRule: %w", err)
	}
	text, said := "To be created:\n"+string(data), "tainted: "+subject.Name
	if taken {
		text, said = "The DeviceTaintRule "+rule.Name+" is deleted.\n", "no longer tainted by you: "+subject.Name
	}
	return demoPlan(text, func(context.Context) (string, error) {
		return said, d.life.Write(func(l *demo.Life) error {
			if l.Tainted(id) != taken {
				return errMoved
			}
			return l.Taint(id)
		})
	}), nil
}

// Refuses implements tui.Player.
func (d *demoWriter) Refuses(action tui.Action, subject screen.Ref) string {
	if action == tui.Release {
		_, why := d.held(d.life.Snapshot(), subject)
		return why
	}
	if _, ok := tainted(subject); !ok {
		return "select a device first"
	}
	return ""
}

var _ tui.Player = (*demoWriter)(nil)
