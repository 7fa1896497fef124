package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What users can do to the cluster, in memory. It goes on from there.

// taintKey is that of the taints that users put on devices.
const taintKey = "demo.kubectl-dra.dev/tainted-by-you"

// Allocate gives a claim the status that it has in claim, as if that were written to a server. It must not be
// allocated yet.
func (l *Life) Allocate(claim *resourcev1.ResourceClaim) error {
	ref := inspect.RefOf(claim)
	if j := l.jobOf(ref); j != nil {
		if j.phase != corev1.PodPending || len(j.devices) > 0 {
			return fmt.Errorf("allocating claim %s: it has devices already", ref)
		}
		j.node = string(inspect.AllocationNode(claim.Status.Allocation))
		for i := range claim.Status.Allocation.Devices.Results {
			j.devices = append(j.devices, claim.Status.Allocation.Devices.Results[i].Device)
		}
		j.draw("")
		return nil
	}
	return l.edit(ref, func(own *resourcev1.ResourceClaim) error {
		if own.Status.Allocation != nil {
			return fmt.Errorf("allocating claim %s: it has devices already", ref)
		}
		own.Status, own.Finalizers = *claim.Status.DeepCopy(), slices.Clone(claim.Finalizers)
		return nil
	})
}

// Deallocate takes its devices from a claim. It must be allocated and reserved by nobody.
func (l *Life) Deallocate(ref inspect.ClaimRef) error {
	claim, ok := l.snapshot.Claim(ref)
	switch {
	case !ok:
		return fmt.Errorf("deallocating claim %s: it is gone", ref)
	case claim.Status.Allocation == nil:
		return fmt.Errorf("deallocating claim %s: it holds no devices", ref)
	case len(claim.Status.ReservedFor) > 0:
		return fmt.Errorf("deallocating claim %s: it is reserved", ref)
	}
	if j := l.jobOf(ref); j != nil {
		if j.devices = nil; j.phase == corev1.PodPending {
			j.node = ""
		}
		j.draw("")
		return nil
	}
	return l.edit(ref, clearClaim)
}

func clearClaim(claim *resourcev1.ResourceClaim) error {
	claim.Status.Allocation, claim.Status.Devices = nil, nil
	claim.Finalizers = slices.DeleteFunc(slices.Clone(claim.Finalizers), func(f string) bool { return f == resourcev1.Finalizer })
	return nil
}

// Release lets the pods of a claim end. It gives its devices back then, as do all other claims that nothing
// but these pods uses; those that were made for a pod go with it.
func (l *Life) Release(ref inspect.ClaimRef) error {
	claim, ok := l.snapshot.Claim(ref)
	switch {
	case !ok:
		return fmt.Errorf("releasing claim %s: it is gone", ref)
	case claim.Status.Allocation == nil:
		return fmt.Errorf("releasing claim %s: it holds no devices", ref)
	}
	if j := l.jobOf(ref); j != nil {
		j.phase, j.until, j.devices = corev1.PodSucceeded, l.step+3, nil
		j.draw("")
		return nil
	}
	ended := map[string]bool{}
	l.static.Pods = slices.Clone(l.static.Pods)
	for _, name := range l.snapshot.PodsOf(ref) {
		ended[name.Namespace+"/"+name.Name] = true
		at := slices.IndexFunc(l.static.Pods, func(p *corev1.Pod) bool { return p.Namespace == name.Namespace && p.Name == name.Name })
		if at >= 0 {
			l.static.Pods[at] = l.static.Pods[at].DeepCopy()
			l.static.Pods[at].Status.Phase = corev1.PodSucceeded
			l.static.Pods[at].Status.ContainerStatuses = nil
		}
	}
	l.static.Claims = slices.Clone(l.static.Claims)
	for i, c := range l.static.Claims {
		l.static.Claims[i] = without(c, ended, inspect.RefOf(c) == ref)
	}
	l.static.Claims = slices.DeleteFunc(l.static.Claims, func(c *resourcev1.ResourceClaim) bool { return c == nil })
	return nil
}

// without returns a claim as it is when pods have ended: itself if they have not used it, and nil if it goes
// with one of them. It gives its devices back when nothing reserves it any more, and always if that is
// wanted.
func without(claim *resourcev1.ResourceClaim, ended map[string]bool, always bool) *resourcev1.ResourceClaim {
	left := slices.DeleteFunc(slices.Clone(claim.Status.ReservedFor), func(c resourcev1.ResourceClaimConsumerReference) bool {
		return c.Resource == "pods" && ended[claim.Namespace+"/"+c.Name]
	})
	if len(left) == len(claim.Status.ReservedFor) && !always {
		return claim
	}
	owner := metav1.GetControllerOf(claim)
	if owner != nil && owner.Kind == "Pod" && ended[claim.Namespace+"/"+owner.Name] {
		return nil
	}
	claim = claim.DeepCopy()
	if claim.Status.ReservedFor = left; len(left) == 0 || always {
		claim.Status.ReservedFor = nil
		_ = clearClaim(claim)
	}
	return claim
}

// Tainted reports whether users have tainted a device, or, if it has no name, its whole pool.
func (l *Life) Tainted(id inspect.DeviceID) bool { return l.ruleOf(id) >= 0 }

// Taint puts a DeviceTaintRule on a device, or, if it has no name, on its whole pool; if users have done so
// before, it takes the rule away.
func (l *Life) Taint(id inspect.DeviceID) error {
	rules := slices.Clone(l.static.TaintRules)
	if at := l.ruleOf(id); at >= 0 {
		l.static.TaintRules = slices.Delete(rules, at, at+1)
		return nil
	}
	if len(l.snapshot.SlicesIn(id.PoolID())) == 0 {
		return errors.New("tainting: there is no such pool any more")
	}
	l.static.TaintRules = append(rules, l.TaintRule(id))
	return nil
}

// TaintRule is the rule that Taint puts on a device or pool.
func (l *Life) TaintRule(id inspect.DeviceID) *resourcev1.DeviceTaintRule {
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: ruleName(id), CreationTimestamp: metav1.NewTime(l.now())}}
	rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: ptr.To(id.Driver), Pool: ptr.To(id.Pool)}
	if id.Device != "" {
		rule.Spec.DeviceSelector.Device = ptr.To(id.Device)
	}
	now := metav1.NewTime(l.now())
	rule.Spec.Taint = resourcev1.DeviceTaint{Key: taintKey, Effect: resourcev1.DeviceTaintEffectNoSchedule, TimeAdded: &now}
	return rule
}

// ruleOf returns the index of the rule that users have put on a device or pool, or -1.
func (l *Life) ruleOf(id inspect.DeviceID) int {
	return slices.IndexFunc(l.static.TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return r.Name == ruleName(id) })
}

func ruleName(id inspect.DeviceID) string {
	return "demo-" + strings.NewReplacer("/", "-", "_", "-").Replace(strings.TrimSuffix(id.String(), "/"))
}

// jobOf returns the job whose claim it is, or nil.
func (l *Life) jobOf(ref inspect.ClaimRef) *job {
	for _, j := range l.jobs {
		if ref.Namespace == jobNamespace && ref.Name == j.name {
			return j
		}
	}
	return nil
}

// edit changes a copy of a claim.
func (l *Life) edit(ref inspect.ClaimRef, change func(*resourcev1.ResourceClaim) error) error {
	at := slices.IndexFunc(l.static.Claims, func(c *resourcev1.ResourceClaim) bool { return inspect.RefOf(c) == ref })
	if at < 0 {
		return fmt.Errorf("claim %s is gone", ref)
	}
	claim := l.static.Claims[at].DeepCopy()
	if err := change(claim); err != nil {
		return err
	}
	l.static.Claims = slices.Clone(l.static.Claims)
	l.static.Claims[at] = claim
	return nil
}

// Written is the cluster after what users have done to it since the last step.
func (l *Life) Written() *inspect.Snapshot {
	l.writes++
	l.snapshot = l.snapshot.Next(l.objects(), l.config())
	return l.snapshot
}
