package whatif

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Edit is one hypothetical change. Edits are plain values, so that the same list can be tried on one node,
// verified on the whole snapshot, and written down as a patch. A new kind of edit is a new type; nothing else
// lists them.
type Edit interface {
	// Key names what the edit changes. Edits that change more or less of the same, such as a count that is
	// lowered by one instead of to one, share it.
	Key() string
	// Apply makes the change in a draft.
	Apply(d *Draft)
}

// ClaimEdit is an edit of a claim of the question.
type ClaimEdit interface {
	Edit
	// Target is the request that is changed, or another one of its claim.
	Target() RequestRef
	// Of is the same edit of another claim, which was made from the same template.
	Of(claim int) Edit
}

// SpecEdit is an edit of a claim that its owner can make: it can be written down as a patch, and tried
// without changing anything but the claims.
type SpecEdit interface {
	ClaimEdit
	// Patch writes the operations for fields of requests. Selectors, and what is removed from lists, are
	// written by the patch itself, because all edits of a list have to be known for that.
	Patch(p *Patch)
}

// PodEdit is an edit of the pod that asks.
type PodEdit interface {
	Edit
	// PatchPod writes the operations on the pod.
	PatchPod(p *Patch)
}

// readsOthers is implemented by edits that make a claim depend on other fields of devices than before, so
// that nodes that look alike to the question need not look alike any more.
type readsOthers interface{ readsOtherFields() }

// AdmitsOthers is implemented by edits that let a request have devices that it did not accept.
type AdmitsOthers interface{ admitsOtherDevices() }

// restricted is implemented by edits that not everybody may make, or that nobody can.
type restricted interface {
	// feasible reports whether somebody can, and may, make the edit.
	feasible(q *Question) bool
}

// Feasible reports whether somebody can make the edit. Into the claim that the scheduler generates for
// extended resources nobody can write.
func (q *Question) Feasible(e Edit) bool {
	if r, ok := e.(restricted); ok {
		return r.feasible(q)
	}
	s, ok := e.(SpecEdit)
	return !ok || !q.Generated(s.Target().Claim)
}

// isSpecEdit reports whether the owner of the claims can make the edit.
func isSpecEdit(e Edit) bool {
	_, ok := e.(SpecEdit)
	return ok
}

// OnlySpecEdits reports whether the edits can be tried on the snapshot as it is.
func OnlySpecEdits(edits []Edit) bool {
	return !slices.ContainsFunc(edits, func(e Edit) bool { return !isSpecEdit(e) })
}

// CountEdit asks for a number of devices.
type CountEdit struct {
	At    RequestRef
	Count int64
}

// Key names the count of devices.
func (e CountEdit) Key() string { return fmt.Sprint("count ", e.At) }

// Target is the request that is changed.
func (e CountEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e CountEdit) Of(claim int) Edit       { e.At.Claim = claim; return e }
func (e CountEdit) feasible(*Question) bool { return true } // of a generated claim it follows from the containers

// Apply sets the mode and the count.
func (e CountEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	*f.Mode, *f.Count = resourcev1.DeviceAllocationModeExactCount, e.Count
}

// Patch writes the mode and the count.
func (e CountEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At)
	if *FieldsOf(p.q.Claims, e.At).Mode != resourcev1.DeviceAllocationModeExactCount {
		p.Add("replace", path+"/allocationMode", string(resourcev1.DeviceAllocationModeExactCount))
		p.Add("add", path+"/count", e.Count)
		return
	}
	p.Add("replace", path+"/count", e.Count)
}

// TermEdit replaces a term of a selector of a request, or drops it.
type TermEdit struct {
	SelectorRef
	Term       int
	Expression string // instead of the term; "" drops it
}

// Key names the term.
func (e TermEdit) Key() string { return fmt.Sprint("term ", e.SelectorRef, e.Term) }

// Target is the request that is changed.
func (e TermEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e TermEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e TermEdit) admitsOtherDevices() {}

// Apply notes the term: a selector is written once, when all its terms are known.
func (e TermEdit) Apply(d *Draft) { replaceTerm(d.terms, e.SelectorRef, e.Term, e.Expression) }

// Patch writes nothing: the Patch itself writes selectors.
func (e TermEdit) Patch(*Patch) {}

// ClassTermEdit replaces a term of a selector of the class of a request, or drops it. On one node that is
// tried for the request alone; in the whole snapshot the class is changed, for all who use it.
type ClassTermEdit struct {
	SelectorRef // of the class of the request
	Term        int
	Expression  string // instead of the term; "" drops it
}

// Key names the term of the class.
func (e ClassTermEdit) Key() string { return fmt.Sprint("class term ", e.SelectorRef, e.Term) }

// Target is the request that is changed.
func (e ClassTermEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e ClassTermEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e ClassTermEdit) admitsOtherDevices() {}

// Apply notes the term, as TermEdit does.
func (e ClassTermEdit) Apply(d *Draft) {
	replaceTerm(d.classTerms, e.SelectorRef, e.Term, e.Expression)
}

// ConstraintEdit drops a constraint of a claim, or makes it about fewer requests.
type ConstraintEdit struct {
	Claim, Constraint int
	Requests          []string // that it is about; nil drops it
}

// Key names the constraint.
func (e ConstraintEdit) Key() string { return fmt.Sprint("constraint ", e.Claim, e.Constraint) }

// Target is a request of the claim that is changed.
func (e ConstraintEdit) Target() RequestRef { return RequestRef{Claim: e.Claim} }

// Of is the same edit of another claim.
func (e ConstraintEdit) Of(claim int) Edit { e.Claim = claim; return e }

// Apply notes the constraint, which is removed when all edits are known.
func (e ConstraintEdit) Apply(d *Draft) {
	d.constraints[constraintRef{e.Claim, e.Constraint}] = e.Requests
}

// Patch writes nothing: the Patch itself removes from lists.
func (e ConstraintEdit) Patch(*Patch) {}

// AttributeEdit makes a constraint match another attribute.
type AttributeEdit struct {
	Claim, Constraint int
	Attribute         resourcev1.FullyQualifiedName
}

// Key names the attribute of the constraint.
func (e AttributeEdit) Key() string { return fmt.Sprint("attribute ", e.Claim, e.Constraint) }

// Target is a request of the claim that is changed.
func (e AttributeEdit) Target() RequestRef { return RequestRef{Claim: e.Claim} }

// Of is the same edit of another claim.
func (e AttributeEdit) Of(claim int) Edit { e.Claim = claim; return e }
func (e AttributeEdit) readsOtherFields() {}

// Apply sets the attribute.
func (e AttributeEdit) Apply(d *Draft) {
	d.Claim(e.Claim).Spec.Devices.Constraints[e.Constraint].MatchAttribute = &e.Attribute
}

// Patch replaces the attribute.
func (e AttributeEdit) Patch(p *Patch) {
	p.Add("replace", fmt.Sprintf("%s/constraints/%d/matchAttribute", p.root, e.Constraint), string(e.Attribute))
}

// CapacityEdit asks for another amount of a capacity, or for none.
type CapacityEdit struct {
	At       RequestRef
	Capacity resourcev1.QualifiedName
	Amount   *resource.Quantity // nil asks for no particular amount
}

// Key names the requested capacity.
func (e CapacityEdit) Key() string {
	return fmt.Sprint("capacity ", e.At, e.Capacity, e.Amount == nil)
}

// Target is the request that is changed.
func (e CapacityEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e CapacityEdit) Of(claim int) Edit { e.At.Claim = claim; return e }

// Apply sets the amount, or no longer asks for the capacity.
func (e CapacityEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	if e.Amount != nil {
		if *f.Capacity == nil {
			*f.Capacity = &resourcev1.CapacityRequirements{}
		}
		if (*f.Capacity).Requests == nil {
			(*f.Capacity).Requests = map[resourcev1.QualifiedName]resource.Quantity{}
		}
		(*f.Capacity).Requests[e.Capacity] = *e.Amount
		return
	}
	delete((*f.Capacity).Requests, e.Capacity)
	if len((*f.Capacity).Requests) == 0 {
		*f.Capacity = nil
	}
}

// Patch replaces or removes the amount.
func (e CapacityEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At) + "/capacity/requests/" + escape(string(e.Capacity))
	if e.Amount == nil {
		p.dropped[e.At]++
		if p.dropped[e.At] == len((*FieldsOf(p.q.Claims, e.At).Capacity).Requests) {
			path = p.RequestPath(e.At) + "/capacity" // the last one: what is left would still ask for shares
		}
		p.Add("remove", path, nil)
		return
	}
	e.set(p, path)
}

// set writes the amount. The request may not ask for any of the capacity yet, or not for any capacity.
func (e CapacityEdit) set(p *Patch, path string) {
	asked := *FieldsOf(p.q.Claims, e.At).Capacity
	if asked != nil {
		if _, ok := asked.Requests[e.Capacity]; ok {
			p.Add("replace", path, e.Amount.String())
			return
		}
	}
	if (asked == nil || len(asked.Requests) == 0) && !p.asks[e.At] {
		p.asks[e.At] = true
		p.Add("add", p.RequestPath(e.At)+"/capacity", map[string]any{"requests": map[string]any{string(e.Capacity): e.Amount.String()}})
		return
	}
	p.Add("add", path, e.Amount.String())
}

// CapacityNameEdit asks for a capacity by another name.
type CapacityNameEdit struct {
	At             RequestRef
	Capacity, Name resourcev1.QualifiedName
}

// Key names the requested capacity and its other name.
func (e CapacityNameEdit) Key() string {
	return fmt.Sprint("capacity name ", e.At, e.Capacity, " ", e.Name)
}

// Target is the request that is changed.
func (e CapacityNameEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e CapacityNameEdit) Of(claim int) Edit { e.At.Claim = claim; return e }

// Apply moves the amount to the other name.
func (e CapacityNameEdit) Apply(d *Draft) {
	requests := (*d.Fields(e.At).Capacity).Requests
	requests[e.Name] = requests[e.Capacity]
	delete(requests, e.Capacity)
}

// Patch moves the amount.
func (e CapacityNameEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At) + "/capacity/requests/"
	amount := (*FieldsOf(p.q.Claims, e.At).Capacity).Requests[e.Capacity]
	p.Add("remove", path+escape(string(e.Capacity)), nil)
	p.Add("add", path+escape(string(e.Name)), amount.String())
}

// TolerationEdit adds a toleration to a request.
type TolerationEdit struct {
	At         RequestRef
	Toleration resourcev1.DeviceToleration
}

// Key names the toleration.
func (e TolerationEdit) Key() string {
	return fmt.Sprint("toleration ", e.At, e.Toleration.Key, " ", e.Toleration.Effect)
}

// Target is the request that is changed.
func (e TolerationEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e TolerationEdit) Of(claim int) Edit { e.At.Claim = claim; return e }

// feasible: who tolerates a fence gets a device that another claim holds.
func (e TolerationEdit) feasible(q *Question) bool {
	return e.Toleration.Key != inspect.FenceKey && !q.Generated(e.At.Claim)
}

// Apply appends the toleration.
func (e TolerationEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	*f.Tolerations = append(*f.Tolerations, e.Toleration)
}

// Patch adds the toleration.
func (e TolerationEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At) + "/tolerations"
	value := tolerationValue(&e.Toleration)
	if len(*FieldsOf(p.q.Claims, e.At).Tolerations) > 0 || p.tolerated[e.At] {
		p.Add("add", path+"/-", value)
		return
	}
	p.Add("add", path, []any{value})
	p.tolerated[e.At] = true
}

// ClassEdit asks for devices of another class.
type ClassEdit struct {
	At    RequestRef
	Class string
}

// Key names the class.
func (e ClassEdit) Key() string { return fmt.Sprint("class ", e.At) }

// Target is the request that is changed.
func (e ClassEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e ClassEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e ClassEdit) readsOtherFields()   {}
func (e ClassEdit) admitsOtherDevices() {}

// Apply sets the class.
func (e ClassEdit) Apply(d *Draft) { *d.Fields(e.At).Class = e.Class }

// Patch replaces the class.
func (e ClassEdit) Patch(p *Patch) {
	p.Add("replace", p.RequestPath(e.At)+"/deviceClassName", e.Class)
}

// RequestEdit drops a request.
type RequestEdit struct{ At RequestRef }

// Key names the request.
func (e RequestEdit) Key() string { return fmt.Sprint("request ", e.At) }

// Target is the request that is changed.
func (e RequestEdit) Target() RequestRef { return e.At }

// Of is the same edit of another claim.
func (e RequestEdit) Of(claim int) Edit { e.At.Claim = claim; return e }

// Apply notes the request, which is removed when all edits are known.
func (e RequestEdit) Apply(d *Draft) { d.requests[RequestRef{e.At.Claim, e.At.Request, -1}] = true }

// Patch writes nothing: the Patch itself removes from lists.
func (e RequestEdit) Patch(*Patch) {}

// ReleaseEdit takes the devices from a claim.
type ReleaseEdit struct{ Claim inspect.ClaimRef }

// Key names the claim.
func (e ReleaseEdit) Key() string { return "release " + e.Claim.String() }

// Apply takes the devices from the claim.
func (e ReleaseEdit) Apply(d *Draft) { d.release(e.Claim) }

// feasible: there is nothing to release where devices are held by supposition only.
func (e ReleaseEdit) feasible(q *Question) bool { return !q.Supposed[e.Claim] }

// FreeDevicesEdit takes the devices from a claim and leaves those who use it where they are. Nobody can do
// that; it says what the devices of the claim have to do with it, apart from the rest of the room that its
// pods take.
type FreeDevicesEdit struct{ Claim inspect.ClaimRef }

// Key names the claim. It is that of releasing it.
func (e FreeDevicesEdit) Key() string { return ReleaseEdit(e).Key() }

// Apply takes the devices from the claim.
func (e FreeDevicesEdit) Apply(d *Draft) { d.released[e.Claim] = true }

func (e FreeDevicesEdit) feasible(q *Question) bool { return ReleaseEdit(e).feasible(q) }

// ReleaseEdits release claims.
func ReleaseEdits(refs []inspect.ClaimRef) []Edit {
	return words.Each(refs, func(ref inspect.ClaimRef) Edit { return ReleaseEdit{ref} })
}

// GatesEdit turns feature gates on.
type GatesEdit struct{ Gates []inspect.Gate }

// Key names the feature gates.
func (e GatesEdit) Key() string { return fmt.Sprint("gates ", e.Gates) }

// Apply turns the gates on.
func (e GatesEdit) Apply(d *Draft) {
	for _, g := range e.Gates {
		d.gates[g] = true
	}
}

// PoolEdit completes a pool with what is published of it.
type PoolEdit struct{ Pool inspect.PoolID }

// Key names the pool.
func (e PoolEdit) Key() string { return "pool " + e.Pool.String() }

// Apply completes the pool.
func (e PoolEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) { suppose.CompletePool(o, e.Pool) }
}

// CountersEdit makes counters of a pool plenty. Nobody can do that; it says what runs out.
type CountersEdit struct {
	Pool    inspect.PoolID
	Counter string // "" stands for all of the pool
}

// Key names the counters.
func (e CountersEdit) Key() string             { return "counters " + e.Pool.String() }
func (e CountersEdit) feasible(*Question) bool { return false }

// Apply raises the counters.
func (e CountersEdit) Apply(d *Draft) {
	d.changes[e.Key()+" "+e.Counter] = func(o *inspect.Objects) { suppose.RaisePool(o, e.Pool, e.Counter) }
}
