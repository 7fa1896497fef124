package cel

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// testObjects tests all selectors of the testObjects that were named.
func (t *selectorTester) testObjects(ctx context.Context) error {
	for _, name := range t.options.names {
		before := len(t.tests)
		var err error
		subject := output.Subject{Kind: t.options.kind.Kind, Namespace: t.options.namespace, Name: name}
		switch t.options.kind.Resource {
		case inspect.Classes:
			subject.Namespace = ""
			err = t.testClass(ctx, subject)
		case inspect.Templates:
			template, ok := t.snapshot.Template(t.options.namespace, name)
			if !ok {
				return inquiry.NotFound(t.snapshot, inquiry.Template, t.options.namespace, name)
			}
			err = t.testClaim(ctx, subject, "spec.spec.devices", &template.Spec.Spec)
		default:
			claim, ok := t.snapshot.Claim(inspect.ClaimRef{Namespace: t.options.namespace, Name: name})
			if !ok {
				return inquiry.NotFound(t.snapshot, inquiry.Claim, t.options.namespace, name)
			}
			err = t.testClaim(ctx, subject, "spec.devices", &claim.Spec)
		}
		if err != nil {
			return err
		}
		if len(t.tests) == before {
			t.options.Note("%s %s has no CEL selectors", t.options.kind.Singular, name)
		}
	}
	return nil
}

func (t *selectorTester) testClass(ctx context.Context, subject output.Subject) error {
	class, err := t.classNamed(subject.Name)
	if err != nil {
		return err
	}
	return t.testChain(ctx, subject, "spec.selectors", class.Spec.Selectors, t.all, t.options.filter.scope(""))
}

// testClaim tests the selectors of every request and alternative, on the devices of its class.
func (t *selectorTester) testClaim(ctx context.Context, subject output.Subject, path string, spec *resourcev1.ResourceClaimSpec) error {
	test := func(at, class string, selectors []resourcev1.DeviceSelector) error {
		if len(selectors) == 0 {
			return nil
		}
		devices, err := t.ofClass(ctx, class, t.all)
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return t.testChain(ctx, subject, at+".selectors", selectors, devices, t.options.filter.scope(class))
	}
	for i := range spec.Devices.Requests {
		request := &spec.Devices.Requests[i]
		at := fmt.Sprintf("%s.requests[%d]", path, i)
		if request.Exactly != nil {
			if err := test(at+".exactly", request.Exactly.DeviceClassName, request.Exactly.Selectors); err != nil {
				return err
			}
		}
		for j := range request.FirstAvailable {
			sub := &request.FirstAvailable[j]
			if err := test(fmt.Sprintf("%s.firstAvailable[%d]", at, j), sub.DeviceClassName, sub.Selectors); err != nil {
				return err
			}
		}
	}
	return nil
}

// testChain tests selectors that apply one after the other: the scheduler does not look at a device with a
// selector when one before it is false.
func (t *selectorTester) testChain(ctx context.Context, subject output.Subject, path string, selectors []resourcev1.DeviceSelector, devices []inspect.DeviceStatus, scope string) error {
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

func (t *selectorTester) classNamed(name string) (*resourcev1.DeviceClass, error) {
	if class, ok := t.snapshot.Class(name); ok {
		return class, nil
	}
	var names []string
	for _, class := range t.snapshot.Objects().Classes {
		names = append(names, class.Name)
	}
	return nil, notAmong("deviceclass", name, names)
}

// ofClass returns the devices that all selectors of a class match.
func (t *selectorTester) ofClass(ctx context.Context, name string, devices []inspect.DeviceStatus) ([]inspect.DeviceStatus, error) {
	class, err := t.classNamed(name)
	if err != nil {
		return nil, err
	}
	for i, s := range class.Spec.Selectors {
		if s.CEL == nil {
			return nil, fmt.Errorf("deviceclass %s: selector %d has no CEL expression", name, i)
		}
		trial, err := bench.New(t.selectors, subjects(devices)).Try(ctx, s.CEL.Expression)
		if err != nil {
			return nil, err
		}
		if trial.Check.Scheduler != nil {
			return nil, fmt.Errorf("deviceclass %s: selector %d does not compile: %w", name, i, trial.Check.Scheduler)
		}
		if trial.Failed > 0 {
			t.code = console.ExitFailed
			t.options.Note("warning: deviceclass %s: selector %d fails on %d devices, which makes the scheduler give up; \"kubectl dra cel class %s\" says why", name, i, trial.Failed, name)
		}
		var matched []inspect.DeviceStatus
		for d := range devices {
			if trial.OutcomeOf(d).Result == bench.Match {
				matched = append(matched, devices[d])
			}
		}
		devices = matched
	}
	return devices, nil
}
