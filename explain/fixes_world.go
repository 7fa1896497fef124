package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// Changes outside of the claims: other claims released, other nodes, more devices, classes.

// releaseEdits releases claims.
func releaseEdits(refs []inspect.ClaimRef) []edit {
	var out []edit
	for _, ref := range refs {
		out = append(out, edit{kind: editRelease, claim: ref})
	}
	return out
}

// releaseCost says how much it disturbs to release the claims: nobody, or so many claims, pods and devices.
func (s *search) releaseCost(refs []inspect.ClaimRef) int {
	idle, used := 0, 0
	for _, ref := range refs {
		if s.q.cluster.Snapshot().Idle(ref) {
			idle++
			continue
		}
		used += 10 + len(s.q.cluster.Snapshot().PodsOf(ref))
		if claim, ok := s.q.cluster.Snapshot().Claim(ref); ok && claim.Status.Allocation != nil {
			used += len(claim.Status.Allocation.Devices.Results)
		}
	}
	if used > 0 {
		return costRelease + used + idle
	}
	return costIdle + idle
}

// release finds, for each near node, the claims to release that disturb least.
func (s *search) release(ctx context.Context) error {
	var found []change
	for _, name := range s.releaseNodes() {
		l := s.q.localOf(name)
		if l == nil || len(l.holders) == 0 {
			continue
		}
		if o, err := l.try(ctx, releaseEdits(l.holders)); err != nil {
			return err
		} else if o != fits {
			continue
		}
		sets, err := s.releaseOn(ctx, l)
		if err != nil {
			return err
		}
		for _, refs := range sets {
			if !slices.ContainsFunc(found, func(c change) bool { return slices.Equal(c.claims, refs) }) {
				found = append(found, s.releaseChange(refs, name))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b change) int { return a.cost - b.cost })
	s.changes = append(s.changes, found[:min(len(found), maxReleases)]...)
	return nil
}

// releaseNodes are the near nodes, and some on which a claim is held that nobody uses: that is nothing that a
// node looks like to the question.
func (s *search) releaseNodes() []inspect.NodeName {
	var out []inspect.NodeName
	for _, n := range s.near {
		out = append(out, n.name)
	}
	limit := len(out) + maxIdleNodes
	for _, claim := range s.q.cluster.Snapshot().IdleHolders() {
		if len(out) == limit {
			break
		}
		name := inspect.AllocationNode(claim.Status.Allocation)
		if name == "" || slices.Contains(out, name) {
			continue
		}
		if slices.ContainsFunc(s.nodes, func(n *corev1.Node) bool { return n.Name == string(name) }) {
			out = append(out, name)
		}
	}
	return out
}

func (s *search) releaseChange(refs []inspect.ClaimRef, node inspect.NodeName) change {
	var parts []string
	for _, ref := range refs {
		parts = append(parts, ref.String())
	}
	text := "release " + shorten(parts, 3)
	switch idle := !slices.ContainsFunc(refs, func(ref inspect.ClaimRef) bool { return !s.q.cluster.Snapshot().Idle(ref) }); {
	case idle && len(refs) == 1:
		text += ", which no running pod uses"
	case idle:
		text += ", which no running pods use"
	default:
		if pods := s.podsOf(refs); len(pods) > 0 {
			text += " (used by " + shorten(pods, 3) + ")"
		}
	}
	return change{
		kind: ReleaseClaim, edits: releaseEdits(refs), node: node, claims: refs,
		cost: s.releaseCost(refs), message: text,
	}
}

func (s *search) podsOf(refs []inspect.ClaimRef) []string {
	var out []string
	for _, ref := range refs {
		for _, pod := range s.q.cluster.Snapshot().PodsOf(ref) {
			out = append(out, "pod "+pod.Name)
		}
	}
	return out
}

// releaseOn returns sets of claims of a node whose release helps: the cheapest of one claim, or else of two;
// and, where there are many, a set from which none can be left out.
func (s *search) releaseOn(ctx context.Context, l *local) ([][]inspect.ClaimRef, error) {
	holders := slices.Clone(l.holders)
	slices.SortStableFunc(holders, func(a, b inspect.ClaimRef) int {
		return s.releaseCost([]inspect.ClaimRef{a}) - s.releaseCost([]inspect.ClaimRef{b})
	})
	helps := func(refs ...inspect.ClaimRef) (bool, error) {
		o, err := l.try(ctx, releaseEdits(refs))
		return o == fits, err
	}
	var out [][]inspect.ClaimRef
	if len(holders) <= maxReleaseHolders {
		for _, ref := range holders {
			ok, err := helps(ref)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, []inspect.ClaimRef{ref})
			}
		}
	}
	if len(out) > 0 && s.q.cluster.Snapshot().Idle(out[0][0]) {
		return out, nil
	}
	// Without the dearest first: what is left is what disturbs least, or nearly so.
	set := slices.Clone(holders)
	for i := len(set) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(set), i, i+1)
		ok, err := helps(fewer...)
		if err != nil {
			return nil, err
		}
		if ok {
			set = fewer
		}
	}
	if len(out) == 0 && len(set) > 2 && len(holders) <= maxReleaseHolders {
		for i := range holders {
			for j := range i {
				ok, err := helps(holders[j], holders[i])
				if err != nil {
					return nil, err
				}
				if ok {
					return [][]inspect.ClaimRef{{holders[j], holders[i]}, set}, nil
				}
			}
		}
	}
	if len(set) > 0 && (len(out) == 0 || s.releaseCost(set) < s.releaseCost(out[0])) {
		slices.SortFunc(set, compareRefs)
		out = append(out, set)
	}
	return out, nil
}

// elsewhere reports whether a claim that the pod has already cannot be used from the node.
func (q *question) elsewhere(node *corev1.Node) bool {
	for ref := range q.own {
		if claim, ok := q.cluster.Snapshot().Claim(ref); ok && !selectorMatches(claim.Status.Allocation.NodeSelector, node) {
			return true
		}
	}
	return false
}

// otherNodes looks for nodes that were not asked, or that the pod cannot use, but whose devices would do.
func (s *search) otherNodes(ctx context.Context) error {
	q := s.q
	if q.partial {
		return nil // what the other nodes were asked for, none of them has
	}
	if len(s.nodes) == len(q.cluster.Snapshot().Nodes()) {
		return nil
	}
	asked := map[string]bool{}
	for _, node := range s.nodes {
		asked[node.Name] = true
	}
	var other []*corev1.Node
	for _, node := range q.cluster.Snapshot().Nodes() {
		if !asked[node.Name] && !q.elsewhere(node) {
			other = append(other, node)
		}
	}
	if len(other) == 0 {
		return nil
	}
	fitting, err := sweep(ctx, q.cluster.WithStepLimit(probeSteps), other, q.claims)
	if err != nil || fitting.len() == 0 {
		return err
	}
	node := fitting.first()
	message := fmt.Sprintf("use node %s", node)
	if n := fitting.len(); n > 1 {
		message = fmt.Sprintf("use one of %d other nodes, such as %s", n, node)
	}
	if reason, ok := q.unsuitable[node]; ok {
		message += ", whose devices would do; but " + reason.Message
	}
	s.changes = append(s.changes, change{kind: UseNode, node: node, cost: costNode, message: message})
	return nil
}

func ignoreAbort(err error) error {
	var abort *allocator.AbortError
	if errors.As(err, &abort) {
		return nil
	}
	return err
}

// noHelp tries what is tempting and says what of it does not help.
func (s *search) noHelp(ctx context.Context) ([]string, error) {
	held := false
	for _, n := range s.near {
		l := s.q.localOf(n.name)
		if l == nil {
			return nil, nil
		}
		held = held || len(l.holders) > 0
		o, err := l.try(ctx, releaseEdits(l.holders))
		if err != nil || o == fits || o == undecided {
			return nil, err // it would help, or that is not known
		}
	}
	if len(s.near) == 0 {
		return nil, nil
	}
	kinds := "nodes of these kinds"
	looks := 0 // of nodes; those that look alike do not count twice
	for i := range s.q.answers {
		looks += btoi(s.q.answers[i].unsuitable == nil)
	}
	if looks == 1 {
		kinds = "nodes of this kind"
	}
	if len(s.near) < looks {
		kinds = fmt.Sprintf("nodes like the %d that come nearest", len(s.near))
	}
	if !held {
		return []string{"Adding " + kinds + " does not help"}, nil
	}
	releasing := "Releasing claims"
	if s.releases {
		releasing += " alone" // a fix releases some and changes more
	}
	return []string{releasing + " or adding " + kinds + " does not help"}, nil
}

// refusedFixes finds what helps against a refusal before any node is looked at.
func (q *question) refusedFixes(ctx context.Context, reason *Reason) ([]Fix, error) {
	s, err := q.newSearch(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	switch reason.Code {
	case allocator.ClassNotFound:
		s.classes()
	case allocator.FeatureDisabled:
		gates := []inspect.Gate{inspect.GatePrioritizedList}
		s.changes = []change{{
			kind: EnableFeature, cost: costFeature, edits: []edit{{kind: editGates, gates: gates}},
			message: "turn on the feature gate " + gateNames(gates),
		}}
	}
	return s.verify(ctx)
}

const (
	// alike is how different names may be for one to be meant for the other.
	alike = 0.7
	// lessAlike is how much more different than the one that is most alike.
	lessAlike = 0.2
)

// sameLabel is how different names are that have only the first label in common, as gpu and gpu.example.com.
const sameLabel = 0.3

// likeName says how different two names are, from 0 to 1: by their first labels when the rest is the same.
func likeName(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	firstA, restA, _ := strings.Cut(a, ".")
	firstB, restB, _ := strings.Cut(b, ".")
	if restA == restB {
		a, b = firstA, firstB
	}
	different := float64(spell.Distance(a, b)) / float64(max(len(a), len(b), 1))
	if firstA == firstB {
		return min(different, sameLabel)
	}
	return different
}

// maxClasses is the number of other classes that are tried.
const maxClasses = 8

// classes proposes classes with similar names, and to create the one that is missing.
func (s *search) classes() {
	snapshot := s.q.cluster.Snapshot()
	type missing struct {
		at   alternative
		name string
	}
	var all []missing
	for _, at := range s.q.alternatives() {
		name := *fieldsOf(s.q.claims, at).class
		if _, ok := snapshot.Class(name); !ok && name != "" {
			all = append(all, missing{at, name})
		}
	}
	if len(all) == 0 {
		return
	}
	name, limit := all[0].name, alike
	for _, class := range snapshot.Objects().Classes {
		limit = min(limit, likeName(class.Name, name)+lessAlike)
	}
	var names []string
	for _, class := range snapshot.Objects().Classes {
		if likeName(class.Name, name) <= limit {
			names = append(names, class.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(likeName(a, name), likeName(b, name)) })
	for i, other := range names[:min(len(names), maxClasses)] {
		var edits []edit
		for _, m := range all {
			if m.name == name {
				edits = append(edits, edit{kind: editClass, at: m.at, class: other})
			}
		}
		s.changes = append(s.changes, change{
			kind: UseClass, edits: edits, cost: costClass + i,
			message: fmt.Sprintf("ask for the device class %s instead of %s", other, name),
		})
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return // nobody can create it
	}
	s.changes = append(s.changes, change{
		kind: CreateClass, cost: costCreate,
		message: fmt.Sprintf("create the device class %s; what it has to select is not known: tried with one that selects every device", name),
		world: func(o *inspect.Objects) {
			for _, m := range all {
				if !slices.ContainsFunc(o.Classes, func(c *resourcev1.DeviceClass) bool { return c.Name == m.name }) {
					o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: m.name}})
				}
			}
		},
	})
}
