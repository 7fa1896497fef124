package cel

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// testObjects tests all selectors of the objects that were named.
func (t *selectorTester) testObjects(ctx context.Context) error {
	for _, name := range t.options.names {
		before := len(t.tests)
		if err := t.testObject(ctx, name); err != nil {
			return err
		}
		if len(t.tests) == before {
			t.options.Note("%s %s has no CEL selectors", t.options.kind.Singular, name)
		}
	}
	return nil
}

func (t *selectorTester) testObject(ctx context.Context, name string) error {
	namespace, kind := t.options.namespace, t.options.kind
	subject := explain.Subject{Kind: kind.Kind, Namespace: namespace, Name: name}
	switch kind.Resource {
	case inspect.Classes:
		if class, ok := t.snapshot.Class(name); ok {
			subject.Namespace = ""
			return t.testChain(ctx, subject, "spec.selectors", class.Spec.Selectors, t.all, t.options.scope(""))
		}
		namespace = ""
	case inspect.Templates:
		if template, ok := t.snapshot.Template(namespace, name); ok {
			return t.testClaim(ctx, subject, "spec.spec", &template.Spec.Spec)
		}
	default:
		if claim, ok := t.snapshot.Claim(inspect.ClaimRef{Namespace: namespace, Name: name}); ok {
			return t.testClaim(ctx, subject, "spec", &claim.Spec)
		}
	}
	return inquiry.NotFound(t.snapshot, kind, namespace, name)
}

// testClaim tests the selectors of every request and alternative, on the devices of its class.
func (t *selectorTester) testClaim(ctx context.Context, subject explain.Subject, path string, spec *resourcev1.ResourceClaimSpec) error {
	for _, asked := range inspect.AskedBy(spec) {
		if len(*asked.Selectors) == 0 {
			continue
		}
		devices, err := t.ofClass(ctx, asked.Class)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", path, asked.Path, err)
		}
		at, scope := path+"."+asked.Path+".selectors", t.options.scope(asked.Class)
		if err := t.testChain(ctx, subject, at, *asked.Selectors, devices, scope); err != nil {
			return err
		}
	}
	return nil
}

// testChain tests selectors that apply one after the other: the scheduler does not look at a device with a
// selector when one before it is false.
func (t *selectorTester) testChain(ctx context.Context, subject explain.Subject, path string, selectors []resourcev1.DeviceSelector, devices []inspect.DeviceStatus, scope string) error {
	for i, s := range selectors {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s.CEL == nil {
			t.options.Note("warning: %s %s: %s has no CEL expression: the scheduler gives up with an error", subject.Kind, subject.Name, at)
			t.code = console.ExitFailed
			return nil
		}
		test, matched, err := t.testOne(ctx, s.CEL.Expression, devices)
		if err != nil {
			return err
		}
		test.Subject, test.Path, test.Scope = &subject, at+".cel.expression", scope
		if i > 0 {
			test.Scope = "that the selectors before it let through"
		}
		t.tests = append(t.tests, test)
		devices = matched
	}
	return nil
}

// ofClass returns the devices that all selectors of a class match.
func (t *selectorTester) ofClass(ctx context.Context, name string) ([]inspect.DeviceStatus, error) {
	class, ok := t.snapshot.Class(name)
	if !ok {
		return nil, inquiry.NotFound(t.snapshot, inquiry.Class, "", name)
	}
	devices := t.all
	for i, s := range class.Spec.Selectors {
		if s.CEL == nil {
			return nil, fmt.Errorf("deviceclass %s: selector %d has no CEL expression", name, i)
		}
		trial, err := bench.New(t.selectors, subjects(devices)).Try(ctx, s.CEL.Expression)
		switch {
		case err != nil:
			return nil, err
		case trial.Check.Scheduler != nil:
			return nil, fmt.Errorf("deviceclass %s: selector %d does not compile: %w", name, i, trial.Check.Scheduler)
		case trial.Failed > 0:
			t.code = console.ExitFailed
			t.options.Note("warning: deviceclass %s: selector %d fails on %d devices, which makes the scheduler give up; \"kubectl dra cel class %s\" says why", name, i, trial.Failed, name)
		}
		devices = matching(trial, devices)
	}
	return devices, nil
}

// matching returns the devices that a selector matches; none if it does not compile.
func matching(trial *bench.Trial, devices []inspect.DeviceStatus) []inspect.DeviceStatus {
	var out []inspect.DeviceStatus
	for i, of := range trial.Of {
		if trial.Outcomes[of].Result == bench.Match {
			out = append(out, devices[i])
		}
	}
	return out
}
