package filters

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	declared "k8s.io/component-helpers/nodedeclaredfeatures"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// requiredSince says from which minor release on the scheduler requires a feature that a node declares of the
// nodes of some pods. The library is that of the newest release.
var requiredSince = map[string]int{
	"RestartAllContainersOnContainerExits": 35,
	"UserNamespacesHostNetworkSupport":     36,
	"VolumeBindMountOptions":               37,
}

// prepareNodeDeclaredFeatures is the plugin NodeDeclaredFeatures: a node must declare the features that a pod
// needs.
func prepareNodeDeclaredFeatures(p *Prepared) (check, Outcome) {
	if !p.snapshot.Features().Enabled(inspect.GateNodeDeclaredFeatures) {
		return nil, Outcome{}
	}
	needed, err := featuresFor(p.Pod, p.snapshot.Release().Modelled())
	switch {
	case err != nil:
		return nil, doubt(Doubt{Plugin: NodeDeclaredFeatures, Key: "error", Message: "which features the pod needs of a node could not be found out: " + err.Error()})
	case len(needed) == 0:
		return nil, Outcome{}
	}
	if unknown := p.unknownNode(NodeDeclaredFeatures, "which features it has"); len(unknown.Doubts) > 0 {
		return always(unknown), Outcome{}
	}
	return nodeDeclaredFeatures{needed: needed, files: p.snapshot.ServerVersion() == ""}, Outcome{}
}

// featuresFor returns the features that the scheduler of a release requires of the nodes of a pod, sorted.
func featuresFor(pod *corev1.Pod, release inspect.Release) ([]string, error) {
	set, err := declared.DefaultFramework.InferForPodScheduling(&declared.PodInfo{Spec: &pod.Spec}, version.MajorMinor(1, uint(release.Minor)))
	if err != nil {
		return nil, err
	}
	names, err := declared.DefaultFramework.Unmap(set)
	names = slices.DeleteFunc(names, func(name string) bool { return release.Before(requiredSince[name], 0) })
	if !release.Before(38, 0) {
		names = append(names, featuresOf38(&pod.Spec)...)
		slices.Sort(names)
	}
	return names, err
}

// featuresOf38 returns the features that 1.38 adds, which the library does not have yet.
func featuresOf38(spec *corev1.PodSpec) []string {
	var names []string
	if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return inspect.UsesMLDSA(&v.VolumeSource) }) {
		names = append(names, "PodCertificateMLDSA")
	}
	if inspect.UsesOCIProfile(spec) {
		names = append(names, "SecurityProfileOCI")
	}
	return names
}

type nodeDeclaredFeatures struct {
	needed []string // sorted
	files  bool     // nodes may be written by hand
}

func (c nodeDeclaredFeatures) on(n *nodeInfo) Outcome {
	var missing []string
	for _, name := range c.needed {
		if !slices.Contains(n.Status.DeclaredFeatures, name) {
			missing = append(missing, name)
		}
	}
	names := strings.Join(missing, ", ")
	switch {
	case len(missing) == 0:
		return Outcome{}
	case c.files && len(n.Status.DeclaredFeatures) == 0 && n.Status.NodeInfo.KubeletVersion == "": // whoever reports a version would declare them
		return doubt(Doubt{Plugin: NodeDeclaredFeatures, Resource: inspect.Nodes, Key: names, Message: "the node does not say which features it has; the pod needs " + names})
	}
	return refuse(Refusal{
		Plugin: NodeDeclaredFeatures, Code: DeclaredFeature, Unresolvable: true, Key: names,
		Message: "the kubelet of the node lacks what the pod needs: " + names,
	})
}
