package volume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// volumeDecides says in a clause what decides about a claim on a node.
func volumeDecides(v *filters.VolumeVerdict) string {
	switch v.Rule {
	case filters.VolumeReach:
		return "volume " + v.By.Name
	case filters.VolumeSelected:
		return "the volume is being made for node " + v.By.Name
	case filters.VolumeTopology:
		return "the topologies that class " + v.By.Name + " allows"
	case filters.VolumeRoom:
		if v.By.Name == "" {
			return "no storage of the class is reached"
		}
		if v.Offered == nil {
			return fmt.Sprintf("%s/%s, which says no size at the moment", v.By.Namespace, v.By.Name)
		}
		return fmt.Sprintf("%s/%s (%s)", v.By.Namespace, v.By.Name, v.Field)
	case filters.VolumeUntracked:
		if v.By.Kind == "CSIDriver" {
			return "CSIDriver " + v.By.Name + " does not set storageCapacity, so nobody looks at what is left"
		}
		return "there is no CSIDriver for the provisioner, so nobody looks at what is left"
	case filters.VolumeSizeless:
		return "it asks for no size"
	case filters.VolumeShared:
		return "volumes that other claims of the pod take"
	case filters.VolumeExisting:
		if v.By.Kind == "PersistentVolume" {
			return "volume " + v.By.Name
		}
		return "no volume of class " + v.By.Name + " suits"
	}
	return ""
}

// volumeLimits are a sentence for each thing that could not be read, and for what is not known because of
// that.
func volumeLimits(s *inspect.Snapshot, a *filters.VolumeAnswer) []string {
	var l cycle.Limits
	if s.NodesAssumed() {
		l.AssumedNodes(s)
	}
	for _, r := range []inspect.Resource{
		inspect.VolumeClaims, inspect.Volumes, inspect.StorageClasses, inspect.CSIDrivers, inspect.StorageCapacities,
		inspect.CSINodes, inspect.VolumeAttachments, inspect.Pods,
	} {
		h := s.Health(r)
		remark := cycle.DescribeHealth(r, h)
		if h.State == inspect.Incomplete {
			remark += ": what is in there is not seen here"
		}
		if h.Partial() && !slices.Contains(l.Remarks, remark) {
			l.Remarks = append(l.Remarks, remark)
		}
	}
	doubts := slices.Clone(a.Everywhere.Doubts)
	for i := range a.Nodes {
		o := a.Nodes[i].Outcome()
		doubts = append(doubts, o.Doubts...)
	}
	for _, d := range doubts {
		if !slices.Contains(l.Remarks, d.Message) {
			l.Remarks = append(l.Remarks, d.Message)
		}
	}
	return l.Remarks
}

// volumeGroups are the nodes that are refused, together where that is for the same reasons. The largest group
// comes first.
func volumeGroups(a *filters.VolumeAnswer) []explain.Group {
	var groups []explain.Group
	at := map[string]int{}
	for i := range a.Nodes {
		o := a.Nodes[i].Outcome()
		refusals := append(slices.Clone(a.Everywhere.Refusals), o.Refusals...)
		if len(refusals) == 0 {
			continue
		}
		var key strings.Builder
		for _, r := range refusals {
			fmt.Fprintf(&key, "%s %s %s\n", r.Plugin, r.Code, r.Key)
		}
		g, known := at[key.String()]
		if !known {
			g = len(groups)
			at[key.String()] = g
			groups = append(groups, explain.Group{Reasons: volumeReasons(refusals)})
		}
		group := &groups[g]
		group.Nodes, group.Missing = append(group.Nodes, a.Nodes[i].Node), append(group.Missing, 0)
		for k := range group.Reasons {
			if r := &group.Reasons[k]; r.Message != refusals[k].Message {
				r.Found, r.Message = "", volumeReasonOfAll(&refusals[k])
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	return groups
}

func volumeReasons(refusals []filters.Refusal) []explain.Reason {
	var out []explain.Reason
	for _, r := range refusals {
		out = append(out, explain.Reason{Code: allocator.Code(r.Code), Key: string(r.Plugin) + " " + r.Key, Found: r.Message, Message: r.Message})
	}
	return out
}

// volumeReasonOfAll is a reason for several nodes that differ in what they offer.
func volumeReasonOfAll(r *filters.Refusal) string {
	switch r.Code {
	case filters.VolumeCapacity, filters.VolumeUnbound:
		return fmt.Sprintf("what the claim %s/%s asks for is more than these nodes can have", r.Object.Namespace, r.Object.Name)
	case filters.VolumeLimit:
		return "these nodes have as many volumes of the driver as they can attach"
	}
	return fmt.Sprintf("the claim %s/%s cannot be served on these nodes", r.Object.Namespace, r.Object.Name)
}
