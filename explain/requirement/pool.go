package requirement

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var poolKind = Kind{name: explain.PoolRequired, Importance: 10, list: listPools}

// poolRequirement is that a pool must be complete and valid. It is given up by taking the pool with the
// slices that are published, without what contradicts itself in them.
type poolRequirement struct {
	explain.Requirement
	fault string // what is wrong with it; "" when slices are missing
	edit  whatif.PoolEdit
}

func listPools(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	add := func(p *inspect.NodePool, fault, format string, args ...any) {
		out = append(out, poolRequirement{explain.Requirement{
			Kind: explain.PoolRequired, Path: "resourceslices of pool " + p.ID.String(), Pool: p.ID, Term: fault,
			Message: fmt.Sprintf("pool %s offers nothing", p.ID) + fmt.Sprintf(format, args...),
		}, fault, whatif.PoolEdit{Pool: p.ID}})
	}
	for _, p := range s.exam.Pools {
		if p.Invalid != "" {
			add(p, p.Invalid, ": %s", p.Invalid)
		}
		if p.Incomplete {
			if p.SlicesSeen > p.SlicesWanted {
				add(p, "", " while it has %d slices and should have %d", p.SlicesSeen, p.SlicesWanted)
				continue
			}
			add(p, "", " while %d of its %d slices are published", p.SlicesSeen, p.SlicesWanted)
		}
	}
	return out
}

func (r poolRequirement) Describe() *explain.Requirement { return &r.Requirement }
func (r poolRequirement) Relaxing() whatif.Edit          { return r.edit }
func (r poolRequirement) Effort(*whatif.Question) int    { return 4 }
func (r poolRequirement) Price(*whatif.Question) int     { return CostDevices }

func (r poolRequirement) Propose(_ context.Context, _ *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	return []Change{r.change(node)}, nil
}

func (r poolRequirement) change(node inspect.NodeName) Change {
	return Change{
		Kind: explain.AddDevices, Edits: []whatif.Edit{r.edit}, Node: node, NamesNode: r.edit.Pool.Pool == string(node),
		Cost: CostDevices, Key: r.edit.Key(), Message: r.repair(),
	}
}

// Repairing proposes that the driver correct a pool, or publish what is missing of it.
func Repairing(p *inspect.NodePool, node inspect.NodeName) Change {
	return poolRequirement{fault: p.Invalid, edit: whatif.PoolEdit{Pool: p.ID}}.change(node)
}

// repair says what the driver has to do.
func (r poolRequirement) repair() string {
	if r.fault != "" {
		return fmt.Sprintf("have the driver correct pool %s: %s", r.edit.Pool, r.fault)
	}
	return "have the driver publish the missing slices of pool " + r.edit.Pool.String()
}

func (r poolRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return Part{explain.AddDevices, r.edit.Key(), r.repair()}, nil
}
