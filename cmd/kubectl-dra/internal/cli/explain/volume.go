package explain

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/volume"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// volumeResources are what decides where a volume can be.
var volumeResources = []inspect.Resource{
	inspect.VolumeClaims, inspect.Volumes, inspect.StorageClasses, inspect.StorageCapacities, inspect.CSIDrivers, inspect.CSINodes,
	inspect.VolumeAttachments, inspect.Pods, inspect.Nodes,
}

// volumeClaims are the names of the claims for volumes that are asked about. They are a question of their
// own.
func (o *explainOptions) volumeClaims() ([]string, error) {
	var names []string
	for _, n := range o.Asked {
		if n.Kind.Resource == inspect.VolumeClaims {
			names = append(names, n.Name)
		}
	}
	if len(names) > 0 && len(names) < len(o.Asked) {
		return nil, console.Usagef("where a volume can be is a question of its own: ask about pvc %s without other types", console.CommaList(names))
	}
	return names, nil
}

// explainVolumeClaims answers where the volumes of claims can be.
func explainVolumeClaims(ctx context.Context, o *explainOptions, names []string) error {
	snapshot, err := o.Reader.Read(ctx, o.Namespace, volumeResources)
	if err != nil {
		return err
	}
	if _, ok := snapshot.Node(o.NodeName()); o.Node != "" && !ok {
		return inquiry.NotFound(snapshot, inquiry.Node, "", o.Node)
	}
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	var answers []*explain.Explanation
	for _, name := range names {
		if _, ok := snapshot.VolumeClaim(o.Namespace, name); !ok {
			return inquiry.NotFound(snapshot, inquiry.VolumeClaim, o.Namespace, name)
		}
		answer, err := volume.Explain(ctx, cluster, o.Namespace, name, question.Options{Node: o.NodeName()})
		if err != nil {
			return err
		}
		answers = append(answers, answer)
	}
	return printExplanations(o, answers)
}
