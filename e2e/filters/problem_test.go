package filters

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// problem is a cluster, and pods to ask about.
type problem struct {
	// objects are written as a user would: without what the API server fills in.
	objects inspect.Objects
	// asked are the pods that are asked about. They wait in the cluster, too, except those that name a node:
	// these are not there, because a pod that names its node runs on it.
	asked []*corev1.Pod
	// gates are those that are not as they are by default.
	gates map[inspect.Gate]bool
	// controllers are objects that are not inspected.
	controllers controllers
	// minor is the minor release of the server, or 0 for that of the libraries.
	minor int
	// scheduler is the configuration of kube-scheduler, or nil.
	scheduler *schedulerconfig.Config
}

// about is the problem of a single one of its pods.
func (p *problem) about(pod *corev1.Pod) *problem {
	out := p.asking(pod)
	for _, other := range p.asked {
		if other != pod && other.Spec.NodeName == "" {
			out.objects.Pods = append(out.objects.Pods, other)
		}
	}
	return out
}

// asking is a copy that asks about a single pod instead of all others, of which the cluster knows nothing
// then.
func (p *problem) asking(pod *corev1.Pod) *problem {
	out := &problem{objects: p.objects, asked: []*corev1.Pod{pod}, gates: maps.Clone(p.gates), controllers: p.controllers, minor: p.minor, scheduler: p.scheduler}
	out.objects.Pods = slices.Clone(p.objects.Pods)
	return out
}

// features are those of the release, with the gates of the problem.
func (p *problem) features() inspect.Features {
	return inspect.DefaultFeatures(cmp.Or(p.minor, inspect.NewestMinor)).With(p.gates)
}
