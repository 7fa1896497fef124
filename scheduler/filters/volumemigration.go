package filters

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	builtin "k8s.io/csi-translation-lib/plugins"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// migrates reports whether the scheduler may treat what a plugin serves that Kubernetes once had built in as
// volumes of the CSI driver that came after it.
func migrates(plugin string) bool {
	switch plugin {
	case builtin.AWSEBSInTreePluginName, builtin.GCEPDInTreePluginName, builtin.AzureDiskInTreePluginName,
		builtin.CinderInTreePluginName, builtin.PortworxVolumePluginName:
		return true
	}
	return false
}

// migratedOn reports whether the kubelet of a node says that it uses the CSI driver in place of a plugin. It
// is not known if the CSINode was not read.
func (x *Index) migratedOn(plugin string, n *nodeInfo) (migrated, known bool) {
	if plugin == "" {
		return false, true
	}
	nodes := x.storage.byName().nodes
	node := nodes[n.Name]
	if node == nil {
		return false, !x.storageUnread(inspect.CSINodes, "", len(nodes)) && !x.snapshot.NodesAssumed()
	}
	return saysMigrated(node, plugin), true
}

func saysMigrated(node *storagev1.CSINode, plugin string) bool {
	return slices.Contains(strings.Split(node.Annotations[corev1.MigratedPluginsAnnotationKey], ","), plugin)
}

// countsMigrated reports whether volumes of a plugin count towards what the CSI driver that came after it can
// attach. Only for Portworx, and only before 1.36, the node has to say that it has migrated
// (pkg/scheduler/framework/plugins/nodevolumelimits, isCSIMigrationOn).
func (x *Index) countsMigrated(plugin string, node *storagev1.CSINode) bool {
	switch {
	case plugin == "":
		return true
	case node == nil:
		return false
	}
	return plugin != builtin.PortworxVolumePluginName || x.snapshot.Features().Minor >= 36 || saysMigrated(node, plugin)
}
