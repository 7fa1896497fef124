package checkup_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// confirmations ask the allocator, or the API's own types, whether a finding is true.
var confirmations = map[checkup.Code]func(*confirmation, *checkup.Finding) error{
	"SelectorInvalid": refusedClaim, "RequestMatchesNothing": refusedClaim, "ConstraintWithoutAttribute": refusedClaim, "ClassMissing": refusedClaim,
	"SelectorAborts": refusedClaim, "SelectorRedundant": refusedOpposite, "ClassMatchesNothing": refusedClass, "DeviceTainted": refusedTainted,
	"VersionRemoved": removedVersion, "Stuck": refusedAlone,
}

// atServer are the codes whose findings an API server confirms, in the end-to-end tests.
var atServer = []checkup.Code{"ObjectInvalid", "ObjectOdd", "PoolSurplus", "AdminAccessPossible"}

// confirmation is a cluster with the objects of a driver.
type confirmation struct {
	*testing.T
	cluster *scheduler.Cluster
}

// TestFindingsAreConfirmed has each finding in the objects of drivers confirmed by somebody who does not know
// of it.
func TestFindingsAreConfirmed(t *testing.T) {
	confirmed, left := 0, 0
	for _, name := range drivers(t) {
		s := driver(t, name)
		report, err := checkup.Run(context.Background(), s, checkup.Options{Severity: checkup.Note})
		if err != nil {
			t.Fatal(err)
		}
		// What a folder does not have, such as rules, counts as read: a finding is about what it has.
		read := inspect.New(*s.Objects(), inspect.Config{Revision: 1, Time: now, Features: s.Features()})
		c := &confirmation{t, scheduler.NewCluster(read, scheduler.Options{})}
		for _, f := range report.Findings {
			confirm := confirmations[f.Code]
			switch {
			case slices.Contains(atServer, f.Code):
				left++
			case confirm == nil:
				t.Errorf("%s: nobody confirms %s: %s", name, f.Code, f.Message())
			default:
				if err := confirm(c, f); err != nil {
					t.Errorf("%s: %s: %s: %v", name, f.Code, f.Message(), err)
				}
				confirmed++
			}
		}
	}
	t.Logf("%d findings were confirmed, %d are confirmed by an API server", confirmed, left)
	if confirmed < 40 || left < 10 {
		t.Errorf("only %d findings were confirmed, and %d are left to an API server", confirmed, left)
	}
}

// ask fails if the verdict about a claim is not one of those.
func (c *confirmation) ask(claim *resourcev1.ResourceClaim, want ...explain.Verdict) error {
	claim = claim.DeepCopy()
	claim.Status = resourcev1.ResourceClaimStatus{}
	answer, err := question.ClaimObject(c.Context(), c.cluster, claim, question.Options{})
	if err == nil && !slices.Contains(want, answer.Verdict) {
		err = fmt.Errorf("the allocator says %s: %s", answer.Verdict, answer.Message)
	}
	return err
}

// claimAt returns the claim that a finding is about, or one of its template. If the finding is about one of
// several alternatives of a request, there is only that one.
func (c *confirmation) claimAt(f *checkup.Finding) (*resourcev1.ResourceClaim, *resourcev1.DeviceRequest, error) {
	s, o := c.cluster.Snapshot(), f.Objects[0]
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: o.Namespace, Name: o.Name})
	if o.Kind == "ResourceClaimTemplate" {
		var template *resourcev1.ResourceClaimTemplate
		if template, ok = s.Template(o.Namespace, o.Name); ok {
			claim = inspect.ClaimFromTemplate(template, o.Name)
		}
	}
	if !ok {
		return nil, nil, fmt.Errorf("there is no %v", o)
	}
	claim = claim.DeepCopy()
	at := indexIn(f.Path, "requests")
	if at < 0 {
		return claim, nil, nil
	}
	request := &claim.Spec.Devices.Requests[at]
	if sub := indexIn(f.Path, "firstAvailable"); sub >= 0 {
		request.FirstAvailable = request.FirstAvailable[sub : sub+1]
	}
	return claim, request, nil
}

// indexIn returns the index of a list in a path such as spec.devices.requests[2].exactly, or -1.
func indexIn(path, list string) int {
	found := regexp.MustCompile(list + `\[(\d+)\]`).FindStringSubmatch(path)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return -1
	}
	return n
}

// refusedAlone: a pod or claim is refused also when nobody else is asked about.
func refusedAlone(c *confirmation, f *checkup.Finding) error {
	o := f.Objects[0]
	e, err := question.Named(c.Context(), c.cluster, explain.Subject{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, question.Options{})
	if err == nil && e.Verdict != explain.Unsatisfiable && e.Verdict != explain.Invalid {
		err = fmt.Errorf("the answer is %s: %s", e.Verdict, e.Message)
	}
	return err
}

// refusedClaim: the claim cannot be allocated.
func refusedClaim(c *confirmation, f *checkup.Finding) error {
	claim, _, err := c.claimAt(f)
	if err != nil {
		return err
	}
	return c.ask(claim, explain.Unsatisfiable, explain.Invalid)
}

// refusedOpposite: the request cannot be satisfied with the opposite of the selector, as no device differs in
// it.
func refusedOpposite(c *confirmation, f *checkup.Finding) error {
	claim, request, err := c.claimAt(f)
	if err != nil {
		return err
	}
	selectors := &request.Exactly
	at := indexIn(f.Path, "selectors")
	var list []resourcev1.DeviceSelector
	if *selectors != nil {
		list = request.Exactly.Selectors
	} else {
		list = request.FirstAvailable[0].Selectors
	}
	if at < 0 || at >= len(list) {
		return fmt.Errorf("there is no selector at %s", f.Path)
	}
	list[at].CEL.Expression = "!(" + list[at].CEL.Expression + ")"
	return c.ask(claim, explain.Unsatisfiable)
}

// simpleClaim asks for all devices of a class.
func simpleClaim(class string, mode resourcev1.DeviceAllocationMode, tolerations ...resourcev1.DeviceToleration) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{}
	claim.Name, claim.Namespace = "asked", "default"
	exactly := &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: mode, Tolerations: tolerations}
	if mode == resourcev1.DeviceAllocationModeExactCount {
		exactly.Count = 1
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: exactly}}
	return claim
}

// refusedClass: nobody can have a device of the class.
func refusedClass(c *confirmation, f *checkup.Finding) error {
	return c.ask(simpleClaim(f.Objects[0].Name, resourcev1.DeviceAllocationModeExactCount), explain.Unsatisfiable)
}

// refusedTainted: nobody can have all devices who does not tolerate taints, but who does can.
func refusedTainted(c *confirmation, _ *checkup.Finding) error {
	class := c.cluster.Snapshot().Objects().Classes[0].Name
	if err := c.ask(simpleClaim(class, resourcev1.DeviceAllocationModeAll), explain.Unsatisfiable); err != nil {
		return err
	}
	every := resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists}
	return c.ask(simpleClaim(class, resourcev1.DeviceAllocationModeAll, every), explain.Allocatable)
}

var removal = regexp.MustCompile(`^(\S+)/(\S+) is no longer served from Kubernetes 1\.(\d+) on; \S+ is the newest$`)

// removedVersion: the types of the API say so.
func removedVersion(_ *confirmation, f *checkup.Finding) error {
	found := removal.FindStringSubmatch(f.Detail)
	if found == nil {
		return fmt.Errorf("%q says no version", f.Detail)
	}
	types := runtime.NewScheme()
	if err := errors.Join(resourcev1beta1.AddToScheme(types), resourcev1beta2.AddToScheme(types)); err != nil {
		return err
	}
	object, err := types.New(schema.GroupVersionKind{Group: found[1], Version: found[2], Kind: f.Objects[0].Kind})
	if err != nil {
		return err
	}
	major, minor := object.(interface{ APILifecycleRemoved() (major, minor int) }).APILifecycleRemoved() //nolint:forcetypeassert // all old versions have it
	if major != 1 || strconv.Itoa(minor) != found[3] {
		return fmt.Errorf("it is removed in %d.%d", major, minor)
	}
	return nil
}
