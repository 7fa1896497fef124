package lifecycle

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// BindsLater reports whether the scheduler waits for the binding conditions of devices.
func BindsLater(s *inspect.Snapshot) bool {
	return s.Features().Enabled(inspect.GateDeviceBindingConditions) && s.Features().Enabled(inspect.GateDeviceStatus)
}

// binds reports whether the devices of an allocated claim are not all ready to be bound.
func (b *builder) binds(claim *resourcev1.ResourceClaim) bool {
	return BindsLater(b.s) && slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
		return len(OpenConditions(claim, &r)) > 0 || FailedCondition(claim, &r) != nil
	})
}

// OpenConditions are the binding conditions of a device that are not met.
func OpenConditions(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) []string {
	var open []string
	conditions := conditionsOf(claim, r)
	for _, c := range r.BindingConditions {
		if !meta.IsStatusConditionTrue(conditions, c) {
			open = append(open, c)
		}
	}
	return open
}

// FailedCondition is the first binding failure that a device reports. It is nil if there is none. Without
// binding conditions the scheduler looks for no failure either.
func FailedCondition(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) *metav1.Condition {
	if len(r.BindingConditions) == 0 {
		return nil
	}
	conditions := conditionsOf(claim, r)
	for _, c := range r.BindingFailureConditions {
		if meta.IsStatusConditionTrue(conditions, c) {
			return meta.FindStatusCondition(conditions, c)
		}
	}
	return nil
}

// conditionsOf are the conditions of a device, with which the scheduler takes the first status of it,
// whatever the share.
func conditionsOf(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) []metav1.Condition {
	for i := range claim.Status.Devices {
		d := &claim.Status.Devices[i]
		if d.Driver == r.Driver && d.Pool == r.Pool && d.Device == r.Device {
			return d.Conditions
		}
	}
	return nil
}

// binding adds the binding conditions of a claim that are open or failed.
func (b *builder) binding(claim *resourcev1.ResourceClaim) {
	if !BindsLater(b.s) {
		return
	}
	var open []string // in order
	waiting := map[string][]inspect.DeviceID{}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if failed := FailedCondition(claim, r); failed != nil {
			b.add(bindingFailure(claim, inspect.DeviceOf(r), failed))
			continue
		}
		for _, c := range OpenConditions(claim, r) {
			if waiting[c] == nil {
				open = append(open, c)
			}
			waiting[c] = append(waiting[c], inspect.DeviceOf(r))
		}
	}
	for _, c := range open {
		b.add(b.bindingWait(claim, c, waiting[c]))
	}
}

func bindingFailure(claim *resourcev1.ResourceClaim, device inspect.DeviceID, failed *metav1.Condition) explain.Problem {
	return explain.Problem{
		Code: explain.BindingFailed, Fails: true, Object: claimSubject(claim), Devices: []inspect.DeviceID{device}, Driver: device.Driver,
		Reason: failed.Reason, Said: failed.Message, Since: failed.LastTransitionTime.Time, Actor: explain.DriverAdmin,
		Message: fmt.Sprintf("device %s reports the binding failure %s; the scheduler gives it back and tries again", device, failed.Type),
		Brief:   fmt.Sprintf("its device %s reports the binding failure %s", device.Device, failed.Type),
		// The status of the devices has what the driver says.
		Commands: commands([]string{"kubectl", "get", "resourceclaim", "-n", claim.Namespace, claim.Name, "-o", "yaml"}),
	}
}

// bindingWait is that devices have not met a binding condition, yet or in time.
func (b *builder) bindingWait(claim *resourcev1.ResourceClaim, condition string, devices []inspect.DeviceID) explain.Problem {
	p := explain.Problem{
		Code: explain.BindingPending, Object: claimSubject(claim), Devices: devices, Driver: devices[0].Driver, Actor: explain.DriverAdmin,
		Commands: commands([]string{"kubectl", "get", "resourceclaim", "-n", claim.Namespace, claim.Name, "-o", "yaml"}),
	}
	if c := reported(claim, devices, condition); c != nil {
		p.Reason, p.Said = c.Reason, c.Message
	}
	what, short := words.Count(len(devices), "device"), words.Count(len(devices), "device")
	if len(devices) == 1 {
		what, short = "device "+devices[0].String(), "its device "+devices[0].Device
	}
	waits := words.Plural(len(devices), "waits", "wait")
	p.Message = fmt.Sprintf("%s %s for the binding condition %s", what, waits, condition)
	p.Brief = fmt.Sprintf("%s %s for the binding condition %s", short, waits, condition)
	at := claim.Status.Allocation.AllocationTimestamp
	if at == nil || b.s.Time().IsZero() {
		return p
	}
	longest := b.s.Scheduler().BindingTimeout()
	p.Since, p.Until = at.Time, at.Add(longest)
	limit := int(longest.Seconds())
	if !p.Until.Before(b.s.Time()) {
		left := int(p.Until.Sub(b.s.Time()).Seconds())
		p.Message += fmt.Sprintf(", with %d of %d seconds left before the scheduler gives the devices back", left, limit)
		p.Brief += fmt.Sprintf(", with %d of %d seconds left", left, limit)
		return p
	}
	p.Code, p.Fails = explain.BindingFailed, true
	missed := words.Plural(len(devices), "has", "have")
	p.Message = fmt.Sprintf("%s %s not met the binding condition %s within %d seconds; the scheduler gives the devices back and tries again", what, missed, condition, limit)
	p.Brief = fmt.Sprintf("%s %s not met the binding condition %s within %d seconds", short, missed, condition, limit)
	return p
}

// reported is what the first of the devices says about a condition. It is nil if none says anything.
func reported(claim *resourcev1.ResourceClaim, devices []inspect.DeviceID, condition string) *metav1.Condition {
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if c := meta.FindStatusCondition(conditionsOf(claim, r), condition); c != nil && slices.Contains(devices, inspect.DeviceOf(r)) {
			return c
		}
	}
	return nil
}
