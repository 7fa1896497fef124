package selector

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Separate proposes selectors that match all wanted and no unwanted devices, given by their indexes, the
// shortest first, at most n. Each was tried on the whole bench and fails nowhere. The result is empty
// when nothing that is known here tells the two sets apart.
//
// Every part that is considered is true for all wanted devices: the driver, a value that they share, a
// bound that they all keep. What remains is to find few parts that together rule out the unwanted: one,
// two, or three. For example A100s of 80Gi among A100s of 40Gi and H100s of 80Gi are told apart by
// model == "A100" and memory >= 80Gi, but by neither alone.
func (b *Bench) Separate(ctx context.Context, wanted, unwanted []int, n int) ([]Suggestion, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	s := &separation{ctx: ctx, bench: b, wanted: wanted, unwanted: unwanted}
	driver := s.driver()
	var out, serials []Suggestion // those by serial numbers come last: they say nothing of other devices
	for _, rules := range combinations(s.rules(driver), 3) {
		if ctx.Err() != nil || len(out) >= maxProven*n {
			break
		}
		if !s.separates(rules) {
			continue
		}
		made := s.prove(expressionOf(driver, rules))
		switch {
		case made == nil:
		case slices.ContainsFunc(rules, func(r rule) bool { return r.serial }):
			serials = append(serials, *made)
		default:
			out = append(out, *made)
		}
	}
	for _, list := range [][]Suggestion{out, serials} {
		slices.SortStableFunc(list, func(a, b Suggestion) int { return len(a.Expression) - len(b.Expression) })
	}
	out = append(out, serials...)
	out = out[:min(n, len(out))]
	return out, context.Cause(ctx)
}

// maxProven is how many times more selectors are tried than are wanted, to propose the shortest of them.
const maxProven = 2

// expressionOf joins the rules, after the driver if the wanted devices are of one: without it the
// selector would fail on devices of others.
func expressionOf(driver string, rules []rule) string {
	var terms []string
	for _, r := range rules {
		terms = append(terms, r.term)
	}
	if driver != "" && !slices.Contains(terms, driver) {
		terms = append([]string{driver}, terms...)
	}
	if len(terms) == 0 {
		return "true"
	}
	return strings.Join(terms, " && ")
}

type separation struct {
	ctx              context.Context //nolint:containedctx // lives as long as the call of Separate
	bench            *Bench
	wanted, unwanted []int
}

// rule is a term that is true for all wanted devices, with the unwanted ones that it rules out: one bit
// for each, in their order.
type rule struct {
	term string
	out  []uint64
	size int
	// serial says that the field has another value on every device, as a serial number has.
	serial bool
}

func (s *separation) subject(i int) *Subject { return &s.bench.columns.subjects[i] }

// driver returns the term for the driver of the wanted devices, or "" when they are of several.
func (s *separation) driver() string {
	driver := s.subject(s.wanted[0]).Driver
	for _, i := range s.wanted {
		if s.subject(i).Driver != driver {
			return ""
		}
	}
	return "device.driver == " + quote(driver)
}

// rules returns the terms to choose from, those that rule out most first.
func (s *separation) rules(driver string) []rule {
	var rules []rule
	add := func(term string, holds func(*Subject) bool) {
		r := rule{term: term, out: make([]uint64, (len(s.unwanted)+63)/64)}
		for n, i := range s.unwanted {
			if !holds(s.subject(i)) {
				r.out[n/64] |= 1 << (n % 64)
				r.size++
			}
		}
		rules = append(rules, r)
	}
	if driver != "" {
		name := s.subject(s.wanted[0]).Driver
		add(driver, func(other *Subject) bool { return other.Driver == name })
	}
	for _, info := range s.bench.Inventory().Fields() {
		before := len(rules)
		if info.Field.Kind == "capacity" {
			s.capacity(info.Field, add)
		} else {
			s.attribute(info, add)
		}
		for i := before; i < len(rules); i++ {
			rules[i].serial = info.Total() > 1 && (info.More || len(info.Values) == info.Total()) && rules[i].term != hasField(info.Field)
		}
	}
	slices.SortStableFunc(rules, func(a, b rule) int {
		if a.serial != b.serial {
			return map[bool]int{false: -1, true: 1}[a.serial]
		}
		return b.size - a.size
	})
	return slices.DeleteFunc(rules, func(r rule) bool { return r.size == 0 })
}

func (s *separation) capacity(f Field, add func(string, func(*Subject) bool)) {
	var least *resource.Quantity
	for _, i := range s.wanted {
		c, ok := find(s.subject(i).Device.Capacity, &f, s.subject(i).Driver)
		if !ok {
			return
		}
		if least == nil || c.Value.Cmp(*least) < 0 {
			least = &c.Value
		}
	}
	add(fmt.Sprintf("%s.compareTo(quantity(%s)) >= 0", f.Expression(), quote(least.String())), func(other *Subject) bool {
		c, ok := find(other.Device.Capacity, &f, other.Driver)
		return ok && c.Value.Cmp(*least) >= 0
	})
}

// attribute adds what the wanted devices have in common in an attribute of one type.
func (s *separation) attribute(info *FieldInfo, add func(string, func(*Subject) bool)) {
	f, kind := info.Field, info.Type()
	var values []string // more than can be listed are not kept, or serial numbers would be searched for one by one
	least, most := int64(0), int64(0)
	for n, i := range s.wanted {
		a, ok := find(s.subject(i).Device.Attributes, &f, s.subject(i).Driver)
		if !ok || kind == "" {
			return
		}
		if v := FormatAttribute(&a); len(values) <= maxAlternatives && !slices.Contains(values, v) {
			values = append(values, v)
		}
		if a.IntValue != nil {
			if n == 0 {
				least, most = *a.IntValue, *a.IntValue
			}
			least, most = min(least, *a.IntValue), max(most, *a.IntValue)
		}
	}
	slices.Sort(values)
	has := func(holds func(*resourcev1.DeviceAttribute) bool) func(*Subject) bool {
		return func(other *Subject) bool {
			a, ok := find(other.Device.Attributes, &f, other.Driver)
			return ok && holds(&a)
		}
	}
	same := has(func(a *resourcev1.DeviceAttribute) bool { return slices.Contains(values, FormatAttribute(a)) })
	switch {
	case strings.HasPrefix(kind, "list"):
	case len(values) == 1 && kind == "version":
		add(fmt.Sprintf("%s.compareTo(%s) == 0", f.Expression(), values[0]), same)
	case len(values) == 1:
		add(f.Expression()+" == "+values[0], same)
	case len(values) <= maxAlternatives && kind == "string":
		add(f.Expression()+" in ["+strings.Join(values, ", ")+"]", same)
	}
	if kind == "int" && len(values) > 1 {
		add(f.Expression()+" >= "+strconv.FormatInt(least, 10), has(func(a *resourcev1.DeviceAttribute) bool { return *a.IntValue >= least }))
		add(f.Expression()+" <= "+strconv.FormatInt(most, 10), has(func(a *resourcev1.DeviceAttribute) bool { return *a.IntValue <= most }))
	}
	add(hasField(f), has(func(*resourcev1.DeviceAttribute) bool { return true }))
}

// maxAlternatives is how many values a proposed selector lists at most.
const maxAlternatives = 3

// maxRules bounds the parts of which combinations are tried.
const maxRules = 40

// combinations returns all choices of up to n rules, smaller ones first; the first is the empty one.
func combinations(rules []rule, n int) [][]rule {
	rules = rules[:min(len(rules), maxRules)]
	out := [][]rule{nil}
	begin := 0
	for range n {
		end := len(out)
		for _, base := range out[begin:end] {
			from := 0
			if len(base) > 0 {
				last := base[len(base)-1].term
				from = slices.IndexFunc(rules, func(r rule) bool { return r.term == last }) + 1
			}
			for _, r := range rules[from:] {
				out = append(out, append(slices.Clone(base), r))
			}
		}
		begin = end
	}
	return out
}

// separates reports whether the rules rule out all unwanted devices, and none of them is superfluous.
func (s *separation) separates(rules []rule) bool {
	ruledOut := func(skip int) bool {
		size := 0
		for word := range (len(s.unwanted) + 63) / 64 {
			var out uint64
			for i := range rules {
				if i != skip {
					out |= rules[i].out[word]
				}
			}
			size += bits.OnesCount64(out)
		}
		return size == len(s.unwanted)
	}
	if !ruledOut(-1) {
		return false
	}
	for i := range rules {
		if ruledOut(i) {
			return false
		}
	}
	return true
}

// prove tries a selector on the bench, makes it robust if need be, and returns nil when it does not do
// what it should.
func (s *separation) prove(expression string) *Suggestion {
	d := &diagnosis{ctx: s.ctx, bench: s.bench, inv: s.bench.Inventory(), trial: &Trial{}, tried: map[string]*Trial{}}
	t := d.try(expression)
	if t == nil {
		made := d.robust(expression)
		if len(made) == 0 {
			return nil
		}
		expression = made[0].Expression
		if t = d.try(expression); t == nil {
			return nil
		}
	}
	for _, i := range s.wanted {
		if t.OutcomeOf(i).Result != Match {
			return nil
		}
	}
	for _, i := range s.unwanted {
		if t.OutcomeOf(i).Result != NoMatch {
			return nil
		}
	}
	return &Suggestion{Expression: expression, Effect: fmt.Sprintf("matches %s", devices(t.Matched)), Matched: t.Matched}
}
