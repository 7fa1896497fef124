package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
)

// DefragmentPlan is the wire form of explain.Defragmentation: a Plan of moves, and how many claims fit after
// the first of them.
type DefragmentPlan struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Like       explain.Subject `json:"like"`
	Defragment []DefragmentRow `json:"defragment"`
	Moves      []Move          `json:"moves"`
	// Complete: it is proved that no further moves of those asked about make room for one more.
	Complete bool          `json:"complete"`
	Doubts   []string      `json:"doubts,omitempty"`
	Partial  []string      `json:"partial"`
	Basis    explain.Basis `json:"basis"`
}

// DefragmentRow is the number of copies that fit after the first so many moves.
type DefragmentRow struct {
	Moves  int `json:"moves"`
	Copies int `json:"copies"`
}

// NewDefragmentPlan returns the wire form of a defragmentation.
func NewDefragmentPlan(d *explain.Defragmentation) *DefragmentPlan {
	return &DefragmentPlan{
		APIVersion: output.APIVersion, Kind: "Plan", Like: d.Like, Moves: output.Each(d.Moves, move), Complete: d.Complete, Doubts: d.Doubts,
		Defragment: output.Each(d.Rows, func(r explain.DefragmentRow) DefragmentRow { return DefragmentRow(r) }),
		Partial:    output.OrEmpty(d.Partial), Basis: d.Basis,
	}
}
