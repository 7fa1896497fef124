package output_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/checks"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/markdown/markdowntest"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/shapes"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// disguise returns a copy of a value in which every text is another one. What our own code calls something by
// (verdicts, codes, kinds of objects, the steps of funnels) stays.
func disguise(v reflect.Value, rename func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		if t := v.Type(); t.PkgPath() == "" || t == reflect.TypeFor[inspect.NodeName]() {
			out.SetString(rename(v.String()))
			return out
		}
		out.Set(v)
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(disguise(v.Elem(), rename))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(disguise(v.Index(i), rename))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for _, key := range v.MapKeys() {
				out.SetMapIndex(disguise(key, rename), disguise(v.MapIndex(key), rename))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.IsExported() && !isFixed(v.Type(), field.Name) {
				out.Field(i).Set(disguise(v.Field(i), rename))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// isFixed reports whether a field has a word of our own, or nothing that is shown.
func isFixed(t reflect.Type, field string) bool {
	if strings.HasPrefix(t.PkgPath(), "k8s.io/") || t == reflect.TypeFor[checkup.Rule]() {
		return true
	}
	switch field {
	case "Kind", "Edits", "Key":
		return true
	case "Name":
		return t == reflect.TypeFor[explain.Step]()
	}
	return false
}

// answersOf are answers of all kinds about a cluster.
func answersOf(t *testing.T, s *inspect.Snapshot) []any {
	t.Helper()
	ctx := context.Background()
	cluster := scheduler.NewCluster(s, scheduler.Options{})
	var out []any
	add := func(answer any, err error) {
		if err == nil {
			out = append(out, answer)
		}
	}
	for _, claim := range s.Objects().Claims {
		e, err := question.Claim(ctx, cluster, inspect.ClaimRef{Namespace: claim.Namespace, Name: claim.Name}, question.Options{})
		if err == nil {
			remedy.Add(s, e, remedy.Asked{Args: []string{"claim", claim.Name}})
		}
		add(e, err)
		if f, err := question.FitClaim(ctx, cluster, claim, question.Options{}); err == nil {
			add(f, nil)
		}
	}
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || len(pod.Spec.ResourceClaims) > 0 {
			add(question.Pod(ctx, cluster, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}, question.Options{}))
		}
	}
	add(triage.Of(ctx, cluster, triage.Options{}))
	waiting, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true })
	add(plan.Place(ctx, cluster, waiting, plan.Options{}))
	if len(s.Nodes()) > 0 {
		add(plan.Play(ctx, cluster, plan.Drain(s, inspect.NodeName(s.Nodes()[0].Name))))
	}
	for i, pod := range waiting[:min(len(waiting), 4)] {
		if i == 0 {
			if kinds, err := shapes.OfCluster(s, waiting); err == nil {
				add(shapes.Find(ctx, cluster, waiting, kinds, shapes.Options{}))
			}
		}
		add(moves.MakeRoom(ctx, cluster, pod, 0))
	}
	report, err := checkup.Run(ctx, s, checkup.Options{Severity: checkup.Note})
	add(report, err)
	return out
}

// wireOf is the wire form of an answer.
func wireOf(answer any) any {
	switch a := answer.(type) {
	case *explain.Explanation:
		return explanations.NewExplanation(a)
	case *explain.Triage:
		return explanations.NewTriage(a)
	case *explain.Plan:
		return explanations.NewPlan(a)
	case *explain.Disruption:
		return explanations.NewDisruption(a)
	case *explain.Moves:
		return explanations.NewMovesPlan(a)
	case *explain.ShapePlan:
		return explanations.NewShapePlan(a)
	case *explain.Fit:
		return explanations.Fits([]*explain.Fit{a})
	case *checkup.Report:
		return checks.NewCheck(a)
	}
	panic(fmt.Sprintf("%T", answer))
}

// TestMarkdownOfHostileText makes every text in answers about all clusters hostile: nothing in them does
// anything, and the structure is that of the same answers with harmless text.
func TestMarkdownOfHostileText(t *testing.T) {
	clusters.Each(t, func(t *testing.T, s *inspect.Snapshot) {
		hostile := markdowntest.Hostile()
		for n, answer := range answersOf(t, s) {
			if !effort.Full() && n%4 > 0 && len(s.Nodes()) < 12 { // all of the demo cluster
				continue
			}
			if problems := markdowntest.Read(mustMarkdown(t, wireOf(answer))).Problems; len(problems) > 0 {
				t.Fatalf("%d: %v", n, problems)
			}
			random := rand.New(rand.NewPCG(uint64(n), 1))
			number := map[string]int{}
			numberOf := func(s string) int {
				if _, known := number[s]; !known {
					number[s] = len(number)
				}
				return number[s]
			}
			// The texts stay as different as they were, and in the same order. Empty ones stay empty.
			page := func(word func(n int) string) (*markdowntest.Page, string) {
				rename := func(s string) string {
					if s == "" {
						return ""
					}
					return word(numberOf(s))
				}
				copied := disguise(reflect.ValueOf(answer), rename).Interface()
				source := mustMarkdown(t, wireOf(copied))
				return markdowntest.Read(source), source
			}
			harmless, _ := page(func(n int) string { return fmt.Sprintf("n%06d", n) })
			start := random.IntN(len(hostile))
			evil, source := page(func(n int) string { return fmt.Sprintf("n%06d ", n) + hostile[(start+n)%len(hostile)] })
			if len(evil.Problems) > 0 || evil.Outline != harmless.Outline {
				t.Fatalf("answer %d (%T): %v\n%s", n, answer, evil.Problems, source)
			}
		}
	})
}

func mustMarkdown(t *testing.T, value any) string {
	t.Helper()
	page, err := output.Markdown(value)
	if err != nil {
		t.Fatal(err)
	}
	return page
}
