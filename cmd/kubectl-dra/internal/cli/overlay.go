package cli

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// overlay puts the objects of over on top of those of base: an object of the same name is replaced.
func overlay(base, over *inspect.Objects) {
	base.Claims = upsert(base.Claims, over.Claims)
	base.Templates = upsert(base.Templates, over.Templates)
	base.Classes = upsert(base.Classes, over.Classes)
	base.Slices = upsert(base.Slices, over.Slices)
	base.TaintRules = upsert(base.TaintRules, over.TaintRules)
	base.Pods = upsert(base.Pods, over.Pods)
	base.Nodes = upsert(base.Nodes, over.Nodes)
	base.PriorityLevels = upsert(base.PriorityLevels, over.PriorityLevels)
	base.FlowSchemas = upsert(base.FlowSchemas, over.FlowSchemas)
	base.StorageCapacities = upsert(base.StorageCapacities, over.StorageCapacities)
	base.StorageClasses = upsert(base.StorageClasses, over.StorageClasses)
	base.CSIDrivers = upsert(base.CSIDrivers, over.CSIDrivers)
	base.VolumeClaims = upsert(base.VolumeClaims, over.VolumeClaims)
	base.Volumes = upsert(base.Volumes, over.Volumes)
	base.Namespaces = upsert(base.Namespaces, over.Namespaces)
	base.CSINodes = upsert(base.CSINodes, over.CSINodes)
	base.VolumeAttachments = upsert(base.VolumeAttachments, over.VolumeAttachments)
	base.PodGroups = upsert(base.PodGroups, over.PodGroups)
	base.Quotas = upsert(base.Quotas, over.Quotas)
}

func upsert[T metav1.Object](base, over []T) []T {
	type key struct{ namespace, name string }
	at := make(map[key]int, len(base))
	for i, o := range base {
		at[key{o.GetNamespace(), o.GetName()}] = i
	}
	for _, o := range over {
		if i, ok := at[key{o.GetNamespace(), o.GetName()}]; ok {
			base[i] = o
		} else {
			base = append(base, o)
		}
	}
	return base
}
