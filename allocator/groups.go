package allocator

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// Compatibility groups: devices that draw on one counter set must have a group in common.
//
// The set of groups shrinks to the intersection with each device that joins. Devices without groups
// only go together with devices without groups. Example: {mig} then {mig, vgpu} fits and leaves {mig};
// then {vgpu} does not fit.

// groupSet is the state of one counter set.
type groupSet struct {
	occupied  bool
	ungrouped bool     // the devices have no groups
	groups    []string // in common so far; may become empty when allocated devices contradict each other
}

func (g groupSet) admits(groups []string) bool {
	switch {
	case !g.occupied:
		return true
	case len(groups) == 0:
		return g.ungrouped
	case g.ungrouped:
		return false
	}
	return slices.ContainsFunc(groups, func(name string) bool { return slices.Contains(g.groups, name) })
}

func (g groupSet) with(groups []string) groupSet {
	if !g.occupied {
		return groupSet{occupied: true, ungrouped: len(groups) == 0, groups: groups}
	}
	if g.ungrouped || len(groups) == 0 {
		return g
	}
	var common []string
	for _, name := range g.groups {
		if slices.Contains(groups, name) {
			common = append(common, name)
		}
	}
	return groupSet{occupied: true, groups: common}
}

// groupsOf returns the state of the pool's counter sets, starting with the devices that are allocated.
func (v *view) groupsOf(pool *poolView) map[string]groupSet {
	if pool.groups != nil {
		return pool.groups
	}
	pool.groups = map[string]groupSet{}
	holders := v.cluster.snapshot.HoldersIn(pool.ID)
	join := func(slice *resourcev1.ResourceSlice) {
		for i := range slice.Spec.Devices {
			if !v.cluster.held(holders, slice.Spec.Devices[i].Name) {
				continue
			}
			for _, c := range slice.Spec.Devices[i].ConsumesCounters {
				pool.groups[c.CounterSet] = pool.groups[c.CounterSet].with(c.CompatibilityGroups)
			}
		}
	}
	for _, slice := range pool.Slices {
		join(slice.ResourceSlice)
	}
	for _, slice := range pool.Elsewhere {
		join(slice)
	}
	return pool.groups
}

// groupUndo restores the state of counter sets.
type groupUndo struct {
	set    string
	before groupSet
}

// joinGroups lets the device join its counter sets. It returns what undoes that, and false when the
// device does not go together with the others; then nothing is changed.
func (w *walk) joinGroups(a *alternative, candidate int) ([]groupUndo, bool) {
	c := &w.view.candidates[candidate]
	state := w.view.groupsOf(c.pool)
	var undo []groupUndo
	for i := range c.device.ConsumesCounters {
		use := &c.device.ConsumesCounters[i]
		before := state[use.CounterSet]
		if !before.admits(use.CompatibilityGroups) {
			w.leaveGroups(c.pool, undo)
			w.reject(a, candidate, CompatibilityGroupConflict, func(r *Rejection) { r.CounterSet = use.CounterSet })
			return nil, false
		}
		undo = append(undo, groupUndo{use.CounterSet, before})
		state[use.CounterSet] = before.with(use.CompatibilityGroups)
	}
	return undo, true
}

func (w *walk) leaveGroups(pool *poolView, undo []groupUndo) {
	for _, u := range slices.Backward(undo) {
		pool.groups[u.set] = u.before
	}
}
