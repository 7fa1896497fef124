package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// OldestMinor is the oldest Kubernetes minor release (1.OldestMinor) whose behaviour is modelled: the first
// in which dynamic resource allocation is on by default.
const OldestMinor = 34

// LatestPatch stands for the newest patch release of a minor release, where the patch is not known.
const LatestPatch = math.MaxInt

// newestPatch is the newest patch of each minor release that was looked at. It stands for one that is not
// known.
var newestPatch = map[int]int{34: 13, 35: 10, 36: 6, 37: 2}

// NewestPatch returns the newest patch of a minor release that was looked at. It is 0 if none was.
func NewestPatch(minor int) int { return newestPatch[minor] }

// Release is a release of Kubernetes, 1.Minor.Patch. Patch releases mend faults of the scheduler and of
// controllers, so they can decide differently.
type Release struct {
	Minor, Patch int
	// AnyPatch says that the patch is not known: Patch is the first, and where a later one is stricter, its
	// rules may hold as well.
	AnyPatch bool
}

// Before reports whether the release is older than 1.minor.patch.
func (r Release) Before(minor, patch int) bool {
	return cmp.Or(cmp.Compare(r.Minor, minor), cmp.Compare(r.Patch, patch)) < 0
}

// String returns the release as "1.36.2", or "1.36" if the patch is not known.
func (r Release) String() string {
	if r.Patch == LatestPatch {
		return fmt.Sprintf("1.%d", r.Minor)
	}
	return fmt.Sprintf("1.%d.%d", r.Minor, r.Patch)
}

// Since says from which patch on something is so: by minor release, the first patch. In newer minor releases
// it always is, in older ones never.
type Since map[int]int

// What patch releases changed in what several packages decide.
var (
	// rulesNeedSelector: a DeviceTaintRule without a device selector taints nothing. Before, kube-scheduler
	// adds the taint to every device (resourceslice/tracker), while the controllers, but for that of 1.34
	// which evicts pods (see RuleEvicts), take it for nothing. No patch of 1.34 to 1.36 that was looked at
	// has the fix.
	rulesNeedSelector = Since{37: 1}
	// EvictsExtended: a pod is evicted because of a device that it has through its claim for extended
	// resources (pkg/controller/devicetainteviction).
	EvictsExtended = Since{37: 2}
)

// In reports whether it is so in a release.
func (since Since) In(r Release) bool {
	first, named := since[r.Minor]
	if !named {
		return r.Minor > slices.Max(slices.Collect(maps.Keys(since)))
	}
	if r.Patch == LatestPatch {
		return newestPatch[r.Minor] >= first
	}
	return r.Patch >= first
}

// Modelled returns the release whose rules stand for this one: itself, or the oldest or the newest that is
// modelled.
func (r Release) Modelled() Release {
	switch {
	case r.Minor < OldestMinor:
		return Release{Minor: OldestMinor}
	case r.Minor > PreviewMinor:
		return Release{Minor: PreviewMinor, Patch: LatestPatch}
	}
	return r
}

// Caveat says by the rules of which release this one is decided, if they are not its own. It is "" if they
// are.
func (r Release) Caveat() string {
	switch {
	case r.Minor < OldestMinor:
		return fmt.Sprintf("Kubernetes 1.%d is older than what this program models; it decides by the rules of 1.%d", r.Minor, OldestMinor)
	case r.Minor > PreviewMinor:
		return fmt.Sprintf("Kubernetes 1.%d is newer than this program, which decides by the rules of %s", r.Minor, PreviewVersion)
	case r.Minor > NewestMinor:
		return fmt.Sprintf("Kubernetes 1.%d is a preview in this program, which decides by the rules of %s: the release may differ", r.Minor, PreviewVersion)
	case r.Patch != LatestPatch && r.Patch > newestPatch[r.Minor]:
		return fmt.Sprintf("Kubernetes 1.%d.%d is newer than this program, which decides by the rules of 1.%d.%d", r.Minor, r.Patch, r.Minor, newestPatch[r.Minor])
	}
	return ""
}

// releaseOf returns the release that a configuration is about. The program of the server counts, also when it
// emulates the gates of an older release. Without a version, as for files, it is that of the gates, at its
// newest patch. A server whose patch is not known may be of any: it is taken for the first.
func releaseOf(c *Config) Release {
	r := Release{Minor: cmp.Or(c.Features.Minor, NewestMinor)}
	if c.ServerVersion == "" {
		r.Patch = LatestPatch
		return r
	}
	_, err := version.ParseSemantic(c.ServerVersion)
	r.AnyPatch = err != nil
	v, err := version.Parse(c.ServerVersion)
	if err != nil || v.Major() != 1 || v.Minor() >= 1000 || v.Patch() >= math.MaxInt32 {
		return r
	}
	r.Minor, r.Patch = int(v.Minor()), int(v.Patch())
	// Kubernetes tags 1.37.1-rc.0 when 1.37.0 is out, before anything is fixed. Distributions have other
	// words.
	stage, _, _ := strings.Cut(v.PreRelease(), ".")
	if r.Patch > 0 && slices.Contains([]string{"alpha", "beta", "rc"}, stage) {
		r.Patch--
	}
	return r
}

// Release returns the release of Kubernetes by whose rules the scheduler decides. It may be one that is not
// modelled.
func (s *Snapshot) Release() Release { return s.release }

// SameCapacity reports whether two names of a capacity of a driver's devices stand for the same one. Since
// 1.38 a name without a domain has that of the driver.
func (s *Snapshot) SameCapacity(driver string, a, b resourcev1.QualifiedName) bool {
	prefix := resourcev1.QualifiedName(driver) + "/"
	return a == b || !s.release.Before(38, 0) && (a == prefix+b || b == prefix+a)
}

// poolRules are what differs between releases in how the scheduler gathers pools for a node.
type poolRules struct {
	// countersAnywhere: a slice with counter sets counts for every node, whatever nodes it is for. So a node
	// that no device of the pool reaches has the pool nevertheless, and the pool may be incomplete or invalid
	// there. Before 1.37 (GatherPools in pools_incubating.go).
	countersAnywhere bool
	// partialPools: a pool of which not all slices reach the node offers devices all the same, of the newest
	// generation that reaches it, and only duplicate names make a pool invalid. Before 1.35.
	partialPools bool
	// oneOrder: slices of the node and of all nodes are looked at in one order, not the former first. Before
	// 1.36.
	oneOrder bool
	// bindingLast: in a pool, slices with binding conditions come last. Before 1.36, in the experimental
	// variant.
	bindingLast bool
}

func poolRulesOf(release Release, f Features) poolRules {
	r := release.Modelled()
	binding, status := f.Enabled(GateDeviceBindingConditions), f.Enabled(GateDeviceStatus)
	experimental := f.Enabled(GateConsumableCapacity) || binding && status || r.Before(35, 0) && (binding || status)
	// Counters of 1.34, where they are alpha, are decided as those of 1.35.
	partial := r.Before(35, 0) && !f.Enabled(GatePartitionableDevices)
	return poolRules{
		countersAnywhere: r.Before(37, 0) && !partial,
		partialPools:     partial,
		oneOrder:         r.Before(36, 0),
		bindingLast:      r.Before(36, 0) && experimental,
	}
}
