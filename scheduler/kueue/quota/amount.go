package quota

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is how much of a resource: thousandths of cpu, whole units of anything else.
type Amount int64

// Unlimited is a quota that is larger than any request. It stays what it is, whatever is added or taken away.
const Unlimited Amount = math.MaxInt64

// Text is the amount as Kueue writes it. Those of counters and capacities it writes in powers of 1024;
// State.Text of package kueue knows which these are.
func (a Amount) Text(name corev1.ResourceName) string { return a.TextIn(name, false) }

// TextIn is Text of an amount of which it is known whether it is written in powers of 1024.
func (a Amount) TextIn(name corev1.ResourceName, binary bool) string {
	switch {
	case a == Unlimited:
		return "<unlimited>"
	case name == corev1.ResourceCPU:
		return resource.NewMilliQuantity(int64(a), resource.DecimalSI).String()
	case binary || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		text := resource.NewQuantity(int64(a), resource.BinarySI).String()
		if q, err := resource.ParseQuantity(text); err == nil {
			return q.String() // what is no multiple of 1024 becomes decimal
		}
		return text
	}
	return resource.NewQuantity(int64(a), resource.DecimalSI).String()
}

// Add is the sum, or what comes nearest to it.
func (a Amount) Add(b Amount) Amount {
	sum := a + b
	switch {
	case a == Unlimited || b == Unlimited, a > 0 && b > 0 && sum < 0:
		return Unlimited
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Sub is the difference, or what comes nearest to it.
func (a Amount) Sub(b Amount) Amount {
	switch {
	case a == Unlimited && b == Unlimited:
		return 0
	case a == Unlimited:
		return Unlimited
	case b == Unlimited, b == math.MinInt64 && a < 0:
		return math.MinInt64
	case b == math.MinInt64:
		return Unlimited
	}
	difference := a - b
	switch {
	case a >= 0 && b < 0 && difference < 0:
		return Unlimited
	case a < 0 && b > 0 && difference >= 0:
		return math.MinInt64
	}
	return difference
}

// Times multiplies what a pod asks for by how many pods there are, and stops at what can be held.
func (a Amount) Times(n int64) Amount {
	if a == 0 || n == 0 {
		return 0
	}
	product := int64(a) * n
	if product/n == int64(a) && (a != math.MinInt64 || n != -1) {
		return Amount(product)
	}
	if (a < 0) == (n < 0) {
		return math.MaxInt64
	}
	return math.MinInt64
}

var (
	maxWhole = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	minWhole = *resource.NewQuantity(math.MinInt64, resource.DecimalSI)
	maxMilli = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	minMilli = *resource.NewMilliQuantity(math.MinInt64, resource.DecimalSI)
	maxCPU   = *resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)
)

// quotaAmount is a quota; one that is too large to count is unlimited.
func quotaAmount(name corev1.ResourceName, q resource.Quantity) Amount {
	if name == corev1.ResourceCPU {
		if q.Cmp(maxCPU) >= 0 {
			return Unlimited
		}
		return Amount(q.MilliValue())
	}
	if q.Cmp(maxWhole) >= 0 {
		return Unlimited
	}
	return Amount(q.Value())
}

// RequestAmount is a request.
func RequestAmount(name corev1.ResourceName, q resource.Quantity) Amount {
	low, high, value := &minWhole, &maxWhole, q.Value
	if name == corev1.ResourceCPU {
		low, high, value = &minMilli, &maxMilli, q.MilliValue
	}
	switch {
	case q.Cmp(*high) > 0:
		return math.MaxInt64
	case q.Cmp(*low) < 0:
		return math.MinInt64
	}
	return Amount(value())
}
