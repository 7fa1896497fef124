package whatif

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Edit is one hypothetical change. Edits are plain values, so that the same list can be tried on one node,
// verified on the whole snapshot, and written down as a patch. A new kind of edit is a new type; nothing else
// lists them.
type Edit interface {
	// Key identifies what the edit gives up. An edit that gives up less of the same, such as a count that is
	// lowered by one instead of to one, has the same key.
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

// SpecEdit is an edit of a claim that its owner can make: it can be written down as a patch, and tried without
// changing anything but the claims.
type SpecEdit interface {
	ClaimEdit
	// Patch writes the operations for fields of requests. Selectors, and what is removed from lists, are written
	// by the patch itself, because all edits of a list have to be known for that.
	Patch(p *Patch)
}

// PodEdit is an edit of the pod that asks.
type PodEdit interface {
	Edit
	// PatchPod writes the operations on the pod.
	PatchPod(p *Patch)
}

// readsOthers is implemented by edits that make a claim depend on other fields of devices than before, so that
// nodes that look alike to the question need not look alike any more.
type readsOthers interface{ readsOtherFields() }

// AdmitsOthers is implemented by edits that let a request have devices that it did not accept.
type AdmitsOthers interface{ admitsOtherDevices() }

// restricted is implemented by edits that not everybody may make, or that nobody can.
type restricted interface {
	// feasible reports whether somebody can, and may, make the edit.
	feasible(q *Question) bool
}

// Feasible reports whether somebody can make the edit. Into the claim that the scheduler generates for extended
// resources nobody can write.
func (q *Question) Feasible(e Edit) bool {
	if r, ok := e.(restricted); ok {
		return r.feasible(q)
	}
	s, ok := e.(SpecEdit)
	return !ok || !q.Generated(s.Target().Claim)
}

// IsClaimEdit reports whether the edit changes a claim of the question.
func IsClaimEdit(e Edit) bool {
	_, ok := e.(ClaimEdit)
	return ok
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

func (e CountEdit) Key() string             { return fmt.Sprint("count ", e.At) }
func (e CountEdit) Target() RequestRef      { return e.At }
func (e CountEdit) Of(claim int) Edit       { e.At.Claim = claim; return e }
func (e CountEdit) feasible(*Question) bool { return true } // of a generated claim it follows from the containers

func (e CountEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	*f.Mode, *f.Count = resourcev1.DeviceAllocationModeExactCount, e.Count
}

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

func (e TermEdit) Key() string         { return fmt.Sprint("term ", e.SelectorRef, e.Term) }
func (e TermEdit) Target() RequestRef  { return e.At }
func (e TermEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e TermEdit) admitsOtherDevices() {}
func (e TermEdit) Apply(d *Draft)      { d.replaceTerm(e.SelectorRef, e.Term, e.Expression) }
func (e TermEdit) Patch(*Patch)        {}

// ClassTermEdit replaces a term of a selector of the class of a request, or drops it. On one node that is tried for
// the request alone; in the whole snapshot the class is changed, for all who use it.
type ClassTermEdit struct {
	SelectorRef // of the class of the request
	Term        int
	Expression  string // instead of the term; "" drops it
}

func (e ClassTermEdit) Key() string         { return fmt.Sprint("class term ", e.SelectorRef, e.Term) }
func (e ClassTermEdit) Target() RequestRef  { return e.At }
func (e ClassTermEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e ClassTermEdit) admitsOtherDevices() {}
func (e ClassTermEdit) Apply(d *Draft)      { d.replaceClassTerm(e.SelectorRef, e.Term, e.Expression) }

// ConstraintEdit drops a constraint of a claim, or makes it about fewer requests.
type ConstraintEdit struct {
	Claim, Constraint int
	Requests          []string // that it is about; nil drops it
}

func (e ConstraintEdit) Key() string        { return fmt.Sprint("constraint ", e.Claim, e.Constraint) }
func (e ConstraintEdit) Target() RequestRef { return RequestRef{Claim: e.Claim} }
func (e ConstraintEdit) Of(claim int) Edit  { e.Claim = claim; return e }
func (e ConstraintEdit) Apply(d *Draft)     { d.changeConstraint(e.Claim, e.Constraint, e.Requests) }
func (e ConstraintEdit) Patch(*Patch)       {}

// AttributeEdit makes a constraint match another attribute.
type AttributeEdit struct {
	Claim, Constraint int
	Attribute         resourcev1.FullyQualifiedName
}

func (e AttributeEdit) Key() string        { return fmt.Sprint("attribute ", e.Claim, e.Constraint) }
func (e AttributeEdit) Target() RequestRef { return RequestRef{Claim: e.Claim} }
func (e AttributeEdit) Of(claim int) Edit  { e.Claim = claim; return e }
func (e AttributeEdit) readsOtherFields()  {}

func (e AttributeEdit) Apply(d *Draft) {
	d.Claim(e.Claim).Spec.Devices.Constraints[e.Constraint].MatchAttribute = &e.Attribute
}

func (e AttributeEdit) Patch(p *Patch) {
	p.Add("replace", fmt.Sprintf("%s/constraints/%d/matchAttribute", p.root, e.Constraint), string(e.Attribute))
}

// CapacityEdit asks for another amount of a capacity, or for none.
type CapacityEdit struct {
	At       RequestRef
	Capacity resourcev1.QualifiedName
	Amount   *resource.Quantity // nil asks for no particular amount
}

func (e CapacityEdit) Key() string {
	return fmt.Sprint("capacity ", e.At, e.Capacity, e.Amount == nil)
}
func (e CapacityEdit) Target() RequestRef { return e.At }
func (e CapacityEdit) Of(claim int) Edit  { e.At.Claim = claim; return e }

func (e CapacityEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	if e.Amount != nil {
		(*f.Capacity).Requests[e.Capacity] = *e.Amount
		return
	}
	delete((*f.Capacity).Requests, e.Capacity)
	if len((*f.Capacity).Requests) == 0 {
		*f.Capacity = nil
	}
}

func (e CapacityEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At) + "/capacity/requests/" + escape(string(e.Capacity))
	if e.Amount == nil {
		p.Add("remove", path, nil)
		return
	}
	p.Add("replace", path, e.Amount.String())
}

// TolerationEdit adds a toleration to a request.
type TolerationEdit struct {
	At         RequestRef
	Toleration resourcev1.DeviceToleration
}

func (e TolerationEdit) Key() string {
	return fmt.Sprint("toleration ", e.At, e.Toleration.Key, " ", e.Toleration.Effect)
}
func (e TolerationEdit) Target() RequestRef { return e.At }
func (e TolerationEdit) Of(claim int) Edit  { e.At.Claim = claim; return e }

// feasible: who tolerates a fence gets a device that another claim holds.
func (e TolerationEdit) feasible(q *Question) bool {
	return e.Toleration.Key != inspect.FenceKey && !q.Generated(e.At.Claim)
}

func (e TolerationEdit) Apply(d *Draft) {
	f := d.Fields(e.At)
	*f.Tolerations = append(*f.Tolerations, e.Toleration)
}

func (e TolerationEdit) Patch(p *Patch) {
	path := p.RequestPath(e.At) + "/tolerations"
	value := tolerationValue(&e.Toleration)
	if len(*FieldsOf(p.q.Claims, e.At).Tolerations) > 0 || p.tolerated[e.At] {
		p.Add("add", path+"/-", value)
		return
	}
	p.Add("add", path, []any{value})
	if p.tolerated == nil {
		p.tolerated = map[RequestRef]bool{}
	}
	p.tolerated[e.At] = true
}

// ClassEdit asks for devices of another class.
type ClassEdit struct {
	At    RequestRef
	Class string
}

func (e ClassEdit) Key() string         { return fmt.Sprint("class ", e.At) }
func (e ClassEdit) Target() RequestRef  { return e.At }
func (e ClassEdit) Of(claim int) Edit   { e.At.Claim = claim; return e }
func (e ClassEdit) readsOtherFields()   {}
func (e ClassEdit) admitsOtherDevices() {}
func (e ClassEdit) Apply(d *Draft)      { *d.Fields(e.At).Class = e.Class }

func (e ClassEdit) Patch(p *Patch) {
	p.Add("replace", p.RequestPath(e.At)+"/deviceClassName", e.Class)
}

// RequestEdit drops a request.
type RequestEdit struct{ At RequestRef }

func (e RequestEdit) Key() string        { return fmt.Sprint("request ", e.At) }
func (e RequestEdit) Target() RequestRef { return e.At }
func (e RequestEdit) Of(claim int) Edit  { e.At.Claim = claim; return e }
func (e RequestEdit) Apply(d *Draft)     { d.dropRequest(e.At) }
func (e RequestEdit) Patch(*Patch)       {}

// ReleaseEdit takes the devices from a claim.
type ReleaseEdit struct{ Claim inspect.ClaimRef }

func (e ReleaseEdit) Key() string    { return "release " + e.Claim.String() }
func (e ReleaseEdit) Apply(d *Draft) { d.release(e.Claim) }

// ReleaseEdits release claims.
func ReleaseEdits(refs []inspect.ClaimRef) []Edit {
	var out []Edit
	for _, ref := range refs {
		out = append(out, ReleaseEdit{ref})
	}
	return out
}

// GatesEdit turns feature gates on.
type GatesEdit struct{ Gates []inspect.Gate }

func (e GatesEdit) Key() string    { return fmt.Sprint("gates ", e.Gates) }
func (e GatesEdit) Apply(d *Draft) { d.enable(e.Gates...) }

// PoolEdit completes a pool with what is published of it.
type PoolEdit struct{ Pool inspect.PoolID }

func (e PoolEdit) Key() string { return "pool " + e.Pool.String() }
func (e PoolEdit) Apply(d *Draft) {
	d.Change(e.Key(), func(o *inspect.Objects) { completePool(o, e.Pool) })
}

// CountersEdit makes counters of a pool plenty. Nobody can do that; it says what runs out.
type CountersEdit struct {
	Pool    inspect.PoolID
	Counter string // "" stands for all of the pool
}

func (e CountersEdit) Key() string             { return "counters " + e.Pool.String() }
func (e CountersEdit) feasible(*Question) bool { return false }
func (e CountersEdit) Apply(d *Draft) {
	d.Change(e.Key()+" "+e.Counter, func(o *inspect.Objects) { raisePool(o, e.Pool, e.Counter) })
}
