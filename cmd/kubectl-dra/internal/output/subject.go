package output

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// Subject is what was asked about.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// NewSubject is a subject on the wire.
func NewSubject(s explain.Subject) Subject { return Subject(s) }

// FullName names a subject with its namespace.
func (s Subject) FullName() string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + "/" + s.Name
}

// Basis says as which scheduler it was decided.
type Basis struct {
	Version  string `json:"version"`
	Variant  string `json:"variant" enum:"allocator.Variant"`
	Features string `json:"features"`
	Revision int64  `json:"revision"`
	// AsOf is the moment of a log.
	AsOf    *time.Time `json:"asOf,omitempty"`
	Remarks []string   `json:"remarks,omitempty"`
}

// NewBasis is a basis on the wire.
func NewBasis(b explain.Basis) Basis {
	return Basis{
		Version: b.Version, Variant: string(b.Variant), Features: b.Source, Revision: b.Revision, AsOf: OptionalUTC(b.AsOf), Remarks: b.Remarks,
	}
}

// TaintRule is a DeviceTaintRule, with its age and the field manager that set its taint, where these are
// known.
type TaintRule struct {
	Name    string `json:"name"`
	Age     string `json:"age,omitempty"`
	Manager string `json:"manager,omitempty"`
}

// NewTaintRules are rules on the wire.
func NewTaintRules(rules []explain.TaintRule) []TaintRule {
	return Optional(rules, func(r explain.TaintRule) TaintRule { return TaintRule(r) })
}
