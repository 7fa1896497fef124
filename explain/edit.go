package explain

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// edit is one hypothetical change. Edits are plain values, so that the same list can be tried on one node,
// verified on the whole snapshot, and written down as a patch. A new kind of edit is a new type; nothing else
// lists them.
type edit interface {
	// key identifies what the edit gives up. An edit that gives up less of the same, such as a count that is
	// lowered by one instead of to one, has the same key.
	key() string
	// apply makes the change in a draft.
	apply(d *draft)
}

// claimEdit is an edit of a claim of the question.
type claimEdit interface {
	edit
	// target is the request that is changed, or another one of its claim.
	target() requestRef
	// of is the same edit of another claim, which was made from the same template.
	of(claim int) edit
}

// specEdit is an edit of a claim that its owner can make: it can be written down as a patch, and tried without
// changing anything but the claims.
type specEdit interface {
	claimEdit
	// patch writes the operations for fields of requests. Selectors, and what is removed from lists, are written
	// by the patch itself, because all edits of a list have to be known for that.
	patch(p *patch)
}

// readsOthers is implemented by edits that make a claim depend on other fields of devices than before, so that
// nodes that look alike to the question need not look alike any more.
type readsOthers interface{ readsOtherFields() }

// admitsOthers is implemented by edits that let a request have devices that it did not accept.
type admitsOthers interface{ admitsOtherDevices() }

// restricted is implemented by edits that not everybody may make, or that nobody can.
type restricted interface {
	// feasible reports whether somebody can, and may, make the edit.
	feasible(q *question) bool
}

// feasible reports whether somebody can make the edit. Into the claim that the scheduler generates for extended
// resources nobody can write.
func (q *question) feasible(e edit) bool {
	if r, ok := e.(restricted); ok {
		return r.feasible(q)
	}
	s, ok := e.(specEdit)
	return !ok || !q.generated(s.target().claim)
}

// isClaimEdit reports whether the edit changes a claim of the question.
func isClaimEdit(e edit) bool {
	_, ok := e.(claimEdit)
	return ok
}

// isSpecEdit reports whether the owner of the claims can make the edit.
func isSpecEdit(e edit) bool {
	_, ok := e.(specEdit)
	return ok
}

// onlySpecEdits reports whether the edits can be tried on the snapshot as it is.
func onlySpecEdits(edits []edit) bool {
	return !slices.ContainsFunc(edits, func(e edit) bool { return !isSpecEdit(e) })
}

// countEdit asks for a number of devices.
type countEdit struct {
	at    requestRef
	count int64
}

func (e countEdit) key() string             { return fmt.Sprint("count ", e.at) }
func (e countEdit) target() requestRef      { return e.at }
func (e countEdit) of(claim int) edit       { e.at.claim = claim; return e }
func (e countEdit) feasible(*question) bool { return true } // of a generated claim it follows from the containers

func (e countEdit) apply(d *draft) {
	f := d.fields(e.at)
	*f.mode, *f.count = resourcev1.DeviceAllocationModeExactCount, e.count
}

func (e countEdit) patch(p *patch) {
	path := p.request(e.at)
	if *fieldsOf(p.q.claims, e.at).mode != resourcev1.DeviceAllocationModeExactCount {
		p.add("replace", path+"/allocationMode", string(resourcev1.DeviceAllocationModeExactCount))
		p.add("add", path+"/count", e.count)
		return
	}
	p.add("replace", path+"/count", e.count)
}

// termEdit replaces a term of a selector of a request, or drops it.
type termEdit struct {
	selectorRef
	term       int
	expression string // instead of the term; "" drops it
}

func (e termEdit) key() string         { return fmt.Sprint("term ", e.selectorRef, e.term) }
func (e termEdit) target() requestRef  { return e.at }
func (e termEdit) of(claim int) edit   { e.at.claim = claim; return e }
func (e termEdit) admitsOtherDevices() {}
func (e termEdit) apply(d *draft)      { d.replaceTerm(e.selectorRef, e.term, e.expression) }
func (e termEdit) patch(*patch)        {}

// classTermEdit replaces a term of a selector of the class of a request, or drops it. On one node that is tried for
// the request alone; in the whole snapshot the class is changed, for all who use it.
type classTermEdit struct {
	selectorRef // of the class of the request
	term        int
	expression  string // instead of the term; "" drops it
}

func (e classTermEdit) key() string         { return fmt.Sprint("class term ", e.selectorRef, e.term) }
func (e classTermEdit) target() requestRef  { return e.at }
func (e classTermEdit) of(claim int) edit   { e.at.claim = claim; return e }
func (e classTermEdit) admitsOtherDevices() {}
func (e classTermEdit) apply(d *draft)      { d.replaceClassTerm(e.selectorRef, e.term, e.expression) }

// constraintEdit drops a constraint of a claim, or makes it about fewer requests.
type constraintEdit struct {
	claim, constraint int
	requests          []string // that it is about; nil drops it
}

func (e constraintEdit) key() string        { return fmt.Sprint("constraint ", e.claim, e.constraint) }
func (e constraintEdit) target() requestRef { return requestRef{claim: e.claim} }
func (e constraintEdit) of(claim int) edit  { e.claim = claim; return e }
func (e constraintEdit) apply(d *draft)     { d.changeConstraint(e.claim, e.constraint, e.requests) }
func (e constraintEdit) patch(*patch)       {}

// attributeEdit makes a constraint match another attribute.
type attributeEdit struct {
	claim, constraint int
	attribute         resourcev1.FullyQualifiedName
}

func (e attributeEdit) key() string        { return fmt.Sprint("attribute ", e.claim, e.constraint) }
func (e attributeEdit) target() requestRef { return requestRef{claim: e.claim} }
func (e attributeEdit) of(claim int) edit  { e.claim = claim; return e }
func (e attributeEdit) readsOtherFields()  {}

func (e attributeEdit) apply(d *draft) {
	d.claim(e.claim).Spec.Devices.Constraints[e.constraint].MatchAttribute = &e.attribute
}

func (e attributeEdit) patch(p *patch) {
	p.add("replace", fmt.Sprintf("%s/constraints/%d/matchAttribute", p.root, e.constraint), string(e.attribute))
}

// capacityEdit asks for another amount of a capacity, or for none.
type capacityEdit struct {
	at       requestRef
	capacity resourcev1.QualifiedName
	amount   *resource.Quantity // nil asks for no particular amount
}

func (e capacityEdit) key() string {
	return fmt.Sprint("capacity ", e.at, e.capacity, e.amount == nil)
}
func (e capacityEdit) target() requestRef { return e.at }
func (e capacityEdit) of(claim int) edit  { e.at.claim = claim; return e }

func (e capacityEdit) apply(d *draft) {
	f := d.fields(e.at)
	if e.amount != nil {
		(*f.capacity).Requests[e.capacity] = *e.amount
		return
	}
	delete((*f.capacity).Requests, e.capacity)
	if len((*f.capacity).Requests) == 0 {
		*f.capacity = nil
	}
}

func (e capacityEdit) patch(p *patch) {
	path := p.request(e.at) + "/capacity/requests/" + escape(string(e.capacity))
	if e.amount == nil {
		p.add("remove", path, nil)
		return
	}
	p.add("replace", path, e.amount.String())
}

// tolerationEdit adds a toleration to a request.
type tolerationEdit struct {
	at         requestRef
	toleration resourcev1.DeviceToleration
}

func (e tolerationEdit) key() string {
	return fmt.Sprint("toleration ", e.at, e.toleration.Key, " ", e.toleration.Effect)
}
func (e tolerationEdit) target() requestRef { return e.at }
func (e tolerationEdit) of(claim int) edit  { e.at.claim = claim; return e }

// feasible: who tolerates a fence gets a device that another claim holds.
func (e tolerationEdit) feasible(q *question) bool {
	return e.toleration.Key != inspect.FenceKey && !q.generated(e.at.claim)
}

func (e tolerationEdit) apply(d *draft) {
	f := d.fields(e.at)
	*f.tolerations = append(*f.tolerations, e.toleration)
}

func (e tolerationEdit) patch(p *patch) {
	path := p.request(e.at) + "/tolerations"
	value := tolerationValue(&e.toleration)
	if len(*fieldsOf(p.q.claims, e.at).tolerations) > 0 || p.tolerated[e.at] {
		p.add("add", path+"/-", value)
		return
	}
	p.add("add", path, []any{value})
	if p.tolerated == nil {
		p.tolerated = map[requestRef]bool{}
	}
	p.tolerated[e.at] = true
}

// classEdit asks for devices of another class.
type classEdit struct {
	at    requestRef
	class string
}

func (e classEdit) key() string         { return fmt.Sprint("class ", e.at) }
func (e classEdit) target() requestRef  { return e.at }
func (e classEdit) of(claim int) edit   { e.at.claim = claim; return e }
func (e classEdit) readsOtherFields()   {}
func (e classEdit) admitsOtherDevices() {}
func (e classEdit) apply(d *draft)      { *d.fields(e.at).class = e.class }

func (e classEdit) patch(p *patch) {
	p.add("replace", p.request(e.at)+"/deviceClassName", e.class)
}

// requestEdit drops a request.
type requestEdit struct{ at requestRef }

func (e requestEdit) key() string        { return fmt.Sprint("request ", e.at) }
func (e requestEdit) target() requestRef { return e.at }
func (e requestEdit) of(claim int) edit  { e.at.claim = claim; return e }
func (e requestEdit) apply(d *draft)     { d.dropRequest(e.at) }
func (e requestEdit) patch(*patch)       {}

// releaseEdit takes the devices from a claim.
type releaseEdit struct{ claim inspect.ClaimRef }

func (e releaseEdit) key() string    { return "release " + e.claim.String() }
func (e releaseEdit) apply(d *draft) { d.release(e.claim) }

// releaseEdits release claims.
func releaseEdits(refs []inspect.ClaimRef) []edit {
	var out []edit
	for _, ref := range refs {
		out = append(out, releaseEdit{ref})
	}
	return out
}

// gatesEdit turns feature gates on.
type gatesEdit struct{ gates []inspect.Gate }

func (e gatesEdit) key() string    { return fmt.Sprint("gates ", e.gates) }
func (e gatesEdit) apply(d *draft) { d.enable(e.gates...) }

// poolEdit completes a pool with what is published of it.
type poolEdit struct{ pool inspect.PoolID }

func (e poolEdit) key() string { return "pool " + e.pool.String() }
func (e poolEdit) apply(d *draft) {
	d.change(e.key(), func(o *inspect.Objects) { completePool(o, e.pool) })
}

// countersEdit makes counters of a pool plenty. Nobody can do that; it says what runs out.
type countersEdit struct {
	pool    inspect.PoolID
	counter string // "" stands for all of the pool
}

func (e countersEdit) key() string             { return "counters " + e.pool.String() }
func (e countersEdit) feasible(*question) bool { return false }
func (e countersEdit) apply(d *draft) {
	d.change(e.key()+" "+e.counter, func(o *inspect.Objects) { raisePool(o, e.pool, e.counter) })
}
