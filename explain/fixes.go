package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Finding fixes.
//
// A fix is found in three steps. First each requirement of the nodes that come nearest is dropped by
// itself; if that does not help on any node, nothing less does. Then the change is made as small as it
// can be: the highest count, the value nearest to the one asked for, the claims whose release hurts
// least. Last the change is made to the whole snapshot and all nodes are asked again; only what helps
// then is a fix. When no single change helps, a set of changes is looked for on the node of the
// conflict: everything is dropped and put back one by one, the dearest first, as long as it still fits.

// What fixes cost, roughly: the user's own claim is changed before others are disturbed, and what is
// wanted is given up in small steps before large ones.
const (
	costNode           = 5
	costClass          = 8
	costIdle           = 10 // and one for each claim
	costValue          = 20
	costCount          = 25
	costNarrow         = 28 // a constraint that is about fewer requests
	costDrop           = 30
	costTolerate       = 40
	costAll            = 42 // a number instead of all: who monitors devices cannot do with some
	costClassOf        = 45 // another class of the driver
	costRelease        = 50 // and ten for each claim, one for each of its pods and devices
	costFeature        = 500
	costDevices        = 510
	costClassTerm      = 520
	costCreate         = 530
	costSeveral        = 1000 // more than one change
	maxFound           = 8    // fixes that are verified and returned
	maxNear            = 32   // nodes on which changes are looked for one by one
	maxSwept           = 512  // nodes that are asked about a change in the world
	maxReleases        = 3
	maxIdleNodes       = 16 // further nodes that are looked at because of claims that nobody uses
	maxReleaseHolders  = 24 // claims of which every one, and if need be every pair, is tried
	maxValuesTried     = 8
	maxCapacitiesTried = 16
)

// change is a fix that is not verified yet.
type change struct {
	kind  FixKind
	also  []FixKind
	edits []edit
	// world changes the whole snapshot in ways that no edit does.
	world   func(*inspect.Objects)
	cost    int
	message string
	claims  []inspect.ClaimRef
	// node is one that is known to fit with the change.
	node inspect.NodeName
}

// search looks for changes that help.
type search struct {
	q        *question
	near     []nearNode // the nodes that are looked at one by one, the nearest first
	nodes    []*corev1.Node
	conflict *Conflict
	atoms    []atom // of all near nodes, each once
	changes  []change
	cut      bool // there are more than the near nodes
	releases bool // some fix releases claims
}

func (q *question) newSearch(ctx context.Context, near []nearNode, conflict *Conflict) (*search, error) {
	s := &search{q: q, conflict: conflict}
	if conflict != nil { // what helps there is of most interest
		at := slices.IndexFunc(near, func(n nearNode) bool { return n.name == conflict.Node })
		near = append([]nearNode{near[at]}, slices.Delete(slices.Clone(near), at, at+1)...)
	}
	s.near, s.cut = near[:min(len(near), maxNear)], len(near) > maxNear
	if len(q.unsuitable) == 0 {
		s.nodes = slices.Clip(q.nodes)
	}
	for _, node := range q.nodes[len(s.nodes):] {
		if _, bad := q.unsuitable[inspect.NodeName(node.Name)]; !bad {
			s.nodes = append(s.nodes, node)
		}
	}
	seen := map[string]bool{}
	for _, n := range s.near {
		l := q.localOf(n.name)
		if l == nil {
			continue
		}
		atoms, err := l.requirements(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range atoms {
			if key := a.edit.key(); !seen[key] {
				seen[key] = true
				s.atoms = append(s.atoms, a)
			}
		}
	}
	return s, nil
}

// key identifies an edit that drops a requirement.
func (e *edit) key() string {
	return fmt.Sprint(e.kind, e.at, e.selector, e.term, e.constraint, e.capacity, e.amount == nil, e.toleration.Key, e.toleration.Effect, e.claim, e.gates, e.pool)
}

// run finds the fixes.
func (s *search) run(ctx context.Context) ([]Fix, error) {
	s.atoms = slices.DeleteFunc(s.atoms, func(a atom) bool { return !s.q.changeable(&a.edit) })
	for i := range s.atoms {
		if err := s.relax(ctx, &s.atoms[i]); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(context.Context) error{s.release, s.otherClasses, s.otherNodes, s.moreDevices} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(s.changes, func(c change) bool { return c.cost < costFeature }) {
		if err := s.several(ctx); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(s.changes, func(c change) bool { return c.cost < costFeature }) {
		// A class belongs to everybody. It is not to be changed when something else helps.
		s.changes = slices.DeleteFunc(s.changes, func(c change) bool { return c.cost == costClassTerm })
	}
	return s.verify(ctx)
}

// relax tries to drop a requirement, and if that helps, less than that.
func (s *search) relax(ctx context.Context, a *atom) error {
	if a.Kind == HeldRequired {
		return nil // see release
	}
	node, err := s.firstFit(ctx, []edit{a.edit})
	if err != nil || node == "" {
		return err
	}
	switch a.Kind {
	case CountRequired:
		return s.lowerCount(ctx, a, node)
	case TermRequired:
		return s.relaxTerm(ctx, a, node)
	case ConstraintRequired:
		return s.relaxConstraint(ctx, a, node)
	case CapacityRequired:
		return s.lowerCapacity(ctx, a, node)
	case TaintRequired:
		return s.tolerate(ctx, a, node)
	}
	c := change{kind: FixKind(""), edits: []edit{a.edit}, node: node}
	switch a.Kind {
	case ClassTermRequired:
		c.kind, c.cost = RelaxSelector, costClassTerm
		c.message = s.dropFromClass(ctx, a)
	case FeatureRequired:
		c.kind, c.cost = EnableFeature, costFeature
		c.message = "turn on the feature gate " + gateNames(a.edit.gates)
	case PoolRequired:
		c.kind, c.cost = AddDevices, costDevices
		c.message = "have the driver publish the missing slices of pool " + a.edit.pool.String()
		if a.Term != "" {
			c.message = fmt.Sprintf("have the driver correct pool %s: %s", a.edit.pool, a.Term)
		}
	}
	s.changes = append(s.changes, c)
	return nil
}

// dropFromClass proposes to change a class, which others may use too.
func (s *search) dropFromClass(ctx context.Context, a *atom) string {
	class, _, _ := strings.Cut(strings.TrimPrefix(a.Path, "deviceclass/"), " ")
	return fmt.Sprintf("drop from the device class %s, for all who use it: %s", class, s.q.brief(ctx, a.Term))
}

func gateNames(gates []inspect.Gate) string {
	var names []string
	for _, g := range gates {
		names = append(names, string(g))
	}
	return strings.Join(names, " and ")
}

// firstFit returns a node on which the edits help, the nearest first; "" when there is none.
func (s *search) firstFit(ctx context.Context, edits []edit) (inspect.NodeName, error) {
	node, err := s.fitsNear(ctx, edits)
	if err != nil || node != "" || !onlyClaims(edits) {
		return node, err
	}
	fitting, err := s.fitting(ctx, s.q.cluster.WithStepLimit(probeSteps), edits)
	if err != nil {
		return "", err
	}
	return fitting.first(), nil
}

// fitsNear is firstFit for the near nodes only.
func (s *search) fitsNear(ctx context.Context, edits []edit) (inspect.NodeName, error) {
	if !onlyClaims(edits) {
		for _, n := range s.near {
			l := s.q.localOf(n.name)
			if l == nil {
				continue
			}
			if o, err := l.try(ctx, edits); err != nil || o == fits {
				return n.name, err
			}
		}
		return "", nil
	}
	claims := s.q.apply(ctx, edits)
	cluster := s.q.cluster.WithStepLimit(probeSteps)
	for _, n := range s.near {
		node, ok := s.q.cluster.Snapshot().Node(n.name)
		if !ok {
			continue
		}
		if o, err := s.q.whatIf(ctx, cluster, node, claims); err != nil || o == fits {
			return n.name, err
		}
	}
	return "", nil
}

// onlyClaims reports whether the edits can be tried on the snapshot as it is.
func onlyClaims(edits []edit) bool {
	return !slices.ContainsFunc(edits, func(e edit) bool { return !e.aboutClaim() || e.kind == editClassTerm })
}

// nodeSet is some of the nodes: lists of their indices, each ascending.
type nodeSet struct {
	nodes []*corev1.Node
	lists [][]int
}

func (n nodeSet) len() int {
	sum := 0
	for _, list := range n.lists {
		sum += len(list)
	}
	return sum
}

// first returns the name of the first node, or "".
func (n nodeSet) first() inspect.NodeName {
	if len(n.lists) == 0 {
		return ""
	}
	at := slices.MinFunc(n.lists, func(a, b []int) int { return a[0] - b[0] })
	return inspect.NodeName(n.nodes[at[0]].Name)
}

func (n nodeSet) contains(name inspect.NodeName) bool {
	return slices.ContainsFunc(n.lists, func(list []int) bool {
		return slices.ContainsFunc(list, func(i int) bool { return n.nodes[i].Name == string(name) })
	})
}

// fitting returns the nodes on which the claims can be allocated with the edits made to them. Nodes that look alike to the question look alike also when it is put differently, as long as
// it is about the same fields of devices; so one of them is asked. Another class or attribute may be about
// other fields.
func (s *search) fitting(ctx context.Context, c *allocator.Cluster, edits []edit) (nodeSet, error) {
	claims := s.q.apply(ctx, edits)
	if s.q.answers == nil || slices.ContainsFunc(edits, func(e edit) bool { return e.kind == editClass || e.kind == editAttribute }) {
		return sweep(ctx, c, s.nodes, claims)
	}
	out := nodeSet{nodes: s.q.nodes}
	if s.q.spent > remedySteps {
		return out, nil
	}
	outcomes, steps := make([]outcome, len(s.q.answers)), make([]int64, len(s.q.answers))
	err := allocator.Parallel(len(outcomes), func(i int) error {
		a := &s.q.answers[i]
		if a.unsuitable != nil {
			return nil // refused
		}
		var err error
		outcomes[i], steps[i], err = outcomeOf(ctx, c, s.q.nodes[a.nodes[0]], claims)
		return err
	})
	for _, n := range steps {
		s.q.spent += n
	}
	for i, o := range outcomes {
		if o == fits {
			out.lists = append(out.lists, s.q.answers[i].nodes)
		}
	}
	return out, err
}

// sweep returns the nodes on which the claims can be allocated.
func sweep(ctx context.Context, c *allocator.Cluster, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) (nodeSet, error) {
	kinds, err := c.Sweep(ctx, nodes, claims)
	out := nodeSet{nodes: nodes}
	for i := range kinds {
		if r := kinds[i].Result; r != nil && r.Outcome == allocator.Allocated {
			out.lists = append(out.lists, kinds[i].Nodes)
		}
	}
	return out, err
}

// verify makes each change to the whole snapshot, the cheapest first, and keeps what helps.
func (s *search) verify(ctx context.Context) ([]Fix, error) {
	slices.SortStableFunc(s.changes, func(a, b change) int { return cmp.Compare(a.cost, b.cost) })
	var out []Fix
	for i := range s.changes {
		if len(out) == maxFound {
			break
		}
		f, err := s.confirm(ctx, &s.changes[i])
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if f.Beside, err = s.besides(ctx, &s.changes[i]); err != nil {
			return nil, err
		}
		out = append(out, *f)
		s.releases = s.releases || len(f.Claims) > 0
	}
	return out, nil
}

// confirm asks all nodes with the change made. nil: it does not help.
func (s *search) confirm(ctx context.Context, c *change) (*Fix, error) {
	if c.kind == UseNode {
		return s.fix(ctx, c, c.node, 1), nil
	}
	var fitting nodeSet
	var err error
	if c.world == nil && onlyClaims(c.edits) {
		fitting, err = s.fitting(ctx, s.q.cluster.WithStepLimit(probeSteps), c.edits)
	} else {
		fitting, err = s.fittingIn(ctx, c)
	}
	n := fitting.len()
	if err != nil || n == 0 {
		return nil, err
	}
	node := fitting.first()
	if fitting.contains(c.node) {
		node = c.node
	}
	f := s.fix(ctx, c, node, n)
	where := ""
	if n > 1 {
		where = "on " + string(node) + " "
	}
	text, err := s.lesser(ctx, c, node, where)
	f.Message += text
	return f, err
}

// fittingIn asks the nodes of a world that is changed. In a large cluster these are the near ones, for a
// class that does not exist yet all.
func (s *search) fittingIn(ctx context.Context, c *change) (nodeSet, error) {
	snapshot, nodes := s.q.cluster.Snapshot(), s.nodes
	if len(nodes) > maxSwept && c.kind != CreateClass {
		nodes = s.nearNodes()
		if node, ok := snapshot.Node(c.node); ok && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	if l := s.q.localOf(c.node); c.kind == AddDevices && c.world != nil && len(s.nodes) > maxSwept && l != nil {
		// All that reaches the node is in its surroundings, and the new devices reach no other node.
		snapshot, nodes = l.snapshot, []*corev1.Node{l.node}
	}
	if change := s.worldChange(ctx, c); change != nil {
		snapshot = snapshot.With(change)
	}
	cluster := clusterWith(snapshot, c.edits, s.q.cluster)
	return sweep(ctx, cluster, nodes, s.q.apply(ctx, withoutClassTerms(c.edits)))
}

// fix describes a change that helps on so many nodes, one of which is given.
func (s *search) fix(ctx context.Context, c *change, node inspect.NodeName, nodes int) *Fix {
	f := &Fix{
		Kind: c.kind, Also: c.also, Node: node, Nodes: nodes,
		Patch: s.q.patch(ctx, withoutClassTerms(c.edits)), Message: oneLine(s.q.where(c.edits) + c.message),
	}
	for _, ref := range c.claims {
		f.Claims = append(f.Claims, s.q.holder(ref, s.heldNear(ref, f.Node)))
	}
	return f
}

// heldNear are the devices of a claim that matter to the node.
func (s *search) heldNear(ref inspect.ClaimRef, node inspect.NodeName) []inspect.DeviceID {
	if l := s.q.localOf(node); l != nil {
		return l.devices[ref]
	}
	return nil
}

// where names the claim that is to be changed, for a pod: it is not the subject then.
func (q *question) where(edits []edit) string {
	if q.subject.Kind != "Pod" {
		return ""
	}
	var names []string
	for i := range edits {
		if !edits[i].aboutClaim() || edits[i].kind == editClassTerm {
			continue
		}
		claim := q.claims[edits[i].at.claim]
		name := "in claim " + claim.Name
		if q.generated(edits[i].at.claim) {
			name = "in the containers of the pod"
		} else if template := q.templateOf(edits[i].at.claim); template != "" {
			name = "in the template " + template
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, " and ") + ": "
}

func (s *search) nearNodes() []*corev1.Node {
	var out []*corev1.Node
	for _, n := range s.near {
		if node, ok := s.q.cluster.Snapshot().Node(n.name); ok {
			out = append(out, node)
		}
	}
	return out
}

func withoutClassTerms(edits []edit) []edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return e.kind == editClassTerm })
}

// worldChange is what has to be changed in the snapshot besides what clusterWith does. nil: nothing.
func (s *search) worldChange(ctx context.Context, c *change) func(*inspect.Objects) {
	terms := map[string]map[int]map[int]string{} // class, selector, term
	for i := range c.edits {
		e := &c.edits[i]
		if e.kind != editClassTerm {
			continue
		}
		class := *fieldsOf(s.q.claims, e.at).class
		if terms[class] == nil {
			terms[class] = map[int]map[int]string{}
		}
		if terms[class][e.selector] == nil {
			terms[class][e.selector] = map[int]string{}
		}
		terms[class][e.selector][e.term] = e.expression
	}
	if len(terms) == 0 {
		return c.world
	}
	return func(o *inspect.Objects) {
		s.q.rewriteClasses(ctx, o, terms)
		if c.world != nil {
			c.world(o)
		}
	}
}

// rewriteClasses replaces terms of the selectors of classes, by class, selector and term.
func (q *question) rewriteClasses(ctx context.Context, o *inspect.Objects, terms map[string]map[int]map[int]string) {
	for i, class := range o.Classes {
		if terms[class.Name] == nil {
			continue
		}
		o.Classes[i] = class.DeepCopy()
		selectors := o.Classes[i].Spec.Selectors
		for j, replaced := range terms[class.Name] {
			selectors[j].CEL = q.rewrite(ctx, selectors[j].CEL, replaced)
		}
		o.Classes[i].Spec.Selectors = slices.DeleteFunc(selectors, dropped)
	}
}
