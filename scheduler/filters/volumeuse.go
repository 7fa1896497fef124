package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// volumeUse is a volume of a pod that comes from a PersistentVolumeClaim.
type volumeUse struct {
	name objectName
	// ephemeral says that the claim is made for the pod (a generic ephemeral volume).
	ephemeral bool
	// claim is nil if there is none, or none is known.
	claim *corev1.PersistentVolumeClaim
	// toCome says that the claim will be made once the pod has been created.
	toCome bool
	// unread says that the claim may exist.
	unread bool
}

// volumesOf returns the volumes of a pod that come from claims, in the order of the pod. What the filters
// read of a pod's volumes is, besides the name of the volume: persistentVolumeClaim.claimName, whether there
// is an ephemeral, and of the disks that predate CSI all fields of gcePersistentDisk, awsElasticBlockStore,
// iscsi, rbd, azureDisk, cinder and portworxVolume.
//
// Of claims and volumes they read the annotations volume.beta.kubernetes.io/storage-class, of claims also
// those of binding (bind-completed, selected-node), and the owners; of volumes the labels, csi.driver,
// csi.volumeHandle and the fields of disks that predate CSI; of CSINodes the annotation
// storage.alpha.kubernetes.io/migrated-plugins.
func (x *Index) volumesOf(pod *corev1.Pod) []volumeUse {
	var out []volumeUse
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			out = append(out, x.volumeUseOf(pod, v))
		}
	}
	return out
}

// volumeUseOf is a volume of a pod that comes from a claim.
func (x *Index) volumeUseOf(pod *corev1.Pod, v *corev1.Volume) volumeUse {
	if c := v.PersistentVolumeClaim; c != nil {
		return x.volumeUse(pod.Namespace, c.ClaimName, false)
	}
	use := x.volumeUse(pod.Namespace, ephemeral.VolumeClaimName(pod, v), true)
	if use.claim == nil && !use.unread {
		use.claim = x.storage.byName().claimFor(pod, v)
		use.toCome = use.claim != nil
	}
	return use
}

func (x *Index) volumeUse(namespace, name string, ephemeral bool) volumeUse {
	use := volumeUse{name: objectName{namespace, name}, ephemeral: ephemeral}
	claims := x.storage.claims()
	use.claim = claims[use.name]
	use.unread = use.claim == nil && x.storageUnread(inspect.VolumeClaims, namespace, len(claims))
	return use
}

// object names the claim.
func (u *volumeUse) object() Object {
	return Object{Kind: "PersistentVolumeClaim", Namespace: u.name.namespace, Name: u.name.name}
}

// absent says, for a plugin that needs a claim which is not known, why the pod cannot run anywhere.
func (u *volumeUse) absent(plugin Plugin) Outcome {
	switch {
	case u.unread:
		return doubt(Doubt{Plugin: plugin, Resource: inspect.VolumeClaims, Key: u.name.String(), Message: fmt.Sprintf("the volume claim %s could not be read", u.name)})
	case u.ephemeral:
		return u.unusable(plugin, "absent", fmt.Sprintf("the volume claim %s, which is made for the pod, does not exist yet", u.name))
	default:
		return u.unusable(plugin, "absent", fmt.Sprintf("the volume claim %s does not exist", u.name))
	}
}

// unusable is the refusal of a claim in a state in which no pod can use it. The plugins that look at claims
// notice the same things, in the same words.
func (u *volumeUse) unusable(plugin Plugin, state, message string) Outcome {
	return refuse(Refusal{
		Plugin: plugin, Code: VolumeUnbound, Key: state + " " + u.name.String(), Unresolvable: true, Object: u.object(), Message: message,
	})
}

// fromOtherPod says that a claim was not made for the pod whose ephemeral volume it would have to be, or
// nothing.
func (u *volumeUse) fromOtherPod(plugin Plugin, pod *corev1.Pod) Outcome {
	if !u.ephemeral || ephemeral.VolumeIsForPod(pod, u.claim) == nil {
		return Outcome{}
	}
	return u.unusable(plugin, "other's", fmt.Sprintf("the volume claim %s has the name of the pod's own one, and was not made for the pod", u.name))
}

// once leaves out refusals and doubts that say the same as one before.
func (o Outcome) once() Outcome {
	var out Outcome
	type key struct {
		code Code
		key  string
	}
	refusals, doubts := map[key]bool{}, map[key]bool{}
	for _, r := range o.Refusals {
		if k := (key{r.Code, r.Key}); !refusals[k] {
			refusals[k], out.Refusals = true, append(out.Refusals, r)
		}
	}
	for _, d := range o.Doubts {
		if k := (key{Code(d.Resource), d.Key}); !doubts[k] {
			doubts[k], out.Doubts = true, append(out.Doubts, d)
		}
	}
	return out
}
