package text

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// RenderAll writes the answers to several questions. Of those that say the same, only the first is written,
// with the names of all, unless Verbose.
func RenderAll(w io.Writer, all []*explain.Explanation, opts Options) error {
	var lines []styled.Line
	groups := Alike(all)
	if opts.Verbose {
		groups = words.Each(all, func(e *explain.Explanation) []*explain.Explanation { return []*explain.Explanation{e} })
	}
	for _, group := range groups {
		if len(lines) > 0 {
			lines = append(lines, styled.Line{})
		}
		if len(group) > 1 {
			lines = append(lines, alikeLines(group, opts)...)
		}
		lines = append(lines, Lines(group[0], opts)...)
	}
	return Write(w, lines, opts.Color)
}

// alikeLines say of whom an answer is.
func alikeLines(group []*explain.Explanation, opts Options) []styled.Line {
	p := newPage(nil, opts)
	p.Add("", "  ", layout.Span(styled.Strong, fmt.Sprintf("The same is true of %d: ", len(group))), layout.Span(styled.Name, words.Shorten(Subjects(group), maxSubjects)),
		layout.Span(styled.Dim, "; this is the answer for the first"+opts.Hint("shows each")))
	return append(p.Lines, styled.Line{})
}

// Subjects are the names of the subjects of some answers.
func Subjects(answers []*explain.Explanation) []string {
	return words.Each(answers, func(e *explain.Explanation) string { return e.Subject.FullName() })
}

// Alike groups the answers that say the same of their subjects, in the order of the first of each group.
func Alike(all []*explain.Explanation) [][]*explain.Explanation {
	var out [][]*explain.Explanation
	for _, e := range all {
		at := slices.IndexFunc(out, func(group []*explain.Explanation) bool { return sayTheSame(group[0], e) })
		if at < 0 {
			out = append(out, []*explain.Explanation{e})
			continue
		}
		out[at] = append(out[at], e)
	}
	return out
}

// sayTheSame reports whether two answers differ in the names of their subjects at most, and in what is said
// besides of each.
func sayTheSame(a, b *explain.Explanation) bool {
	refused := a.Verdict == explain.Unsatisfiable || a.Verdict == explain.Invalid
	return refused && a.Verdict == b.Verdict && a.Subject.Kind == b.Subject.Kind && a.Predicate == b.Predicate && a.Nodes == b.Nodes &&
		slices.EqualFunc(a.Fixes, b.Fixes, func(a, b explain.Fix) bool { return a.Message == b.Message && a.Nodes == b.Nodes }) &&
		slices.Equal(a.NoHelp, b.NoHelp)
}
