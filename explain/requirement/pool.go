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
type poolRequirement struct{ relaxable[whatif.PoolEdit] }

func listPools(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	add := func(p *inspect.NodePool, fault, format string, args ...any) {
		out = append(out, poolRequirement{relaxable[whatif.PoolEdit]{explain.Requirement{
			Kind: explain.PoolRequired, Path: "resourceslices of pool " + p.ID.String(), Pool: p.ID, Term: fault,
			Message: fmt.Sprintf("pool %s offers nothing", p.ID) + fmt.Sprintf(format, args...),
		}, whatif.PoolEdit{Pool: p.ID}, 4, CostDevices}})
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

func (r poolRequirement) Propose(_ context.Context, _ *whatif.Question, node inspect.NodeName) []Change {
	return []Change{repairing(r.edit, r.Term, node)}
}

// Repairing proposes that the driver correct a pool, or publish what is missing of it.
func Repairing(p *inspect.NodePool, node inspect.NodeName) Change {
	return repairing(whatif.PoolEdit{Pool: p.ID}, p.Invalid, node)
}

// repairing is Repairing for a pool with a fault, or without slices if that is "".
func repairing(e whatif.PoolEdit, fault string, node inspect.NodeName) Change {
	message := "have the driver publish the missing slices of pool " + e.Pool.String()
	if fault != "" {
		message = fmt.Sprintf("have the driver correct pool %s: %s", e.Pool, fault)
	}
	return Change{
		Kind: explain.AddDevices, Edits: []whatif.Edit{e}, Node: node, NamesNode: e.Pool.Pool == string(node),
		Cost: CostDevices, Key: e.Key(), Message: message,
	}
}

func (r poolRequirement) Combine(context.Context, *Combination, int) Part {
	return Part{explain.AddDevices, r.edit.Key(), repairing(r.edit, r.Term, "").Message}
}
