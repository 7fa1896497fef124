package scores

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareVolumeBinding is the plugin VolumeBinding: the more is left of storage, the better (gate
// StorageCapacityScoring). What nodes get of it is not modelled, so it is a doubt where they can differ.
func prepareVolumeBinding(s *Scorer) (part, []filters.Doubt) {
	if !s.snapshot().Features().Enabled(inspect.GateStorageCapacityScoring) || !s.index.VolumesDiffer(s.pod) {
		return nil, nil
	}
	return nil, []filters.Doubt{{Plugin: filters.VolumeBinding, Key: "storage", Message: "nodes are compared by the size of volumes and by how much storage is left, which is not modelled"}}
}
