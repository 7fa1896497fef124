package inspect

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pluginRegistry is the directory of a node in which its kubelet looks for the sockets of plugins. Where the
// kubelet has a directory of its own elsewhere, the last part of the path is still the same.
const pluginRegistry = "/var/lib/kubelet/plugins_registry"

// KubeletPlugin reports whether a pod can register a plugin with the kubelet of its node, as the pods of DRA
// drivers do: it mounts the directory in which the kubelet looks for plugins. The pods of CSI drivers do so
// too and are left out. A driver that registers by other means is not recognised.
func KubeletPlugin(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, isPluginRegistry) && !slices.ContainsFunc(pod.Spec.Containers, registersCSI)
}

func isPluginRegistry(v corev1.Volume) bool {
	return v.HostPath != nil && path.Base(path.Clean(v.HostPath.Path)) == path.Base(pluginRegistry)
}

// registersCSI reports whether a container registers a CSI driver with the kubelet. For that everybody uses
// the same program, in a container of its own: node-driver-registrar, formerly driver-registrar.
func registersCSI(c corev1.Container) bool { return strings.Contains(c.Name, "driver-registrar") }

// reducePluginRegistry keeps of a pod that it is a KubeletPlugin.
func reducePluginRegistry(pod *corev1.Pod) []corev1.Volume {
	if !KubeletPlugin(pod) {
		return nil
	}
	at := slices.IndexFunc(pod.Spec.Volumes, isPluginRegistry)
	return []corev1.Volume{{Name: pod.Spec.Volumes[at].Name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: pluginRegistry}}}}
}
