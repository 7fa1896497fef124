package inspect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestReducedNodeFeatures: what a node must have a feature for can still be told of a reduced pod, wherever
// it stood.
func TestReducedNodeFeatures(t *testing.T) {
	container := corev1.Container{Name: "c", SecurityContext: &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "OCI"}}}
	certificate := func(types ...string) []corev1.Volume {
		p := &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{}}}}
		for _, key := range types {
			p.Sources = append(p.Sources, corev1.VolumeProjection{PodCertificate: &corev1.PodCertificateProjection{SignerName: "s", KeyType: key}})
		}
		return []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: p}}}
	}
	for name, test := range map[string]struct {
		spec       corev1.PodSpec
		oci, mldsa bool
	}{
		"nothing":        {spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}},
		"pod":            {spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SeccompProfile: container.SecurityContext.SeccompProfile}}, oci: true},
		"container":      {spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, container}}, oci: true},
		"init container": {spec: corev1.PodSpec{InitContainers: []corev1.Container{container}}, oci: true},
		"ephemeral container": {spec: corev1.PodSpec{EphemeralContainers: []corev1.EphemeralContainer{{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", SecurityContext: container.SecurityContext},
		}}}, oci: true},
		"other profile": {spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}}},
		"other key":     {spec: corev1.PodSpec{Volumes: certificate("ED25519")}},
		"key":           {spec: corev1.PodSpec{Volumes: certificate("ED25519", "MLDSA87")}, mldsa: true},
	} {
		pod := &corev1.Pod{Spec: test.spec}
		for range 2 {
			mldsa := len(pod.Spec.Volumes) > 0 && UsesMLDSA(&pod.Spec.Volumes[0].VolumeSource)
			if oci := UsesOCIProfile(&pod.Spec); oci != test.oci || mldsa != test.mldsa {
				t.Errorf("%s: %t, %t", name, oci, mldsa)
			}
			ReducePod(pod)
		}
		if c := pod.Spec.SecurityContext; c != nil && !test.oci || len(pod.Spec.Volumes) > 0 && !test.mldsa {
			t.Errorf("%s: more is kept than is needed: %+v", name, pod.Spec)
		}
	}
}
