package cli

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// volumeResources are what decides where a volume can be.
var volumeResources = []inspect.Resource{
	inspect.VolumeClaims, inspect.Volumes, inspect.StorageClasses, inspect.StorageCapacities, inspect.CSIDrivers, inspect.CSINodes,
	inspect.VolumeAttachments, inspect.Pods, inspect.Nodes,
}

// volumeClaims are the names of the claims for volumes that are asked about. They are a question of their own.
func (o *explainOptions) volumeClaims() ([]string, error) {
	var names []string
	for _, n := range o.asked {
		if n.kind.resource == inspect.VolumeClaims {
			names = append(names, n.name)
		}
	}
	if len(names) > 0 && len(names) < len(o.asked) {
		return nil, usagef("where a volume can be is a question of its own: ask about pvc %s without other types", commaList(names))
	}
	return names, nil
}

// explainVolumeClaims answers where the volumes of claims can be.
func explainVolumeClaims(ctx context.Context, o *explainOptions, names []string) error {
	snapshot, err := o.reader.read(ctx, o.namespace, volumeResources)
	if err != nil {
		return err
	}
	if _, ok := snapshot.Node(o.nodeName()); o.node != "" && !ok {
		return notFound(snapshot, kindNode, "", o.node)
	}
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	var answers []*explain.Explanation
	for _, name := range names {
		if !exists(snapshot, kindVolumeClaim, o.namespace, name) {
			return notFound(snapshot, kindVolumeClaim, o.namespace, name)
		}
		answer, err := question.VolumeClaim(ctx, cluster, o.namespace, name, question.Options{Node: o.nodeName()})
		if err != nil {
			return err
		}
		answers = append(answers, answer)
	}
	return printExplanations(o, answers)
}

// exists reports whether there is an object of a kind.
func exists(s *inspect.Snapshot, k kind, namespace, name string) bool {
	for _, o := range objectNames(s, k) {
		if o.Namespace == namespace && o.Name == name {
			return true
		}
	}
	return false
}
