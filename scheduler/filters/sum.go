package filters

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// sum adds up resource lists without rounding, which is done once at the end: half a byte and half a byte are
// one. It is what adding quantities in a map does, without the maps.
type sum struct{ parts []part }

// part is an amount of a resource: whole + thousandths/1000. API servers round up to thousandths.
type part struct {
	name               corev1.ResourceName
	whole, thousandths int64 // 0 <= thousandths < 1000
}

func sumOf(list corev1.ResourceList) *sum {
	s := &sum{}
	s.add(list)
	return s
}

// clear makes the sum empty and keeps its memory.
func (s *sum) clear() { s.parts = s.parts[:0] }

func (s *sum) find(name corev1.ResourceName) int {
	return slices.IndexFunc(s.parts, func(p part) bool { return p.name == name })
}

func (s *sum) has(name corev1.ResourceName) bool { return s.find(name) >= 0 }

// at is the part for a resource. It is 0 if it was not there.
func (s *sum) at(name corev1.ResourceName) *part {
	i := s.find(name)
	if i < 0 {
		i = len(s.parts)
		s.parts = append(s.parts, part{name: name})
	}
	return &s.parts[i]
}

func (s *sum) add(list corev1.ResourceList) {
	for name, quantity := range list {
		s.addOne(name, quantity)
	}
}

func (s *sum) addOne(name corev1.ResourceName, quantity resource.Quantity) {
	s.at(name).add(partOf(name, quantity))
}

func (s *sum) plus(other *sum) {
	for _, p := range other.parts {
		s.at(p.name).add(p)
	}
}

// max takes the larger of both for every resource.
func (s *sum) max(other *sum) {
	for _, p := range other.parts {
		if mine := s.at(p.name); mine.whole < p.whole || mine.whole == p.whole && mine.thousandths < p.thousandths {
			*mine = p
		}
	}
}

func (p *part) add(other part) {
	p.whole = plus(p.whole, other.whole)
	p.thousandths += other.thousandths
	if p.thousandths >= 1000 {
		p.whole, p.thousandths = plus(p.whole, 1), p.thousandths-1000
	}
}

// countless stands for sums that do not fit into 64 bits. The scheduler goes on with what is left of them,
// which may be anything, so no such sum is decided about.
const countless = math.MaxInt64

// plus adds two numbers. A sum that is countless stays so.
func plus(a, b int64) int64 {
	if a == countless || b == countless || a > 0 && b > math.MaxInt64-a {
		return countless
	}
	return a + b
}

// largestExact is the largest amount of which thousandths fit into 64 bits. Of larger ones only whole ones
// count.
const largestExact = math.MaxInt64/1000 - 1

func partOf(name corev1.ResourceName, quantity resource.Quantity) part {
	if whole, ok := quantity.AsInt64(); ok {
		return part{name: name, whole: whole}
	}
	if whole := quantity.Value(); whole > largestExact || whole < -largestExact {
		return part{name: name, whole: whole}
	}
	all := quantity.MilliValue()
	p := part{name: name, whole: all / 1000, thousandths: all % 1000}
	if p.thousandths < 0 {
		p.whole, p.thousandths = p.whole-1, p.thousandths+1000
	}
	return p
}

// amounts are the parts that the scheduler counts, in its units. It ignores names that it does not know, and
// the number of pods, which is no sum of requests.
func (s *sum) amounts(known names) amounts {
	if len(s.parts) == 0 {
		return nil
	}
	out := make(amounts, 0, len(s.parts))
	for _, p := range s.parts {
		switch {
		case !known.counted(p.name):
		case p.name == corev1.ResourceCPU:
			millis := int64(countless)
			if p.whole < countless/1000 {
				millis = p.whole*1000 + p.thousandths
			}
			out = append(out, Amount{p.name, millis})
		case p.thousandths > 0:
			out = append(out, Amount{p.name, plus(p.whole, 1)})
		default:
			out = append(out, Amount{p.name, p.whole})
		}
	}
	slices.SortFunc(out, func(a, b Amount) int { return strings.Compare(string(a.Resource), string(b.Resource)) })
	return out
}
