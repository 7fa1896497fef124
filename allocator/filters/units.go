package filters

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// UnitsOf is an amount of a resource in the unit of the scheduler: thousandths of a CPU, otherwise what the resource counts.
// Fractions are rounded up.
func UnitsOf(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// QuantityOf is an amount of a resource as objects write it.
func QuantityOf(name corev1.ResourceName, units int64) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(units, resource.DecimalSI)
	case countsBytes(name):
		return *resource.NewQuantity(units, resource.BinarySI)
	}
	return *resource.NewQuantity(units, resource.DecimalSI)
}

func countsBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// Words says an amount of a resource for the reader, as "12 CPUs" or "64Gi of memory".
func Words(name corev1.ResourceName, units int64) string {
	q := QuantityOf(name, units)
	switch {
	case name == corev1.ResourceCPU && units == 1000:
		return "1 CPU"
	case name == corev1.ResourceCPU:
		return q.String() + " CPUs"
	case countsBytes(name):
		return q.String() + " of " + string(name)
	}
	return q.String() + " " + string(name)
}
