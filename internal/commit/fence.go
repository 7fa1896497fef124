package commit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// kube-scheduler remembers the exclusively used devices as a set without counts: a claim that is allocated
// adds its devices, one that is cleared removes them (allocateddevices.go of its plugin dynamicresources).
// When two claims hold device D and one of them is cleared, D leaves the set although the other one holds it,
// and the scheduler gives D to a third claim. So before a run clears an allocation it puts a fence around the
// devices that other claims hold too: a DeviceTaintRule that taints exactly that device. The scheduler then
// gives D to nobody who does not tolerate the taint, whatever it remembers.
//
//	claims A and B hold D      the set is {D}
//	fence around D, wait       the scheduler has seen the taint
//	A is cleared               the set is {}, but D is tainted
//	B gives D up               D is free; whichever run comes next removes the fence
//
// A fence stays as long as any claim holds its device, not only the one that it was made for: that one may
// have been removed from the set as well. Nothing else tells when it can go, so it needs no further state.

// FenceKey is the key of the taint, of the label and of the annotation of DeviceTaintRules that keep
// kube-scheduler off a device that it believes to be free. The value of the label is the UID of the claim
// that held the device when the rule was made; the annotation is a [Fence] in JSON.
const FenceKey = inspect.FenceKey

const (
	// fenceWait is how long after a rule was made an allocation is cleared at the earliest. A scheduler gets
	// rules and claims by two watches, which do not wait for each other; each of them brings news within
	// milliseconds, or within some hundred on a machine that is overloaded.
	fenceWait = 2 * time.Second
	// fenceRounds bounds how often a run looks for further claims with its devices while it waits. One
	// round is enough unless schedulers write what they decided longer than fenceWait ago.
	fenceRounds = 3
)

// Fence tells people why a DeviceTaintRule is there.
type Fence struct {
	// Holder is the claim, as NAMESPACE/NAME, that held the device when the rule was made.
	Holder string `json:"holder"`
	// By and At say who made it, and when by the clock of that machine.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// endangered is a device that a claim is going to give up while others hold it.
type endangered struct {
	device inspect.DeviceID
	with   []inspect.ClaimRef // the others, sorted
	uid    types.UID          // of the first of them
}

// endangeredBy returns the devices, sorted, that the scheduler would take for free if the claims that are
// going gave theirs up.
func endangeredBy(claims []*resourcev1.ResourceClaim, going func(*resourcev1.ResourceClaim) bool) []endangered {
	leaving := map[inspect.DeviceID]bool{}
	staying := map[inspect.DeviceID][]*resourcev1.ResourceClaim{}
	for _, claim := range claims {
		goes := going(claim)
		for _, id := range exclusive(claim) {
			if goes {
				leaving[id] = true
			} else {
				staying[id] = append(staying[id], claim)
			}
		}
	}
	var out []endangered
	for id, holders := range staying {
		if !leaving[id] {
			continue
		}
		slices.SortFunc(holders, func(a, b *resourcev1.ResourceClaim) int {
			return inspect.RefOf(a).Compare(inspect.RefOf(b))
		})
		e := endangered{device: id, uid: holders[0].UID}
		for _, claim := range holders {
			e.with = append(e.with, inspect.RefOf(claim))
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b endangered) int { return a.device.Compare(b.device) })
	return out
}

// exclusive returns the devices of a claim that the scheduler keeps in its set of those in use. Shares it
// books each by itself, and admin access not at all.
func exclusive(claim *resourcev1.ResourceClaim) []inspect.DeviceID {
	if claim.Status.Allocation == nil {
		return nil
	}
	var out []inspect.DeviceID
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if h := (inspect.Holder{Result: r}); !h.Admin() && !h.Shared() {
			out = append(out, inspect.DeviceOf(r))
		}
	}
	return out
}

// fenceOff puts fences around the devices that claims are about to give up while others hold them, and
// waits until schedulers have seen them. What cannot be fenced is told; the run goes on all the same,
// because two holders are worse.
func (r *run) fenceOff(ctx context.Context, going func(*resourcev1.ResourceClaim) bool) {
	for range fenceRounds {
		claims, err := r.Server.Claims(ctx)
		if err != nil {
			r.tell(Event{Step: Unfenced, Err: err})
			return
		}
		if !r.fence(ctx, endangeredBy(claims, going)) {
			return
		}
		if r.Clock.Sleep(ctx, fenceWait) != nil {
			return
		}
	}
}

// fenceLate puts fences around the devices of allocations that were cleared this moment, if others turn out
// to hold them: a scheduler may have written between the last look and the clearing. Who was given the device
// because it was cleared needs no fence; there is no telling the two apart, so this looks at once.
func (r *run) fenceLate(ctx context.Context, cleared []*resourcev1.ResourceClaim) {
	if len(cleared) == 0 {
		return
	}
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		r.tell(Event{Step: Unfenced, Err: err})
		return
	}
	gone := func(claim *resourcev1.ResourceClaim) bool { return slices.Contains(cleared, claim) }
	r.fence(ctx, endangeredBy(append(claims, cleared...), gone))
}

// fence makes sure that there is a rule for every device. It reports whether schedulers may not have seen
// one of them yet.
func (r *run) fence(ctx context.Context, devices []endangered) (fresh bool) {
	for _, e := range devices {
		rule, err := r.ruleFor(e)
		switch {
		case err != nil:
		case r.Rules == nil:
			err = cmp.Or(r.NoRules, errors.ErrUnsupported)
		default:
			err = r.Rules.CreateRule(ctx, rule)
		}
		created, known := err == nil, r.fenced[rule.Name]
		r.fenced[rule.Name] = true
		if created || errors.Is(err, requests.ErrExists) {
			fresh = fresh || created || !known
			err = nil
		}
		switch {
		case known:
		case err != nil:
			r.tell(Event{Step: Unfenced, Device: e.device, With: e.with, Err: err})
		default:
			r.tell(Event{Step: Fenced, Device: e.device, With: e.with, Rule: rule.Name})
		}
	}
	return fresh
}

// ruleFor makes the rule of a device. Its name follows from the device and its holder, so that runs which
// see the same make one rule.
func (r *run) ruleFor(e endangered) (*resourcev1.DeviceTaintRule, error) {
	sum := sha256.Sum256([]byte(e.device.String() + "\n" + string(e.uid)))
	text, err := json.Marshal(&Fence{Holder: e.with[0].String(), By: r.By, At: r.Clock.Now().UTC().Truncate(time.Second)})
	return &resourcev1.DeviceTaintRule{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "kubectl-dra-fence-" + hex.EncodeToString(sum[:8]),
			Labels:      map[string]string{FenceKey: string(e.uid)},
			Annotations: map[string]string{FenceKey: string(text)},
		},
		Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: &e.device.Driver, Pool: &e.device.Pool, Device: &e.device.Device},
			Taint:          resourcev1.DeviceTaint{Key: FenceKey, Effect: resourcev1.DeviceTaintEffectNoSchedule},
		},
	}, err
}

// fencedBy returns the device that a rule is a fence around. It returns false for all other rules, also
// for those that nobody of us labelled.
func fencedBy(rule *resourcev1.DeviceTaintRule) (inspect.DeviceID, bool) {
	_, labelled := rule.Labels[FenceKey]
	id, fences := inspect.FencedBy(rule)
	return id, labelled && fences
}

// needless returns the fences around devices that no claim holds.
func needless(rules []*resourcev1.DeviceTaintRule, claims []*resourcev1.ResourceClaim) []*resourcev1.DeviceTaintRule {
	held := map[inspect.DeviceID]bool{}
	for _, claim := range claims {
		for _, id := range exclusive(claim) {
			held[id] = true
		}
	}
	var out []*resourcev1.DeviceTaintRule
	for _, rule := range rules {
		if id, ok := fencedBy(rule); ok && !held[id] {
			out = append(out, rule)
		}
	}
	return out
}

// lift removes the fences that are no longer needed and returns them. The rules must have been read before
// the call: whoever made one of them saw its device held before, so a list of claims that is newer shows
// whether that is over.
func (r *run) lift(ctx context.Context, rules []*resourcev1.DeviceTaintRule) ([]*resourcev1.DeviceTaintRule, error) {
	claims, err := r.Server.Claims(ctx)
	if err != nil {
		return nil, err
	}
	var lifted []*resourcev1.DeviceTaintRule
	for _, rule := range needless(rules, claims) {
		err := r.Rules.DeleteRule(ctx, rule)
		if errors.Is(err, requests.ErrConflict) || errors.Is(err, requests.ErrNotFound) {
			continue // somebody else was faster
		}
		if err != nil {
			return lifted, fmt.Errorf("removing DeviceTaintRule %s: %w", rule.Name, err)
		}
		device, _ := fencedBy(rule)
		delete(r.fenced, rule.Name)
		lifted = append(lifted, rule)
		r.tell(Event{Step: Lifted, Device: device, Rule: rule.Name})
	}
	return lifted, nil
}

// withoutNeedless removes the fences of a snapshot that are no longer needed, in the cluster and in what is
// decided on.
func (r *run) withoutNeedless(ctx context.Context, s *inspect.Snapshot) *inspect.Snapshot {
	rules := s.Objects().TaintRules
	if r.Rules == nil || len(needless(rules, s.Objects().Claims)) == 0 {
		return s
	}
	lifted, err := r.lift(ctx, rules)
	if err != nil {
		r.tell(Event{Step: LiftFailed, Err: err})
	}
	if len(lifted) == 0 {
		return s
	}
	return s.With(func(o *inspect.Objects) {
		o.TaintRules = slices.DeleteFunc(slices.Clone(o.TaintRules), func(rule *resourcev1.DeviceTaintRule) bool { return slices.Contains(lifted, rule) })
	})
}

// liftLeft removes fences of any run that are no longer needed, at the end of a run.
func (r *run) liftLeft(ctx context.Context) {
	if r.Rules == nil || ctx.Err() != nil {
		return
	}
	rules, err := r.Rules.Fences(ctx)
	if err == nil && len(rules) > 0 {
		_, err = r.lift(ctx, rules)
	}
	if err != nil {
		r.tell(Event{Step: LiftFailed, Err: err})
	}
}
