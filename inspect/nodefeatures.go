package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// seccompOCI is a type of seccomp profiles that 1.38 adds: they come from a registry.
const seccompOCI corev1.SeccompProfileType = "OCI"

// UsesOCIProfile reports whether a container of a pod has a seccomp profile from a registry. From 1.38 on a
// node must have the feature SecurityProfileOCI for that.
func UsesOCIProfile(spec *corev1.PodSpec) bool {
	uses := func(p *corev1.SeccompProfile) bool { return p != nil && p.Type == seccompOCI }
	container := func(c *corev1.SecurityContext) bool { return c != nil && uses(c.SeccompProfile) }
	return spec.SecurityContext != nil && uses(spec.SecurityContext.SeccompProfile) ||
		slices.ContainsFunc(spec.InitContainers, func(c corev1.Container) bool { return container(c.SecurityContext) }) ||
		slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return container(c.SecurityContext) }) ||
		slices.ContainsFunc(spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return container(c.SecurityContext) })
}

// keyTypesMLDSA are kinds of keys of certificates that 1.38 adds.
var keyTypesMLDSA = []string{"MLDSA44", "MLDSA65", "MLDSA87"}

// UsesMLDSA reports whether a volume has a certificate with an ML-DSA key. From 1.38 on a node must have the
// feature PodCertificateMLDSA for that.
func UsesMLDSA(v *corev1.VolumeSource) bool { return keyTypeMLDSA(v) != "" }

func keyTypeMLDSA(v *corev1.VolumeSource) string {
	if v.Projected == nil {
		return ""
	}
	for i := range v.Projected.Sources {
		if c := v.Projected.Sources[i].PodCertificate; c != nil && slices.Contains(keyTypesMLDSA, c.KeyType) {
			return c.KeyType
		}
	}
	return ""
}
