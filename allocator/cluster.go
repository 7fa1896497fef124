package allocator

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DefaultStepLimit is the number of search steps after which a question about one node is given up
// undecided. The scheduler itself does about a million steps a second and has ten seconds.
const DefaultStepLimit = 2_000_000

// Options change how a Cluster decides. The zero value is what the scheduler does.
type Options struct {
	// StepLimit bounds the search on one node; 0 means DefaultStepLimit.
	StepLimit int64
	// Plain walks step by step as the scheduler does, without pruning. The answer is the same; this is
	// for tests and measurements.
	Plain bool
	// Like, if not nil, is a cluster with the same features, from the same snapshot or from one that is
	// related to it (inspect's With or Next, in either direction). What is known of expressions, devices
	// and nodes is taken over as far as it is still true; answers do not depend on it. With other features
	// it has no effect. A long chain of clusters, each like the one before, does not grow without bound:
	// what has become too much is forgotten.
	Like *Cluster
	// Library, if not nil, holds compiled expressions that clusters share, whatever they are about. Like
	// comes with its own.
	Library *selector.Library
	// Ignore leaves the allocations of these claims out of account, as if they had been released.
	Ignore map[inspect.ClaimRef]bool
}

// Cluster answers allocation questions about one snapshot. It is built once, read-only afterwards
// except for caches, and may be used by several goroutines at once.
type Cluster struct {
	snapshot  *inspect.Snapshot
	features  Features
	variant   Variant
	rules     rules
	cel       selector.Features
	stepLimit int64
	plain     bool
	// plainSteps and noBounds are changed by tests, to see each part of the pruning at work.
	plainSteps int64
	noBounds   bool
	selectors  *selector.Cache
	shapes     *shapes
	groups     *keptGroups
	shared     *sharedSlices
	ignore     map[inspect.ClaimRef]bool
}

// usage is what allocated claims hold of a device.
type usage struct {
	// exclusive says that the device belongs to one claim as a whole.
	exclusive bool
	// shared says that at least one claim has a share of it.
	shared bool
	// consumed is the capacity taken by shares.
	consumed map[resourcev1.QualifiedName]resource.Quantity
}

// NewCluster builds the index of a snapshot.
func NewCluster(s *inspect.Snapshot, opts Options) *Cluster {
	f, variant := featuresAt(s.Release(), s.Features())
	c := &Cluster{
		snapshot:   s,
		features:   f,
		variant:    variant,
		rules:      rulesOf(s.Release(), variant, s.Features()),
		cel:        SelectorFeatures(s),
		stepLimit:  opts.StepLimit,
		plain:      opts.Plain,
		plainSteps: plainSteps,
		ignore:     opts.Ignore,
	}
	c.shared = &sharedSlices{}
	if opts.Like != nil {
		if slices.Equal(s.Around().Slices, opts.Like.snapshot.Around().Slices) {
			c.shared = opts.Like.shared
		}
	}
	if opts.Like != nil && opts.Like.features == f && opts.Like.rules == c.rules && opts.Like.cel == c.cel {
		c.inherit(opts.Like)
	} else {
		library := opts.Library
		if library == nil {
			library = selector.NewLibrary()
		}
		c.selectors = library.Cache(c.cel)
		c.shapes, c.groups = newShapes(), &keptGroups{}
	}
	if c.stepLimit == 0 {
		c.stepLimit = DefaultStepLimit
	}
	return c
}

// keptShapes bounds the slices whose shapes are known, for the slices of two snapshots.
var keptShapes = selector.Bound{PerUse: 2, Spare: 1024}

// inherit takes over what another cluster knows, or starts again when it knows too much of slices that are
// gone.
func (c *Cluster) inherit(like *Cluster) {
	if keptShapes.Exceeded(int(like.shapes.known.Load()), len(c.snapshot.Around().Slices)+len(like.snapshot.Around().Slices)) {
		c.selectors, c.shapes, c.groups = like.selectors.Fresh(), newShapes(), &keptGroups{}
		return
	}
	c.selectors, c.shapes, c.groups = like.selectors, like.shapes, like.groups.clone()
}

// WithStepLimit returns a cluster that shares everything with this one but gives up earlier or later.
func (c *Cluster) WithStepLimit(limit int64) *Cluster {
	out := *c
	out.stepLimit = limit
	return &out
}

// Snapshot returns the snapshot that the cluster was built from.
func (c *Cluster) Snapshot() *inspect.Snapshot { return c.snapshot }

// Variant returns the implementation that the scheduler would choose for the features.
func (c *Cluster) Variant() Variant { return c.variant }

// Selectors returns the compiled selectors of the cluster.
func (c *Cluster) Selectors() *selector.Cache { return c.selectors }

// usageOf returns what allocated claims hold of a device, nil when they hold nothing. It counts results
// the way the scheduler's plugin does: admin access takes nothing; a result with a share ID takes a
// share while consumable capacity is on; any other takes the device.
func (c *Cluster) usageOf(pool *inspect.PoolHolders, device string) *usage {
	var u *usage
	for _, h := range pool.Of(device) {
		if h.Admin() || c.ignore[h.Claim] {
			continue
		}
		if u == nil {
			u = &usage{}
		}
		if !c.features.ConsumableCapacity || !h.Shared() {
			u.exclusive = true
			continue
		}
		u.shared = true
		for name, q := range h.Result.ConsumedCapacity {
			name, hidden := c.capacityName(h.Result.ConsumedCapacity, name, h.Result.Driver)
			if hidden {
				continue
			}
			if u.consumed == nil {
				u.consumed = map[resourcev1.QualifiedName]resource.Quantity{}
			}
			sum := u.consumed[name].DeepCopy()
			sum.Add(q)
			u.consumed[name] = sum
		}
	}
	return u
}

// held reports whether allocated claims hold anything of a device.
func (c *Cluster) held(pool *inspect.PoolHolders, device string) bool {
	for _, h := range pool.Of(device) {
		if !h.Admin() && !c.ignore[h.Claim] {
			return true
		}
	}
	return false
}

// Outcome is how a question about a node ended.
type Outcome string

// The outcomes. Input for which the scheduler aborts the pod is an AbortError instead.
const (
	// Allocated means that there is a solution, and this is the one that the scheduler takes.
	Allocated Outcome = "Allocated"
	// Unsatisfiable means that it is proved that there is none on this node.
	Unsatisfiable Outcome = "Unsatisfiable"
	// Undecided means that the step limit was reached first.
	Undecided Outcome = "Undecided"
)

// Result is the answer to a question about one node.
type Result struct {
	Node    inspect.NodeName
	Outcome Outcome
	// Allocations has one entry per claim of the question, in its order; only when Allocated.
	Allocations []resourcev1.AllocationResult
	// InvalidPools says that nothing was found and a pool that reaches the node is invalid, or since 1.38
	// incomplete where all devices are asked for; the scheduler then reports that as its reason.
	InvalidPools bool
	// Refused is, since 1.38, why the node is refused before anything is searched: a request for all devices
	// comes to a pool that is incomplete or invalid. It is nil otherwise.
	Refused *AbortError
	// Steps is the number of search steps made.
	Steps int64
}

// Allocate decides whether the claims can be allocated together for a node, and with which devices.
// The claims must be those that still need an allocation, in the order of the pod. Observer may be nil.
//
// The error is an *AbortError when the scheduler would abort the pod, and otherwise that of the context.
func (c *Cluster) Allocate(ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim, observer Observer) (*Result, error) {
	w, err := c.newSearch(ctx, node, claims, observer)
	if err != nil {
		return nil, err
	}
	return w.run()
}

// newSearch prepares a walk. The error is an *AbortError or that of the context.
func (c *Cluster) newSearch(ctx context.Context, node *corev1.Node, claims []*resourcev1.ResourceClaim, observer Observer) (*walk, error) {
	view, err := c.viewOf(node, claims)
	if err != nil {
		return nil, err
	}
	problem, err := view.prepare(ctx, claims, observer)
	if err != nil && view.refused == nil {
		return nil, err
	}
	return newWalk(ctx, view, problem, observer), nil
}

// Candidates returns the devices that a node may take, in search order. Nodes of one Kind have like
// devices at like positions.
func (c *Cluster) Candidates(node *corev1.Node) ([]inspect.DeviceID, error) {
	view, err := c.viewOf(node, nil)
	if err != nil {
		return nil, err
	}
	out := make([]inspect.DeviceID, len(view.candidates))
	for i := range view.candidates {
		out[i] = view.candidates[i].id
	}
	return out, nil
}

// viewOf builds what one node sees.
func (c *Cluster) viewOf(node *corev1.Node, claims []*resourcev1.ResourceClaim) (*view, error) {
	pools, err := c.snapshot.PoolsOn(node)
	if err != nil {
		abort := &AbortError{Code: Malformed, Selector: -1, Err: err}
		if len(claims) > 0 {
			abort.Claim = inspect.RefOf(claims[0])
		}
		return nil, abort
	}
	v := &view{cluster: c, node: node}
	devices := 0
	for _, p := range pools {
		for _, slice := range p.Slices {
			devices += len(slice.Spec.Devices)
		}
	}
	v.pools, v.candidates = make([]*poolView, 0, len(pools)), make([]candidate, 0, devices)
	for _, p := range pools {
		v.addPool(p)
	}
	v.declaresNodeOperations = slices.Contains(node.Status.DeclaredFeatures, string(inspect.GateOptionalNodeOperations))
	return v, nil
}
