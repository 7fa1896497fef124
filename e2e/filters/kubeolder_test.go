//go:build kube134 || kube135 || kube136

package filters

import (
	"slices"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// newInformers are those of the scheduler. They show all objects again after an hour, which never comes here:
// those of 1.34 that never do wait for a channel that no bubble of synctest has, so that it would not end.
func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return upstream.NewInformerFactory(client, time.Hour)
}

// setOthers turns off what depends on gates that are off.
func (p *kubeProblem) setOthers(set func(featuregate.Feature, bool)) {
	type dependent interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}
	gates, ok := utilfeature.DefaultMutableFeatureGate.(dependent)
	if !ok {
		return // gates of 1.34 depend on no others
	}
	off := func(name featuregate.Feature) bool { on, given := p.Gates[string(name)]; return given && !on }
	for name, needs := range gates.Dependencies() {
		if _, given := p.Gates[string(name)]; !given {
			set(name, allOn[name] && !slices.ContainsFunc(needs, off))
		}
	}
}

// allOn are the gates that are on by default.
var allOn = func() map[featuregate.Feature]bool {
	out := map[featuregate.Feature]bool{}
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		out[name] = utilfeature.DefaultMutableFeatureGate.Enabled(name)
	}
	return out
}()

// nominatedOn are the pods that are nominated to a node.
func nominatedOn(f framework.Framework, node string) []fwk.PodInfo {
	return f.NominatedPodsForNode(node)
}

// group says nothing: the gates of groups, which are alpha, stay off.
func (q *kubeQuestion) group() []kubeRefusal { return nil }
