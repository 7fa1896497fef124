package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// What a term that is no plain comparison reads, in short, and what the devices of a node have there. Example:
//
//	device.attributes["gpu.example.com"].productName.lowerAscii().matches("a100")
//	is shown as  productName.lowerAscii().matches("a100")
//	with         devices here have productName H100

const (
	// maxReads is how many fields of a term are described.
	maxReads = 3
	// maxReaders is the number of devices of a node up to which a term is evaluated for each.
	maxReaders = 256
)

// fieldIn finds fields of the device, by their two spellings.
var fieldIn = regexp.MustCompile(`device\.(?:attributes|capacity)\["[^"\\]+"\](?:\.\??(\w+)|\[\??"([^"\\]+)"\])`)

// briefTerm leaves out of a term the domains of the fields, where their names tell them apart. It is for reading;
// what is written into a selector is the whole term.
func briefTerm(term string) string {
	fields := map[string]string{}
	for _, m := range fieldIn.FindAllStringSubmatch(term, -1) {
		domain := m[0][:strings.LastIndexByte(strings.TrimSuffix(m[0], "]"), ']')+1]
		if known, ok := fields[m[1]+m[2]]; ok && known != domain {
			return term
		}
		fields[m[1]+m[2]] = domain
	}
	return fieldIn.ReplaceAllString(term, "$1$2")
}

// brief says a term in short: as its comparison if it is a plain one.
func (q *question) brief(ctx context.Context, term string) string {
	return cmp.Or(q.comparison(ctx, term).words(), briefTerm(term))
}

// readings is what a term reads of some devices, and what it gives for them.
type readings struct {
	devices, matching, failing int
	fields                     []string                  // in the order of first use
	values                     map[string]map[string]int // by field, with the number of devices
}

// readingsOf evaluates a term for devices; with only those that have a field which it reads, if having is set.
func (l *local) readingsOf(ctx context.Context, devices []*allocator.ExaminedDevice, term string, having bool) readings {
	out := readings{values: map[string]map[string]int{}}
	for _, d := range devices {
		terms := l.q.cluster.Selectors().Terms(ctx, term, d.ID.Driver, d.Device)
		if len(terms) != 1 || having && !slices.ContainsFunc(terms[0].Reads, func(r selector.Read) bool { return r.Value != "" }) {
			continue
		}
		out.devices++
		out.matching += btoi(terms[0].Err == nil && terms[0].Match)
		out.failing += btoi(terms[0].Err != nil)
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

// readHere says what devices have of what a term reads, or how many match if any does; "" when there is nothing to
// say. For a term of a class devices that have none of the fields belong to other drivers.
func (l *local) readHere(ctx context.Context, devices []*allocator.ExaminedDevice, kind RequirementKind, term string) string {
	if len(devices) > maxReaders {
		return ""
	}
	r := l.readingsOf(ctx, devices, term, kind == ClassTermRequired)
	switch {
	case r.devices == 0 || len(r.fields) == 0:
		return ""
	case r.matching > 0:
		return fmt.Sprintf("%d of %s here %s it", r.matching, count(r.devices, "device"), plural(r.matching, "matches", "match"))
	}
	var parts []string
	lacking := false
	for _, field := range r.fields {
		name := lastName(field)
		if slices.ContainsFunc(r.fields, func(f string) bool { return f != field && lastName(f) == name }) {
			name = field
		}
		if len(r.values[field]) == 0 {
			parts, lacking = append(parts, "no "+name), true
			continue
		}
		parts = append(parts, name+" "+shorten(frequent(r.values[field]), maxValues))
	}
	text := "devices here have " + shorten(parts, maxReads)
	if len(parts) == 2 {
		text = "devices here have " + strings.Join(parts, " and ")
	}
	if lacking && r.failing == r.devices {
		text += ", without which it fails"
	}
	return text
}

// frequent lists texts by their number, the highest first.
func frequent(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}
