package filters

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// UnitsOf is an amount of a resource in the unit of the scheduler. Fractions are rounded up.
func UnitsOf(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// QuantityOf is an amount of a resource as manifests have it.
func QuantityOf(name corev1.ResourceName, units int64) resource.Quantity {
	return Amount{name, units}.Quantity()
}

// Words says an amount of a resource for the reader, as "12 CPUs" or "64Gi of memory". Bytes are rounded up.
func Words(name corev1.ResourceName, units int64) string { return Amount{name, units}.String() }

// WordsLeft says what is left of a resource, as Words does. Bytes are rounded down.
func WordsLeft(name corev1.ResourceName, units int64) string {
	a := Amount{name, units}
	return a.named(a.number(false))
}

// NumberLeft is WordsLeft without the name of the resource.
func NumberLeft(name corev1.ResourceName, units int64) string {
	return Amount{name, units}.number(false)
}
