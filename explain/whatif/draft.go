package whatif

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// anyClass is a device class that selects every device. It exists only in the small snapshots of
// what-if questions, where the terms of a class that are kept become selectors of the request.
const anyClass = "any.kubectl-dra.dev"

// Draft is a question with edits made: what is asked for then, and of which cluster. It collects the edits
// before it makes them, so that a selector of which several terms change is written once, and what is removed
// from a list does not move what other edits are about.
type Draft struct {
	// Cluster is the one that is asked, and Claims are what is asked for.
	Cluster *scheduler.Cluster
	Claims  []*resourcev1.ResourceClaim
	// prepared returns the pod that asks, as the scheduler's other filters see it. It is nil when the
	// question is about a claim.
	prepared func() *filters.Prepared

	q      *Question
	claims []*resourcev1.ResourceClaim // those of the question, but for copies that edits changed

	terms       map[SelectorRef]map[int]string
	classTerms  map[SelectorRef]map[int]string // of the classes of requests
	constraints map[constraintRef][]string     // what they are about; nil drops them
	requests    map[RequestRef]bool            // to be dropped, with all their subrequests

	pod      *corev1.Pod // that of the question, or a changed copy
	podTerms []PodAffinityEdit
	released map[inspect.ClaimRef]bool // of which the devices are free
	gates    map[inspect.Gate]bool     // that are turned on
	// changes change copies of objects of the snapshot, since those that there are belong to others. The keys
	// say what is changed, and tell changes apart.
	changes map[string]func(*inspect.Objects)
	// around are changes of nodes and of other pods, which matter to filters and not to the allocation of
	// devices.
	around map[string]func(*inspect.Objects)
	// ended are other pods that are gone. They matter to filters only, and are not in around.
	ended map[inspect.PodRef]bool
}

// constraintRef addresses a constraint of a claim of the question.
type constraintRef struct{ claim, constraint int }

// newDraft is a draft without edits.
func newDraft(q *Question) *Draft {
	return &Draft{
		q: q, claims: q.Claims, pod: q.Pod, terms: map[SelectorRef]map[int]string{}, classTerms: map[SelectorRef]map[int]string{},
		constraints: map[constraintRef][]string{}, requests: map[RequestRef]bool{}, released: map[inspect.ClaimRef]bool{},
		gates: map[inspect.Gate]bool{}, changes: map[string]func(*inspect.Objects){}, around: map[string]func(*inspect.Objects){},
		ended: map[inspect.PodRef]bool{},
	}
}

// draft makes the edits of the first of the claims from a template to the others too.
func (q *Question) draft(edits []Edit) *Draft {
	d := newDraft(q)
	for _, ref := range q.Renewed {
		d.released[ref] = true
	}
	for _, e := range q.forSameTemplate(edits) {
		e.Apply(d)
	}
	if len(d.podTerms) > 0 {
		removePodTerms(d.pod, d.podTerms)
	}
	d.freeOfEnded()
	return d
}

// Claim returns a claim of the question that may be written to.
func (d *Draft) Claim(i int) *resourcev1.ResourceClaim {
	if d.claims[i] == d.q.Claims[i] {
		d.claims = slices.Clone(d.claims)
		d.claims[i] = d.claims[i].DeepCopy()
	}
	return d.claims[i]
}

// Pod returns the pod of the question, which may be written to. It is nil when the question is about a claim.
func (d *Draft) Pod() *corev1.Pod {
	if d.pod != nil && d.pod == d.q.Pod {
		d.pod = d.pod.DeepCopy()
	}
	return d.pod
}

// in completes a draft with the cluster in which its edits are made. With whole that is made of the whole
// snapshot.
func (d *Draft) in(ctx context.Context, c *scheduler.Cluster, whole bool) *Draft {
	d.Cluster, d.Claims = c, d.q.inPodOrder(d.result(ctx))
	if d.pod != nil {
		d.prepared = sync.OnceValue(func() *filters.Prepared { return d.filtered(whole) })
	}
	return d
}

// Fields returns the fields of a request, which may be written to.
func (d *Draft) Fields(at RequestRef) RequestFields {
	d.Claim(at.Claim)
	return FieldsOf(d.claims, at)
}

// replaceTerm notes what takes the place of a term of a selector.
func replaceTerm(m map[SelectorRef]map[int]string, at SelectorRef, term int, expression string) {
	if m[at] == nil {
		m[at] = map[int]string{}
	}
	m[at][term] = expression
}

// release takes its devices from a claim. Whoever uses it ends for that, but for a claim that is reserved for
// nobody: that one is deallocated as it is.
func (d *Draft) release(ref inspect.ClaimRef) {
	d.released[ref] = true
	s := d.q.Cluster.Snapshot()
	if claim, ok := s.Claim(ref); ok && len(claim.Status.ReservedFor) == 0 {
		return
	}
	for _, user := range s.PodsOf(ref) {
		if d.q.Pod == nil || user != (inspect.PodRef{Namespace: d.q.Pod.Namespace, Name: d.q.Pod.Name}) {
			d.ended[user] = true
		}
	}
}

// freeOfEnded takes their devices from the claims of pods that end which go with them, or are reserved for
// nobody else: Kubernetes does that. Others keep their devices, and whoever uses them stays.
func (d *Draft) freeOfEnded() {
	s := d.q.Cluster.Snapshot()
	for ref := range d.ended {
		pod, ok := s.Pod(ref)
		if !ok {
			continue
		}
		for _, name := range suppose.ClaimNames(pod) {
			own := inspect.ClaimRef{Namespace: pod.Namespace, Name: name}
			claim, ok := s.Claim(own)
			if ok && !d.q.Own[own] && !d.q.Supposed[own] && (d.ended[suppose.OwnerOf(claim)] || suppose.ReservedOnlyFor(claim, d.ended)) {
				d.released[own] = true
			}
		}
	}
}

// aroundKeys are the keys of the changes of nodes and pods, sorted; but not of pods that end.
func (d *Draft) aroundKeys() []string { return slices.Sorted(maps.Keys(d.around)) }

// result returns the claims of the question with the edits made; claims that no edit is about are shared. Of
// a class whose terms change, the request gets those that are kept as its own.
func (d *Draft) result(ctx context.Context) []*resourcev1.ResourceClaim {
	for _, key := range slices.SortedFunc(maps.Keys(d.terms), reversedSelectors) { // from the back, so that indices stay true
		selectors := d.Fields(key.At).Selectors
		(*selectors)[key.Index].CEL = rewrite(ctx, d.q, (*selectors)[key.Index].CEL, d.terms[key])
		if (*selectors)[key.Index].CEL == nil {
			*selectors = slices.Delete(*selectors, key.Index, key.Index+1)
		}
	}
	spelled := map[RequestRef]bool{}
	for key := range d.classTerms {
		if !spelled[key.At] {
			spelled[key.At] = true
			d.spellOutClass(ctx, key.At)
		}
	}
	d.remove()
	return d.claims
}

// spellOutClass replaces the class of a request by one that selects everything and puts those terms of
// the class that are kept before the request's own selectors.
func (d *Draft) spellOutClass(ctx context.Context, at RequestRef) {
	f := d.Fields(at)
	class, ok := d.q.Cluster.Snapshot().Class(*f.Class)
	if !ok {
		return
	}
	var selectors []resourcev1.DeviceSelector
	for i, s := range class.Spec.Selectors {
		if terms, ok := d.classTerms[SelectorRef{at, i}]; ok {
			if s.CEL = rewrite(ctx, d.q, s.CEL, terms); s.CEL == nil {
				continue
			}
		}
		selectors = append(selectors, s)
	}
	*f.Class = anyClass
	*f.Selectors = append(selectors, *f.Selectors...)
}

// remove removes constraints and requests, from the back so that indices stay true.
func (d *Draft) remove() {
	for key, requests := range d.constraints {
		if requests != nil {
			d.Claim(key.claim).Spec.Devices.Constraints[key.constraint].Requests = requests
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.constraints), constraintRef.reversed) {
		if d.constraints[key] == nil {
			devices := &d.Claim(key.claim).Spec.Devices
			devices.Constraints = slices.Delete(devices.Constraints, key.constraint, key.constraint+1)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(d.requests), reversedRequests) {
		devices := &d.Claim(at.Claim).Spec.Devices
		devices.Requests = slices.Delete(devices.Requests, at.Request, at.Request+1)
	}
}

func (c constraintRef) reversed(other constraintRef) int {
	return slices.Compare([]int{other.claim, other.constraint}, []int{c.claim, c.constraint})
}

func reversedSelectors(a, b SelectorRef) int {
	return cmp.Or(compareRequestRefs(b.At, a.At), b.Index-a.Index)
}

func reversedRequests(a, b RequestRef) int { return compareRequestRefs(b, a) }

// worldKey identifies what the edits change around the claims. It is "" when that is nothing.
func (d *Draft) worldKey() string {
	if len(d.released)+len(d.gates)+len(d.changes)+len(d.around) == 0 {
		return ""
	}
	var b strings.Builder
	for _, ref := range slices.SortedFunc(maps.Keys(d.released), CompareRefs) {
		b.WriteString("release " + ref.String() + "\n")
	}
	for _, g := range slices.Sorted(maps.Keys(d.gates)) {
		b.WriteString("gate " + string(g) + "\n")
	}
	for _, key := range slices.Sorted(maps.Keys(d.changes)) {
		b.WriteString(key + "\n")
	}
	for _, key := range d.aroundKeys() {
		b.WriteString(key + "\n")
	}
	return b.String()
}

// build makes the cluster of a snapshot with the edits made that are not about claims. What is known already
// of expressions and devices is shared with a like cluster.
func (d *Draft) build(s *inspect.Snapshot, like *scheduler.Cluster) *scheduler.Cluster {
	return scheduler.NewCluster(d.snapshot(s), scheduler.Options{Ignore: d.released, StepLimit: ProbeSteps, Like: like})
}

// snapshot makes the edits in a snapshot that are neither about claims nor release any.
func (d *Draft) snapshot(s *inspect.Snapshot) *inspect.Snapshot {
	if len(d.changes)+len(d.around) > 0 {
		s = s.With(func(o *inspect.Objects) {
			for _, key := range slices.Sorted(maps.Keys(d.changes)) {
				d.changes[key](o)
			}
			d.changeAround(o)
		})
	}
	if len(d.gates) > 0 {
		s = s.WithFeatures(s.Features().With(d.gates))
	}
	return s
}

// changeClasses makes the edits of classes in the classes themselves, for all who use them, and no longer in
// the requests.
func (d *Draft) changeClasses(ctx context.Context) {
	classes := d.classEdits()
	d.classTerms = nil
	classesEdit{ctx, classes}.Apply(d)
}

// classEdits are the terms of classes that edits replace, by name, selector and term.
func (d *Draft) classEdits() map[string]map[int]map[int]string {
	classes := map[string]map[int]map[int]string{}
	for key, terms := range d.classTerms {
		name := *FieldsOf(d.q.Claims, key.At).Class
		if classes[name] == nil {
			classes[name] = map[int]map[int]string{}
		}
		for term, expression := range terms {
			if classes[name][key.Index] == nil {
				classes[name][key.Index] = map[int]string{}
			}
			classes[name][key.Index][term] = expression
		}
	}
	return classes
}

// rewriteClass replaces terms of the selectors of a class, by selector and term.
func rewriteClass(ctx context.Context, q *Question, o *inspect.Objects, name string, terms map[int]map[int]string) {
	for i, class := range o.Classes {
		if class.Name != name {
			continue
		}
		o.Classes[i] = class.DeepCopy()
		selectors := o.Classes[i].Spec.Selectors
		for _, j := range slices.Backward(slices.Sorted(maps.Keys(terms))) {
			if selectors[j].CEL = rewrite(ctx, q, selectors[j].CEL, terms[j]); selectors[j].CEL == nil {
				selectors = slices.Delete(selectors, j, j+1)
			}
		}
		o.Classes[i].Spec.Selectors = selectors
	}
}

// CompareRefs orders claims by namespace and name.
func CompareRefs(a, b inspect.ClaimRef) int { return strings.Compare(a.String(), b.String()) }
