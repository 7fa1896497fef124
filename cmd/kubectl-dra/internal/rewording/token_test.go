package rewording

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// tokens stand for texts. What an answer is shown as must be the same whether its texts are put in before or
// after: then whoever shows it has not looked at them.
type tokens []string

// token is the name of the next text.
func (t *tokens) token(text string) string {
	if text == "" {
		return ""
	}
	*t = append(*t, text)
	return fmt.Sprintf("⟦%d⟧", len(*t)-1)
}

// restore puts the texts back.
func (t *tokens) restore(shown string) string {
	var pairs []string
	for i, text := range *t {
		pairs = append(pairs, fmt.Sprintf("⟦%d⟧", i), inspect.Sanitize(text))
	}
	return strings.NewReplacer(pairs...).Replace(shown)
}

// copyOf copies a value with tokens for its prose. Objects of Kubernetes are shared.
func (t *tokens) copyOf(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(t.copyOf(v.Elem()))
			out.Set(to)
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(t.copyOf(v.Index(i)))
		}
	case reflect.Struct:
		if pkg := v.Type().PkgPath(); pkg == "time" || strings.HasPrefix(pkg, "k8s.io/") {
			break
		}
		for i := range v.NumField() {
			if prosaic := slices.Contains(proseFields, v.Type().Field(i).Name); prosaic {
				t.prose(out.Field(i))
			} else {
				out.Field(i).Set(t.copyOf(v.Field(i)))
			}
		}
	}
	return out
}

// prose puts tokens into a field.
func (t *tokens) prose(field reflect.Value) {
	if field.Kind() == reflect.String {
		field.SetString(t.token(field.String()))
		return
	}
	list := reflect.MakeSlice(field.Type(), field.Len(), field.Len())
	for i := range field.Len() {
		list.Index(i).SetString(t.token(field.Index(i).String()))
	}
	field.Set(list)
}

func tokenised[T any](v *T) (*T, *tokens) {
	var t tokens
	return t.copyOf(reflect.ValueOf(v)).Interface().(*T), &t
}

// lookedAt lists the ways of showing an answer that look at its texts.
func lookedAt(e *explain.Explanation) []string {
	var out []string
	of, t := tokenised(e)
	for _, verbose := range []bool{false, true} {
		show := func(e *explain.Explanation) string {
			var b strings.Builder
			if err := text.Render(&b, e, text.Options{Width: 1 << 20, Verbose: verbose}); err != nil {
				panic(err)
			}
			return b.String()
		}
		out = append(out, difference(fmt.Sprintf("text, verbose %t", verbose), show(e), t.restore(show(of)))...)
	}
	before, after := outlineOf(explanations.NewExplanation(e)), outlineOf(explanations.NewExplanation(of))
	for i := range after.Prose {
		after.Prose[i] = t.restore(after.Prose[i])
	}
	return append(out, difference("wire", strings.Join(before.Prose, "\n"), strings.Join(after.Prose, "\n"))...)
}

// lookedAtInBrief is lookedAt for the reason of a claim in one line.
func lookedAtInBrief(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, e *explain.Explanation) []string {
	of, t := tokenised(e)
	return difference("brief", question.Brief(s, claim, e), t.restore(question.Brief(s, claim, of)))
}

// lookedAtCopies is lookedAt for a count of copies.
func lookedAtCopies(f *explain.Fit) []string {
	of, t := tokenised(f)
	return difference("table", table(f), t.restore(table(of)))
}

// table prints a count of copies for so many nodes that some share a row.
func table(f *explain.Fit) string {
	many := *f
	many.Nodes = slices.Repeat(f.Nodes, 13)
	var b bytes.Buffer
	for _, f := range []*explain.Fit{f, &many} {
		if err := explanations.PrintFit(&b, f, text.Options{}); err != nil {
			panic(err)
		}
	}
	return b.String()
}

// difference compares two texts but for the number of spaces.
func difference(what, with, without string) []string {
	before, after := strings.Split(with, "\n"), strings.Split(without, "\n")
	for i := range before {
		before[i] = strings.Join(strings.Fields(inspect.Sanitize(before[i])), " ")
	}
	for i := range after {
		after[i] = strings.Join(strings.Fields(after[i]), " ")
	}
	if slices.Equal(before, after) {
		return nil
	}
	return []string{what + ":\n" + firstDifferences(before, after)}
}
