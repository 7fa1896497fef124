package filters

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	csitranslation "k8s.io/csi-translation-lib"
)

// attachable is what of a volume counts towards the volumes that a node can attach by a driver. The zero
// value counts nowhere.
type attachable struct {
	attachedVolume
	// plugin is the one that served such volumes before CSI drivers did, or "": only on nodes that have
	// migrated from it does the volume count.
	plugin string
}

// attachedVolume is a volume on a node. Several pods on a node that use it attach it once.
type attachedVolume struct {
	driver, handle string
	// claim is set instead of the handle for a volume that is not known yet.
	claim objectName
}

// counts reports whether the volume counts on some node.
func (a attachable) counts() bool { return a.driver != "" && (a.plugin == "" || migrates(a.plugin)) }

// attachables says of each claim how it counts.
func (o *volumeObjects) attachables(claims map[objectName]*corev1.PersistentVolumeClaim) map[objectName]attachable {
	out := make(map[objectName]attachable, len(claims))
	for name, claim := range claims {
		if a := o.attachable(claim); a.counts() && (a.handle != "" || a.claim != objectName{}) {
			out[name] = a
		}
	}
	return out
}

// attachable says how a claim counts: as its volume, or, if that is not known, as what its storage class
// would make.
func (o *volumeObjects) attachable(claim *corev1.PersistentVolumeClaim) attachable {
	pv := o.volumes[claim.Spec.VolumeName]
	switch {
	case claim.Spec.VolumeName == "" || pv == nil:
		return attachableOfClass(o.classes[classOfClaim(claim)], objectName{claim.Namespace, claim.Name})
	case pv.Spec.CSI != nil:
		return attachable{attachedVolume: attachedVolume{driver: pv.Spec.CSI.Driver, handle: pv.Spec.CSI.VolumeHandle}}
	}
	return attachableBuiltIn(pv)
}

func attachableOfClass(class *storagev1.StorageClass, claim objectName) attachable {
	if class == nil {
		return attachable{}
	}
	translator := csitranslation.New()
	if !translator.IsMigratableIntreePluginByName(class.Provisioner) {
		return attachable{attachedVolume: attachedVolume{driver: class.Provisioner, claim: claim}}
	}
	driver, err := translator.GetCSINameFromInTreeName(class.Provisioner)
	if err != nil {
		return attachable{}
	}
	return attachable{attachedVolume: attachedVolume{driver: driver, claim: claim}, plugin: class.Provisioner}
}

// attachableBuiltIn says how a volume counts that was made for what Kubernetes once had built in.
func attachableBuiltIn(pv *corev1.PersistentVolume) attachable {
	translator := csitranslation.New()
	if !translator.IsPVMigratable(pv) {
		return attachable{}
	}
	plugin, err := translator.GetInTreePluginNameFromSpec(pv, nil)
	if err != nil || !migrates(plugin) {
		return attachable{}
	}
	translated, err := translator.TranslateInTreePVToCSI(logr.Discard(), pv)
	if err != nil || translated.Spec.CSI == nil {
		return attachable{}
	}
	return attachable{attachedVolume: attachedVolume{driver: translated.Spec.CSI.Driver, handle: translated.Spec.CSI.VolumeHandle}, plugin: plugin}
}

// attachableInline says how a disk counts that a pod names itself. The error says why its CSI driver cannot
// serve it.
func attachableInline(v *corev1.Volume, namespace string) (attachable, error) {
	if !builtInDisk(v) {
		return attachable{}, nil
	}
	translator := csitranslation.New()
	plugin, err := translator.GetInTreePluginNameFromSpec(nil, v)
	if err != nil || !migrates(plugin) {
		return attachable{}, nil //nolint:nilerr // a plugin that is not known does not migrate
	}
	translated, err := translator.TranslateInTreeInlineVolumeToCSI(logr.Discard(), v, namespace)
	if err != nil {
		return attachable{plugin: plugin}, err
	}
	driver, err := translator.GetCSINameFromInTreeName(plugin)
	if err != nil || translated.Spec.CSI == nil {
		return attachable{plugin: plugin}, err
	}
	return attachable{attachedVolume: attachedVolume{driver: driver, handle: translated.Spec.CSI.VolumeHandle}, plugin: plugin}, nil
}

// builtInDisk reports whether a pod names a disk itself that a CSI driver may serve today.
func builtInDisk(v *corev1.Volume) bool {
	return v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.AzureDisk != nil || v.Cinder != nil || v.PortworxVolume != nil
}
