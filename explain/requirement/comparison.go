package requirement

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
)

// What a term compares with, and what there is instead.
//
// A term of the form "one field of the device, one literal" can be relaxed by another literal. Which
// values make sense is taken from the devices that exist; whether a value helps is left to the
// allocator. Example:
//
//	device.capacity["gpu.example.com"].memory.compareTo(quantity("96Gi")) >= 0
//	devices have 40Gi and 80Gi; 80Gi is nearer to 96Gi, and helps

// Comparison is a term with one field and one literal.
type Comparison struct {
	selector.Comparison
}

// ComparisonOf takes a term apart. It returns nil for a term of another form.
func ComparisonOf(q *whatif.Question, term string) *Comparison {
	c, ok := q.Cluster.Selectors().Comparison(term)
	if !ok {
		return nil
	}
	return &Comparison{c}
}

// with returns the term with another value. A strict comparison with a value that exists leaves out just
// that; "or equal" does not.
func (c *Comparison) with(v fieldValue) string { return c.With(c.Relation.OrEqual(), v.text) }

// fieldValue is a value that devices have.
type fieldValue struct {
	text     string
	distance float64
	// top and bottom: no device has a higher or lower one.
	top, bottom bool
	devices     int // that have it, on nodes that look different
}

// remark says so when the value is the best there is.
func (c *Comparison) remark(v fieldValue) string {
	switch {
	case v.top && v.bottom && c.Form != selector.StringLiteral:
		return ": no device has another"
	case v.top && c.Relation.OrEqual() == selector.AtLeast:
		return ": no device has more"
	case v.bottom && c.Relation.OrEqual() == selector.AtMost:
		return ": no device has less"
	}
	return ""
}

// nearestValues lists the values of the field that devices have, other than the one asked for, the nearest
// first.
func nearestValues(q *whatif.Question, c *Comparison) []fieldValue {
	counts := map[string]int{}
	seen := map[*resourcev1.ResourceSlice]bool{}
	for i := range q.Answers {
		// Nodes that look alike have devices with the same values.
		pools, err := q.Cluster.Snapshot().PoolsOn(q.Nodes[q.Answers[i].Nodes[0]])
		if err != nil || len(q.Answers[i].Unsuitable) > 0 {
			continue
		}
		for _, pool := range pools {
			for _, slice := range pool.Slices {
				if seen[slice.ResourceSlice] || !pool.Usable() {
					continue
				}
				seen[slice.ResourceSlice] = true
				for d := range slice.Spec.Devices {
					if text, ok := c.valueOf(slice.Spec.Driver, &slice.Spec.Devices[d]); ok {
						counts[text]++
					}
				}
			}
		}
	}
	var values []fieldValue
	for text, n := range counts {
		values = append(values, fieldValue{text: text, devices: n})
	}
	slices.SortFunc(values, func(a, b fieldValue) int { return c.compare(a.text, b.text) })
	for i := range values {
		values[i].bottom, values[i].top = i == 0, i == len(values)-1
		values[i].distance = c.distance(values, i)
	}
	values = slices.DeleteFunc(values, func(v fieldValue) bool {
		return c.compare(v.text, c.Literal) == 0 && c.Form != selector.VersionLiteral && v.text == c.Literal
	})
	slices.SortStableFunc(values, func(a, b fieldValue) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.devices, a.devices), cmp.Compare(a.text, b.text))
	})
	return values[:min(len(values), maxValuesTried)]
}

// valueOf reads the field of a device, if it has it in the form of the literal.
func (c *Comparison) valueOf(driver string, d *resourcev1.Device) (string, bool) {
	if c.Field.Kind == "capacity" {
		v, ok := c.Field.Value(driver, d)
		return v, ok && c.Form == selector.QuantityLiteral
	}
	a := allocator.LookupAttribute(d, driver, resourcev1.FullyQualifiedName(c.Field.Domain+"/"+c.Field.Name))
	switch {
	case a == nil:
	case a.StringValue != nil && c.Form == selector.StringLiteral:
		return *a.StringValue, true
	case a.VersionValue != nil && c.Form == selector.VersionLiteral:
		return *a.VersionValue, true
	case a.IntValue != nil && c.Form == selector.IntLiteral:
		return strconv.FormatInt(*a.IntValue, 10), true
	case a.BoolValue != nil && c.Form == selector.BoolLiteral:
		return strconv.FormatBool(*a.BoolValue), true
	}
	return "", false
}

// has reports whether the device has the field, in whatever form.
func (c *Comparison) has(d *allocator.ExaminedDevice) bool {
	_, ok := c.Field.Value(d.ID.Driver, d.Device)
	return ok
}

// accepts reports whether a value of the form stands in the relation.
func (c *Comparison) accepts(value string) bool {
	order := c.compare(value, c.Literal)
	switch c.Relation {
	case "==":
		return order == 0
	case ">=":
		return order >= 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	case "<":
		return order < 0
	}
	return false
}

// compare orders two values of the form.
func (c *Comparison) compare(a, b string) int {
	switch c.Form {
	case selector.QuantityLiteral:
		qa, errA := quantity.Parse(a)
		qb, errB := quantity.Parse(b)
		if errA == nil && errB == nil {
			return qa.Cmp(qb)
		}
	case selector.VersionLiteral:
		va, errA := semver.Parse(a)
		vb, errB := semver.Parse(b)
		if errA == nil && errB == nil {
			return va.Compare(vb)
		}
	case selector.IntLiteral:
		ia, errA := strconv.ParseInt(a, 10, 64)
		ib, errB := strconv.ParseInt(b, 10, 64)
		if errA == nil && errB == nil {
			return cmp.Compare(ia, ib)
		}
	}
	return cmp.Compare(a, b)
}

// distance says how far a value is from the one asked for; for versions by how many others lie between.
func (c *Comparison) distance(values []fieldValue, i int) float64 {
	switch c.Form {
	case selector.QuantityLiteral:
		if want, err := quantity.Parse(c.Literal); err == nil {
			if have, err := quantity.Parse(values[i].text); err == nil {
				return math.Abs(have.AsApproximateFloat64() - want.AsApproximateFloat64())
			}
		}
	case selector.IntLiteral:
		want, _ := strconv.ParseFloat(c.Literal, 64)
		have, _ := strconv.ParseFloat(values[i].text, 64)
		return math.Abs(have - want)
	case selector.StringLiteral:
		return textDistance(strings.ToLower(c.Literal), strings.ToLower(values[i].text))
	}
	at, _ := slices.BinarySearchFunc(values, c.Literal, func(v fieldValue, text string) int { return c.compare(v.text, text) })
	return math.Abs(float64(i) - (float64(at) - 0.5))
}

// textDistance says how much two strings differ. Those that differ only in numbers, as "3g.40gb" and
// "2g.20gb", are nearest, by the ratio of the numbers; then one that begins with the other, as "H100" and
// "H100 NVL"; others are by the letters.
func textDistance(a, b string) float64 {
	x, inA := numbersIn(a)
	y, inB := numbersIn(b)
	switch {
	case inA == inB:
	case strings.HasPrefix(a, b) || strings.HasPrefix(b, a):
		return 1
	default:
		return 1 + float64(spell.Distance(a, b))
	}
	sum := 0.0
	for i := range x {
		sum += math.Abs(math.Log((x[i] + 1) / (y[i] + 1)))
	}
	return sum / (1 + sum)
}

// numbersIn returns the numbers of a text, and the text with 0 in their places.
func numbersIn(text string) (numbers []float64, without string) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	for {
		start := strings.IndexFunc(text, isDigit)
		if start < 0 {
			return numbers, without + text
		}
		rest := strings.TrimLeftFunc(text[start:], isDigit)
		number, _ := strconv.ParseFloat(text[start:len(text)-len(rest)], 64)
		numbers = append(numbers, number)
		without, text = without+text[:start]+"0", rest
	}
}

// maxValuesTried is how many values are tried instead of the one that is asked for.
const maxValuesTried = 8
