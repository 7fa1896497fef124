package explain

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var poolKind = kind{name: PoolRequired, importance: 10, list: listPools}

// poolRequirement is that a pool must be complete and valid. It is given up by taking the pool with the slices that are
// published, without what contradicts itself in them.
type poolRequirement struct {
	Requirement
	fault string // what is wrong with it; "" when slices are missing
	edit  poolEdit
}

func listPools(_ context.Context, s *site) []requirement {
	var out []requirement
	add := func(p *inspect.NodePool, fault, format string, args ...any) {
		out = append(out, poolRequirement{Requirement{
			Kind: PoolRequired, Path: "resourceslices of pool " + p.ID.String(), Pool: p.ID, Term: fault,
			Message: fmt.Sprintf("pool %s offers nothing", p.ID) + fmt.Sprintf(format, args...),
		}, fault, poolEdit{p.ID}})
	}
	for _, p := range s.exam.Pools {
		if p.Invalid != "" {
			add(p, p.Invalid, ": %s", p.Invalid)
		}
		if p.Incomplete {
			add(p, "", " while %d of its %d slices are published", p.SlicesSeen, p.SlicesWanted)
		}
	}
	return out
}

func (r poolRequirement) describe() *Requirement { return &r.Requirement }
func (r poolRequirement) relaxing() edit         { return r.edit }
func (r poolRequirement) effort(*question) int   { return 4 }
func (r poolRequirement) price(*question) int    { return costDevices }

func (r poolRequirement) propose(_ context.Context, _ *clusterSandbox, node inspect.NodeName) ([]change, error) {
	return []change{{
		kind: AddDevices, edits: []edit{r.edit}, node: node, namesNode: r.edit.pool.Pool == string(node),
		cost: costDevices, key: r.edit.key(), message: r.repair(),
	}}, nil
}

// repair says what the driver has to do.
func (r poolRequirement) repair() string {
	if r.fault != "" {
		return fmt.Sprintf("have the driver correct pool %s: %s", r.edit.pool, r.fault)
	}
	return "have the driver publish the missing slices of pool " + r.edit.pool.String()
}

func (r poolRequirement) combine(context.Context, *combination, int) (part, error) {
	return part{AddDevices, r.edit.key(), r.repair()}, nil
}
