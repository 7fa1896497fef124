package commit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// world is an API server in memory, with resource versions that are compared on every write, a status that
// only UpdateStatus writes, and the rules of the API server for allocations and reservations.
type world struct {
	mu      sync.Mutex
	version int
	claims  map[inspect.ClaimRef]*resourcev1.ResourceClaim
	pods    map[inspect.PodRef]types.UID
	objects inspect.Objects // without the claims
	now     time.Time
	health  map[inspect.Resource]inspect.Health // of what cannot be read completely
	// doubled is how often a second claim was written to hold a device.
	doubled int
	// made is when each DeviceTaintRule was made.
	made map[string]time.Time
	// wrote, if not nil, is told of every write to a claim, as a watch would.
	wrote func(was, is *resourcev1.ResourceClaim)
}

// newWorld has the given number of devices on one node and pending claims that want one device each.
func newWorld(devices int, claims ...string) *world {
	w := &world{claims: map[inspect.ClaimRef]*resourcev1.ResourceClaim{}, pods: map[inspect.PodRef]types.UID{}, made: map[string]time.Time{}, now: time.Unix(1_700_000_000, 0)}
	node := "n"
	slice := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 1},
		},
	}
	for i := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: "x" + strconv.Itoa(i)})
	}
	w.objects = inspect.Objects{
		Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: node}}}, Slices: []*resourcev1.ResourceSlice{slice},
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "c"}}},
	}
	for _, name := range claims {
		w.add(name)
	}
	return w
}

func ref(name string) inspect.ClaimRef { return inspect.ClaimRef{Namespace: "ns", Name: name} }

func (w *world) add(name string) {
	w.version++
	w.claims[ref(name)] = &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), ResourceVersion: strconv.Itoa(w.version)},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
		}}}},
	}
}

func (w *world) list() []*resourcev1.ResourceClaim {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*resourcev1.ResourceClaim
	for _, ref := range slices.SortedFunc(maps.Keys(w.claims), inspect.ClaimRef.Compare) {
		out = append(out, w.claims[ref].DeepCopy())
	}
	return out
}

func (w *world) snapshot() *inspect.Snapshot {
	w.mu.Lock()
	o := w.objects
	o.TaintRules = slices.Clone(o.TaintRules)
	w.mu.Unlock()
	o.Claims = w.list()
	health := map[inspect.Resource]inspect.Health{}
	for _, resource := range inspect.Resources() {
		health[resource] = inspect.Health{State: inspect.Synced}
	}
	maps.Copy(health, w.health)
	return inspect.New(o, inspect.Config{Time: w.now, Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health})
}

// write replaces a claim if it is at the version that is named.
func (w *world) write(claim *resourcev1.ResourceClaim, change func(stored *resourcev1.ResourceClaim) error) (*resourcev1.ResourceClaim, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stored, ok := w.claims[inspect.RefOf(claim)]
	if !ok || stored.UID != claim.UID || stored.ResourceVersion != claim.ResourceVersion {
		return nil, fmt.Errorf("%w: %s", requests.ErrConflict, inspect.RefOf(claim))
	}
	was := stored
	stored = stored.DeepCopy()
	if err := change(stored); err != nil {
		return nil, err
	}
	w.version++
	stored.ResourceVersion = strconv.Itoa(w.version)
	w.claims[inspect.RefOf(claim)] = stored
	if w.wrote != nil {
		w.wrote(was, stored)
	}
	return stored.DeepCopy(), nil
}

func (w *world) writeMeta(claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return w.write(claim, func(stored *resourcev1.ResourceClaim) error {
		stored.Annotations, stored.Finalizers = maps.Clone(claim.Annotations), slices.Clone(claim.Finalizers)
		return nil
	})
}

func (w *world) writeStatus(claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return w.write(claim, func(stored *resourcev1.ResourceClaim) error {
		was := stored.Status.Allocation
		stored.Status = *claim.Status.DeepCopy()
		switch {
		case stored.Status.Allocation == nil && len(stored.Status.ReservedFor) > 0:
			return errors.New("reserved, but not allocated")
		case was != nil && stored.Status.Allocation != nil && !sameDevices(was, stored.Status.Allocation):
			return errors.New("an allocation cannot be changed")
		case was == nil && stored.Status.Allocation != nil && !slices.Contains(stored.Finalizers, resourcev1.Finalizer):
			return errors.New("allocated without the finalizer") // not a rule of the API server, but ours
		}
		if was == nil && w.holders(stored) > 0 {
			w.doubled++
		}
		return nil
	})
}

// holders is how many other claims hold a device of the claim.
func (w *world) holders(claim *resourcev1.ResourceClaim) int {
	n := 0
	for _, other := range w.claims {
		if other.UID == claim.UID || other.Status.Allocation == nil || claim.Status.Allocation == nil {
			continue
		}
		for _, r := range other.Status.Allocation.Devices.Results {
			for _, mine := range claim.Status.Allocation.Devices.Results {
				if inspect.DeviceOf(&r) == inspect.DeviceOf(&mine) {
					n++
				}
			}
		}
	}
	return n
}

// disorder says what is not as it should be when all is quiet.
func (w *world) disorder() []string {
	var out []string
	for _, claim := range w.list() {
		if AnnouncementOn(claim) != nil {
			out = append(out, claim.Name+" is announced")
		}
		if slices.Contains(claim.Finalizers, resourcev1.Finalizer) != (claim.Status.Allocation != nil) {
			out = append(out, fmt.Sprintf("%s: finalizers %v, allocation %v", claim.Name, claim.Finalizers, claim.Status.Allocation))
		}
		if n := w.holders(claim); n > 0 {
			out = append(out, fmt.Sprintf("a device of %s has %d other holders", claim.Name, n))
		}
	}
	for _, rule := range needless(w.objects.TaintRules, w.list()) {
		out = append(out, fmt.Sprintf("DeviceTaintRule %s is left around a device that nobody holds", rule.Name))
	}
	return out
}

// allocated names the claims that are allocated.
func (w *world) allocated() string {
	var names []string
	for _, claim := range w.list() {
		if claim.Status.Allocation != nil {
			names = append(names, claim.Name)
		}
	}
	return strings.Join(names, " ")
}

// process is one process that talks to the world. before and after are called around every request; their
// error is what the process gets to see.
type process struct {
	w             *world
	before, after func(request string) error
	sleep         func(ctx context.Context, d time.Duration) error
	blind         bool // it cannot watch
	// denied are the claims that it may not update.
	denied map[inspect.ClaimRef]bool
}

var errDenied = errors.New("forbidden")

// may is an error where the process may not write a claim.
func (p *process) may(claim *resourcev1.ResourceClaim) error {
	if p.denied[inspect.RefOf(claim)] {
		return errDenied
	}
	return nil
}

func request[T any](ctx context.Context, p *process, name string, do func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if p.before != nil {
		if err := p.before(name); err != nil {
			return none, err
		}
	}
	out, err := do()
	if p.after != nil {
		if err := p.after(name); err != nil {
			return none, err
		}
	}
	return out, err
}

func (p *process) Claims(ctx context.Context) ([]*resourcev1.ResourceClaim, error) {
	return request(ctx, p, "list", func() ([]*resourcev1.ResourceClaim, error) {
		claims := p.w.list()
		for _, claim := range claims {
			claim.Spec = resourcev1.ResourceClaimSpec{} // nothing may rely on it
		}
		return claims, nil
	})
}

// Follow looks for changes every now and then: news takes its time.
func (p *process) Follow(ctx context.Context, d time.Duration, relevant func(*resourcev1.ResourceClaim) bool, see func([]*resourcev1.ResourceClaim) bool) error {
	if p.blind {
		return requests.ErrNoWatch
	}
	known := map[inspect.ClaimRef]string{}
	for end := p.Now().Add(d); ; {
		claims, err := p.Claims(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", requests.ErrNoWatch, err)
		}
		changed := len(known) == 0
		for _, claim := range claims {
			changed = changed || known[inspect.RefOf(claim)] != claim.ResourceVersion && relevant(claim)
			known[inspect.RefOf(claim)] = claim.ResourceVersion
		}
		if changed && !see(claims) {
			return nil
		}
		left := end.Sub(p.Now())
		if left <= 0 {
			return nil
		}
		if err := p.Sleep(ctx, min(left, 700*time.Millisecond)); err != nil {
			return err
		}
	}
}

func (p *process) Claim(ctx context.Context, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error) {
	return request(ctx, p, "get", func() (*resourcev1.ResourceClaim, error) {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		claim, ok := p.w.claims[ref]
		if !ok {
			return nil, requests.ErrNotFound
		}
		return claim.DeepCopy(), nil
	})
}

func (p *process) UpdateMeta(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return request(ctx, p, "update", func() (*resourcev1.ResourceClaim, error) {
		if err := p.may(claim); err != nil {
			return nil, err
		}
		return p.w.writeMeta(claim)
	})
}

func (p *process) UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return request(ctx, p, "updateStatus", func() (*resourcev1.ResourceClaim, error) {
		if err := p.may(claim); err != nil {
			return nil, err
		}
		return p.w.writeStatus(claim)
	})
}

func (p *process) PodUID(ctx context.Context, pod inspect.PodRef) (types.UID, error) {
	return request(ctx, p, "pod", func() (types.UID, error) {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		uid, ok := p.w.pods[pod]
		if !ok {
			return "", requests.ErrNotFound
		}
		return uid, nil
	})
}

func (p *process) Fences(ctx context.Context) ([]*resourcev1.DeviceTaintRule, error) {
	return request(ctx, p, "list rules", func() ([]*resourcev1.DeviceTaintRule, error) {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		return slices.Clone(p.w.objects.TaintRules), nil
	})
}

func (p *process) CreateRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error {
	_, err := request(ctx, p, "create rule", func() (any, error) {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		if slices.ContainsFunc(p.w.objects.TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return r.Name == rule.Name }) {
			return nil, requests.ErrExists
		}
		p.w.version++
		stored := rule.DeepCopy()
		stored.UID = types.UID(strconv.Itoa(p.w.version))
		p.w.objects.TaintRules = append(slices.Clone(p.w.objects.TaintRules), stored)
		p.w.made[rule.Name] = p.w.now
		return nil, nil
	})
	return err
}

func (p *process) DeleteRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error {
	_, err := request(ctx, p, "delete rule", func() (any, error) {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		i := slices.IndexFunc(p.w.objects.TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return r.UID == rule.UID })
		if i < 0 {
			return nil, requests.ErrNotFound
		}
		p.w.objects.TaintRules = slices.Delete(slices.Clone(p.w.objects.TaintRules), i, i+1)
		return nil, nil
	})
	return err
}

func (p *process) Now() time.Time {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.now
}

// Sleep lets the time of the world pass, unless somebody else decides about it.
func (p *process) Sleep(ctx context.Context, d time.Duration) error {
	if p.sleep != nil {
		return p.sleep(ctx, d)
	}
	p.w.mu.Lock()
	p.w.now = p.w.now.Add(d)
	p.w.mu.Unlock()
	return ctx.Err()
}

// committer is a run of this process with the given number.
func (p *process) committer(number string) *Committer {
	return &Committer{
		Server: p, Rules: p, Clock: p, Settle: 5 * time.Second, By: "test", number: func() string { return number },
		Read: func(ctx context.Context) (*inspect.Snapshot, error) {
			return request(ctx, p, "read", func() (*inspect.Snapshot, error) { return p.w.snapshot(), nil })
		},
	}
}

// wanting decides about claims by name.
func wanting(names ...string) Decider {
	return func(ctx context.Context, s *inspect.Snapshot) (*Decision, error) {
		var claims []*resourcev1.ResourceClaim
		for _, name := range names {
			claim, ok := s.Claim(ref(name))
			if !ok {
				return nil, requests.ErrNotFound
			}
			claims = append(claims, claim)
		}
		d, err := Decide(ctx, allocator.NewCluster(s, allocator.Options{}), claims, s.Nodes(), nil)
		if err == nil && d.Node == "" && slices.ContainsFunc(claims, func(c *resourcev1.ResourceClaim) bool { return c.Status.Allocation == nil }) {
			d.Refusal = []string{"no device is left"}
		}
		return d, err
	}
}

// inOrder fails the test when the world is not as it should be.
func inOrder(t *testing.T, w *world, allocated string) {
	t.Helper()
	for _, problem := range w.disorder() {
		t.Error(problem)
	}
	if got := w.allocated(); got != allocated {
		t.Errorf("allocated %q, want %q", got, allocated)
	}
}
