package lifecycle

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DeviceEvictions are the problems Evicting of a pod on a node that are because of its devices, the first
// first, in whatever stage it is: the controller also deletes pods that have ended, as long as a claim is
// reserved for them, but none that is about to go. The claims are those of the pod that are allocated.
func DeviceEvictions(s *inspect.Snapshot, pod *corev1.Pod, claims []*resourcev1.ResourceClaim) []explain.Problem {
	if pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil {
		return nil
	}
	b := &builder{s: s, l: &explain.Lifecycle{At: s.Time()}}
	b.devicesEvict(pod, claims)
	return b.l.Problems
}

// devicesEvict adds the NoExecute taints of the devices of a pod for which it will be deleted.
func (b *builder) devicesEvict(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) {
	if !b.s.Features().Enabled(inspect.GateDeviceTaints) {
		return
	}
	var found []deviceEviction
	for _, claim := range claims {
		groups := b.s.Features().Enabled(inspect.GateWorkloadResourceClaims)
		if b.looksAt(pod, claim) && (reservedFor(pod, claim) || groups && inspect.ReservedForGroupOf(pod, claim)) {
			found = b.deviceEvictions(found, claim)
		}
	}
	slices.SortStableFunc(found, func(a, b deviceEviction) int { return a.until().Compare(b.until()) })
	for i := range found { // the first of them decides
		e := &found[i]
		what, short := "device "+e.devices[0].String(), "its device "+e.devices[0].Device
		if n := len(e.devices); n > 1 {
			what, short = what+fmt.Sprintf(" (and %d more)", n-1), fmt.Sprintf("%d of its devices", n)
		}
		p := b.evicted(pod, &e.eviction, what, short)
		p.Devices, p.Driver, p.Actor, p.Reason = e.devices, e.devices[0].Driver, explain.DriverAdmin, e.key
		if p.TaintRules = e.rules; len(e.rules) > 0 {
			p.Actor = explain.ClusterAdmin
			p.Message += explain.SetBy(e.rules)
			p.Commands = commands(describe("devicetaintrule", "", e.rules[0].Name))
		} else {
			b.addDriverLogs(&p, pod, p.Driver)
		}
		b.add(p)
	}
}

// looksAt reports whether the controller that evicts pods because of devices looks at a claim of a pod. It
// does not look at one that was to be made for the pod or its group and is not controlled by it, nor, before
// EvictsExtended, at claims for extended resources.
func (b *builder) looksAt(pod *corev1.Pod, claim *resourcev1.ResourceClaim) bool {
	extended := pod.Status.ExtendedResourceClaimStatus
	made := extended != nil && extended.ResourceClaimName == claim.Name && inspect.EvictsExtended.In(b.s.Release())
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if name, ok := inspect.ClaimNameFor(pod, entry); ok && name == claim.Name {
			if made = true; entry.ResourceClaimName != nil {
				return true // it may be anybody's
			}
		}
	}
	owner, group := metav1.GetControllerOf(claim), inspect.PodGroupOf(pod)
	switch {
	case !made:
		return false
	case group != "" && inspect.OwnedByPodGroup(claim, group):
		return b.s.Features().Enabled(inspect.GateWorkloadResourceClaims)
	case owner == nil:
		return pod.UID == "" || claim.UID == "" // as in files written by hand
	}
	return owner.UID == "" || pod.UID == "" || owner.UID == pod.UID
}

// eviction is when and why a pod is evicted.
type eviction struct {
	taint string
	added time.Time
	// tolerated is for how long the taint is tolerated. It is nil if it is not.
	tolerated *int64
}

// until is when the pod is evicted. It is zero if it is not known when the taint was set.
func (e *eviction) until() time.Time {
	if e.added.IsZero() || e.tolerated == nil {
		return e.added
	}
	return e.added.Add(period(*e.tolerated))
}

// countable are the most seconds that controllers can count, in 64 bits of nanoseconds: 292 years.
const countable = int64(math.MaxInt64 / time.Second)

// period is for how long controllers tolerate a taint for a number of seconds. One that is not countable
// wraps around, and is less than nothing, or anything else.
func period(seconds int64) time.Duration { return time.Duration(max(seconds, 0)) * time.Second }

// evicted is the problem that a pod is evicted because something has a taint; short is what that is in a few
// words.
func (b *builder) evicted(pod *corev1.Pod, e *eviction, what, short string) explain.Problem {
	p := explain.Problem{Code: explain.Evicting, Fails: true, Object: podSubject(pod), Since: e.added, Until: e.until()}
	switch left := b.left(p.Until); {
	case left != "":
		p.Brief = "will be evicted in " + left
	case p.Until.IsZero() && e.tolerated != nil:
		p.Brief = fmt.Sprintf("will be evicted %s after the taint was set, of which the time is not known", words.Count(int(*e.tolerated), "second"))
	default:
		p.Brief = "is about to be evicted"
	}
	p.Message = "pod " + pod.Name + " " + p.Brief + ": " + what + " has the taint " + e.taint
	p.Brief += " because of the taint " + e.taint + " of " + short
	if e.tolerated != nil && *e.tolerated > 0 {
		p.Message += ", which is tolerated for " + strconv.FormatInt(*e.tolerated, 10) + " seconds"
		if *e.tolerated > countable {
			p.Message += ", more than the controller can count"
		}
	} else {
		p.Message += ", which is not tolerated"
	}
	return p
}

// nodeEvicts adds that the node evicts the pod. The controller (pkg/controller/tainteviction) deletes a pod
// at once that does not tolerate each NoExecute taint, and otherwise after the shortest time of the
// tolerations that it needs.
func (b *builder) nodeEvicts(pod *corev1.Pod) {
	node, ok := b.s.Node(inspect.NodeName(pod.Spec.NodeName))
	if !ok || b.s.NodesAssumed() {
		return
	}
	var first *eviction
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		e := &eviction{taint: taint.ToString()}
		if taint.TimeAdded != nil {
			e.added = taint.TimeAdded.Time
		}
		at := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(logr.Discard(), taint, false) })
		if at >= 0 {
			if e.tolerated = pod.Spec.Tolerations[at].TolerationSeconds; e.tolerated == nil {
				continue
			}
		}
		if first == nil || sooner(e, first) {
			first = e
		}
	}
	if first == nil || first.tolerated != nil && period(*first.tolerated) < 0 { // which this controller takes for ever
		return
	}
	p := b.evicted(pod, first, "node "+node.Name, "its node")
	p.Actor, p.Commands = explain.ClusterAdmin, commands(describe("node", "", node.Name))
	b.add(p)
}

// sooner reports whether a pod is evicted for a before it would be for b.
func sooner(a, b *eviction) bool {
	if (a.tolerated == nil) != (b.tolerated == nil) {
		return a.tolerated == nil
	}
	return a.tolerated != nil && *a.tolerated < *b.tolerated
}

// deviceEviction is a taint of devices for which a pod is evicted.
type deviceEviction struct {
	eviction
	key     string
	devices []inspect.DeviceID
	rules   []explain.TaintRule
}

// deviceEvictions adds the taints of devices of a claim to those that were found. A taint that several
// devices have is one.
func (b *builder) deviceEvictions(found []deviceEviction, claim *resourcev1.ResourceClaim) []deviceEviction {
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		id := inspect.DeviceOf(r)
		for _, taint := range b.taintsOf(id) {
			seconds, forever := ToleratedFor(b.s.Release(), taint, r.Tolerations)
			if taint.Effect != resourcev1.DeviceTaintEffectNoExecute || forever {
				continue
			}
			e := deviceEviction{eviction{taint: words.FormatTaint(taint), tolerated: seconds}, taint.Key, []inspect.DeviceID{id}, explain.TaintRules(b.s, taint, id)}
			if taint.TimeAdded != nil {
				e.added = taint.TimeAdded.Time
			}
			at := slices.IndexFunc(found, func(f deviceEviction) bool {
				return f.taint == e.taint && f.until().Equal(e.until()) && (f.tolerated == nil) == (e.tolerated == nil) && slices.Equal(f.rules, e.rules)
			})
			if at < 0 {
				found = append(found, e)
			} else if !slices.Contains(found[at].devices, id) {
				found[at].devices = append(found[at].devices, id)
			}
		}
	}
	return found
}

// taintsOf are the taints of a device, the driver's own and those of rules, as far as they count.
func (b *builder) taintsOf(id inspect.DeviceID) []*resourcev1.DeviceTaint {
	var out []*resourcev1.DeviceTaint
	published := false
	for _, slice := range inspect.NewestSlices(b.s.PublishedIn(id.PoolID())) {
		for i := range slice.Spec.Devices {
			if inspect.DeviceIDOf(slice, i) != id {
				continue
			}
			published = true
			for j := range slice.Spec.Devices[i].Taints {
				out = append(out, &slice.Spec.Devices[i].Taints[j])
			}
		}
	}
	for _, rule := range b.s.Objects().TaintRules {
		if b.s.RuleEvicts(rule, id, published) {
			out = append(out, &rule.Spec.Taint)
		}
	}
	return out
}

// ToleratedFor says for how many seconds a NoExecute taint is tolerated. It is nil if it is not tolerated, or
// forever. Unlike the scheduler, before 1.38 the controller that evicts pods wants the effect of a toleration
// to be NoExecute: without an effect it does not count.
func ToleratedFor(release inspect.Release, taint *resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) (seconds *int64, forever bool) {
	for i := range tolerations {
		t := &tolerations[i]
		effectless := t.Effect == "" && !release.Modelled().Before(38, 0)
		if !effectless && t.Effect != resourcev1.DeviceTaintEffectNoExecute || !allocator.Tolerated(taint, tolerations[i:i+1]) {
			continue
		}
		if t.TolerationSeconds == nil {
			return nil, true
		}
		if least := max(*t.TolerationSeconds, 0); seconds == nil || least < *seconds {
			seconds = &least
		}
	}
	return seconds, false
}
