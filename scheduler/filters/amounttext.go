package filters

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity is the amount as manifests have it.
func (a Amount) Quantity() resource.Quantity {
	switch {
	case a.Resource == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(a.Value, resource.DecimalSI)
	case a.bytes():
		return *resource.NewQuantity(a.Value, resource.BinarySI)
	}
	return *resource.NewQuantity(a.Value, resource.DecimalSI)
}

// String is the amount for a reader: "64 CPUs", "1 CPU", "64Gi of memory", "3 example.com/gpu". Bytes are
// rounded up to a tenth of their unit.
func (a Amount) String() string { return a.named(a.number(true)) }

// exact is String without rounding.
func (a Amount) exact() string { return a.named(a.exactNumber()) }

func (a Amount) named(number string) string {
	switch {
	case a.Resource == corev1.ResourceCPU && a.Value == 1000:
		return number + " CPU"
	case a.Resource == corev1.ResourceCPU:
		return number + " CPUs"
	case a.Resource == corev1.ResourcePods && a.Value == 1:
		return number + " pod"
	case a.bytes():
		return number + " of " + string(a.Resource)
	}
	return number + " " + string(a.Resource)
}

// verb is " is" or " are", for the number.
func (a Amount) verb() string {
	if a.bytes() || a.Resource == corev1.ResourceCPU && a.Value == 1000 || a.Resource != corev1.ResourceCPU && a.Value == 1 {
		return " is"
	}
	return " are"
}

// bytes reports whether the resource counts bytes.
func (a Amount) bytes() bool {
	return a.Resource == corev1.ResourceMemory || a.Resource == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(a.Resource), corev1.ResourceHugePagesPrefix)
}

func (a Amount) exactNumber() string {
	switch {
	case a.Resource == corev1.ResourceCPU:
		return strconv.FormatFloat(float64(a.Value)/1000, 'f', -1, 64)
	case a.bytes():
		q := a.Quantity()
		return q.String()
	}
	return strconv.FormatInt(a.Value, 10)
}

// number is the number without the name of the resource. Bytes that are no whole number of a large unit are
// rounded, up or down.
func (a Amount) number(up bool) string {
	if !a.bytes() {
		return a.exactNumber()
	}
	units := [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	value, unit := float64(a.Value), 0
	for math.Abs(value) >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	value *= 10
	if up {
		value = math.Ceil(value)
	} else {
		value = math.Floor(value)
	}
	return strconv.FormatFloat(value/10, 'f', -1, 64) + units[unit]
}
