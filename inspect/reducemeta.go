package inspect

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keptAnnotations are those that the scheduler reads, or that say what will become of a pod or a volume.
// Those that begin with keptPrefix are kept too: how a volume was bound and made, and which driver has taken
// it over.
var keptAnnotations = map[string]bool{
	NewerKey:                                           true,
	resourcev1.PodResourceClaimAnnotation:              true, // claims that were generated
	resourcev1.ExtendedResourceClaimAnnotation:         true,
	"kubernetes.io/ingress-bandwidth":                  true, // pods
	"kubernetes.io/egress-bandwidth":                   true,
	"volume.kubernetes.io/selected-node":               true, // claims for volumes
	"volume.kubernetes.io/storage-provisioner":         true,
	"volume.beta.kubernetes.io/storage-provisioner":    true,
	"volume.beta.kubernetes.io/storage-class":          true, // and volumes
	"storage.alpha.kubernetes.io/migrated-plugins":     true, // CSI nodes
	"storageclass.kubernetes.io/is-default-class":      true,
	"apf.kubernetes.io/autoupdate-spec":                true, // levels and FlowSchemas
	"storageclass.beta.kubernetes.io/is-default-class": true,
}

const keptPrefix = "pv.kubernetes.io/"

// ReduceAnnotations drops the annotations that nothing reads. Others may hold anything, secrets too. Of an
// announcement it keeps what is done, and since when.
func ReduceAnnotations(object metav1.Object) {
	var kept map[string]string
	for key, value := range object.GetAnnotations() {
		if key == AnnouncementKey {
			value = reducedAnnouncement(object)
		} else if !keptAnnotations[key] && !strings.HasPrefix(key, keptPrefix) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[key] = value
	}
	object.SetAnnotations(kept)
}
