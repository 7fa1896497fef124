package headline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// lack is in numbers that a node has fewer devices than are needed. It is nil where something else is told.
func (s *shortage) lack() *explain.Lack {
	f, most := s.funnels[0], s.most()
	if f.All || most == 0 && !s.emptyAt("selectors") {
		return nil
	}
	out := &explain.Lack{Class: s.class, Needed: max(1, f.Needed), Most: most, OfClass: -1, Taken: len(s.obstacles()) > 0, Excluded: s.excluded}
	if s.emptyAt("selectors") {
		out.Missing, out.Have = s.missing()
	} else if s.left() > most || s.blames(explain.ConstraintRequired) {
		out.Constraint = s.constraint()
	}
	if s.poolsIgnored() == 0 {
		for _, f := range s.funnels {
			out.OfClass = max(out.OfClass, f.Steps[1].Most) // the first is all that the node sees
		}
	}
	selectors, ambiguous := s.q.Cluster.Selectors(), s.ambiguous()
	for i := range s.selectors {
		terms, ok := selectors.Comparisons(s.selectors[i].CEL.Expression)
		if !ok || ambiguous {
			terms = []string{s.selectors[i].CEL.Expression}
		}
		out.Terms = append(out.Terms, terms...)
	}
	return out
}

// Together says in a sentence without its subject, which is n pods or claims, what they want that no node
// has. It is about all of them: where they differ it says in which bounds.
func Together(n int, lacks []*explain.Lack) string {
	all := func(holds func(*explain.Lack) bool) bool {
		return !slices.ContainsFunc(lacks, func(l *explain.Lack) bool { return !holds(l) })
	}
	first := lacks[0]
	no := "no node"
	if !all(func(l *explain.Lack) bool { return !l.Excluded }) {
		no += " that they may use"
	}
	classes := words.Each(lacks, func(l *explain.Lack) string { return l.Class })
	slices.Sort(classes)
	needed := words.Each(lacks, func(l *explain.Lack) int { return l.Needed })
	want, of := words.Plural(n, "wants ", "want "), " of class "+words.Or(slices.Compact(classes))
	counted := want + words.Span(slices.Min(needed), slices.Max(needed)) + words.Plural(slices.Max(needed), " device", " devices") + of
	switch {
	case all(func(l *explain.Lack) bool { return l.Needed > l.OfClass && l.OfClass >= 0 }):
		return counted + "; " + noneOf(no, needed, words.Each(lacks, func(l *explain.Lack) int { return l.OfClass }), "")
	case all(func(l *explain.Lack) bool { return l.Missing != "" && l.Missing == first.Missing }):
		have := ""
		if first.Have != "" && all(func(l *explain.Lack) bool { return l.Have == first.Have && l.Class == first.Class }) {
			have = " (they have " + first.Have + ")"
		}
		return fmt.Sprintf("%sdevices%s with %s, which %s has%s", want, of, first.Missing, no, have)
	}
	common := slices.DeleteFunc(slices.Clone(first.Terms), func(term string) bool {
		return !all(func(l *explain.Lack) bool { return slices.Contains(l.Terms, term) })
	})
	if text := strings.Join(common, " and "); len(text) > maxSelected {
		common = nil
	} else if text != "" {
		counted += " with " + text
	}
	such := ""
	if !all(func(l *explain.Lack) bool { return !l.Taken }) {
		such = " that can be had"
	} else if !all(func(l *explain.Lack) bool { return len(l.Terms) == len(common) }) {
		such = " that fit"
	}
	if all(func(l *explain.Lack) bool { return l.Constraint != "" && l.Constraint == first.Constraint }) {
		counted, such = counted+first.Constraint, such+" together"
	} else if !all(func(l *explain.Lack) bool { return l.Constraint == "" }) {
		such += " as each wants them"
	}
	return counted + "; " + noneOf(no, needed, words.Each(lacks, func(l *explain.Lack) int { return l.Most }), such)
}

// noneOf says that no node has as many devices as are needed, and how many at most, which may differ.
func noneOf(no string, needed, most []int, such string) string {
	switch low, high := slices.Min(most), slices.Max(most); {
	case high == 0:
		return no + " has any" + such
	case low == high && high < slices.Min(needed):
		return fmt.Sprintf("%s has more than %d%s", no, high, such)
	default:
		return fmt.Sprintf("%s has that many%s (at most %s)", no, such, words.Span(low, high))
	}
}
