package requirement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// What a term wants in short, and what the devices of a node have instead. Examples:
//
//	device.capacity["gpu.example.com"].memory.compareTo(quantity("96Gi")) >= 0
//	is shown as  memory >= 96Gi
//	with         devices here have 80Gi
//
//	device.attributes["gpu.example.com"].productName.lowerAscii().matches("a100")
//	is shown as  productName.lowerAscii().matches("a100")
//	with         devices here have productName H100

// termSource says by which devices a term is described.
type termSource struct {
	// without leaves out devices with these failures.
	without []allocator.Code
	// onlyHaving leaves out devices that have none of the fields.
	onlyHaving bool
}

const (
	// maxReads is how many fields of a term are described.
	maxReads = 3
	// maxReaders is the number of devices of a node up to which a term is evaluated for each.
	maxReaders = 256
)

// describe says a term in short, with what the devices have instead.
func (t termSource) describe(ctx context.Context, s *site, r *allocator.ExaminedRequest, term string) (text, actual string) {
	if err := s.Q.Cluster.Selectors().Selector(term).CompileError(); err != nil {
		return words.OneLine(term), "that does not compile: " + words.FirstLine(err.Error())
	}
	c := ComparisonOf(s.Q, term)
	devices := DevicesWithout(r, t.without...)
	if c == nil || c.Relation == selector.OtherRelation {
		return s.Q.Cluster.Selectors().WithoutDomains(term), t.readings(ctx, s, devices, term)
	}
	text = c.Brief()
	counts := map[string]int{}
	matching, having := 0, 0
	for _, d := range devices {
		value, ok := c.valueOf(d.ID.Driver, d.Device)
		if !ok {
			continue
		}
		having++
		if c.accepts(value) {
			matching++
			continue
		}
		counts[value]++
	}
	total := len(devices)
	if t.onlyHaving {
		total = having
	}
	switch {
	case matching > 0:
		return text, fmt.Sprintf("%d of %s here %s it", matching, words.Count(total, "device"), words.Plural(matching, "has", "have"))
	case having == 0 && len(devices) > 0 && !t.onlyHaving && !slices.ContainsFunc(devices, c.has):
		return text, "devices here have no " + c.Field.Name
	case having == 0:
		return text, ""
	}
	return text, "devices here have " + words.Shorten(slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return c.compare(b, a) }), maxValues)
}

// readings is what a term reads of some devices, and what it gives for them.
type readings struct {
	devices, matching, failing int
	fields                     []string                  // in the order of first use
	values                     map[string]map[string]int // by field, with the number of devices
}

// readingsOf evaluates a term for devices; with only those that have a field which it reads, if having is
// set.
func (s *site) readingsOf(ctx context.Context, devices []*allocator.ExaminedDevice, term string, having bool) readings {
	out := readings{values: map[string]map[string]int{}}
	for _, d := range devices {
		terms := s.Q.Cluster.Selectors().Terms(ctx, term, d.ID.Driver, d.Device)
		if len(terms) != 1 || having && !slices.ContainsFunc(terms[0].Reads, func(r selector.Read) bool { return r.Value != "" }) {
			continue
		}
		out.devices++
		out.matching += words.Btoi(terms[0].Err == nil && terms[0].Match)
		out.failing += words.Btoi(terms[0].Err != nil)
		for _, r := range terms[0].Reads {
			if out.values[r.Expression] == nil {
				out.fields = append(out.fields, r.Expression)
				out.values[r.Expression] = map[string]int{}
			}
			if r.Value != "" {
				out.values[r.Expression][plainValue(r.Value)]++
			}
		}
	}
	return out
}

// plainValue is a value without the notation of CEL.
func plainValue(value string) string {
	bare := strings.TrimSuffix(strings.TrimPrefix(value, "semver("), ")")
	if text, err := strconv.Unquote(bare); err == nil {
		return text
	}
	return value
}

// readings says what devices have of what a term reads, or how many match if any does. It is "" when there is
// nothing to say.
func (t termSource) readings(ctx context.Context, s *site, devices []*allocator.ExaminedDevice, term string) string {
	if len(devices) > maxReaders {
		return ""
	}
	r := s.readingsOf(ctx, devices, term, t.onlyHaving)
	switch {
	case r.devices == 0 || len(r.fields) == 0:
		return ""
	case r.matching > 0:
		return fmt.Sprintf("%d of %s here %s it", r.matching, words.Count(r.devices, "device"), words.Plural(r.matching, "matches", "match"))
	}
	var parts []string
	lacking := false
	for _, field := range r.fields {
		name := words.LastName(field)
		if slices.ContainsFunc(r.fields, func(f string) bool { return f != field && words.LastName(f) == name }) {
			name = field
		}
		if len(r.values[field]) == 0 {
			parts, lacking = append(parts, "no "+name), true
			continue
		}
		parts = append(parts, name+" "+words.Shorten(frequent(r.values[field]), maxValues))
	}
	text := "devices here have " + words.Shorten(parts, maxReads)
	if len(parts) == 2 {
		text = "devices here have " + strings.Join(parts, " and ")
	}
	if lacking && r.failing == r.devices {
		text += ", without which it fails"
	}
	return text
}
