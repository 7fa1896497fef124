package output_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	goldmarktext "github.com/yuin/goldmark/text"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/shapes"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
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
		if f, err := fit.Claim(ctx, cluster, claim, question.Options{}); err == nil {
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
		add(disruption.Play(ctx, cluster, disruption.Drain(s, inspect.NodeName(s.Nodes()[0].Name))))
	}
	for i, pod := range waiting[:min(len(waiting), 4)] {
		if i == 0 {
			if kinds, err := shapes.OfCluster(s, waiting); err == nil {
				add(shapes.Find(ctx, cluster, waiting, kinds, shapes.Options{}))
			}
		}
		add(moves.MakeRoom(ctx, cluster, pod))
	}
	report, err := checkup.Run(ctx, s, checkup.Options{Severity: checkup.Note})
	add(report, err)
	return out
}

// parser knows more than one dialect, so that what is safe in it is safe in each.
var parser = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser()

// meaningful is text outside of code that a dialect gives a meaning: mentions, references, emoji, formulas,
// entities, addresses.
var meaningful = regexp.MustCompile("[@#<>\\[\\]{}*_~`|\\\\&$^=]|://|www\\.|:[a-z+0-9-]+:|[A-Z]-[0-9]|\\b[0-9a-f]{7,}\\b")

// hostile are texts that mean something in Markdown, in some dialect and at some place.
func hostile() []string {
	return []string{
		"`", "``", "```", "`a`", "a`b", "```\n# x\n```", "` ```", "\\`", "`\\", "\\", "a\\|b", "|", "||", "| a | b |", "a|b\\", "|---|\n|---|",
		"[x](javascript:alert(1))", "![x](http://x/y.png)", "[x]", "[x]: http://evil", "[^1]", "[ ] task", "<b>", "<script>alert(1)</script>", "<!-- ", "-->", "<img src=x>",
		"<https://evil.example>", "https://evil.example/x", "www.evil.example", "mail@evil.example", "xmpp:a@b", "@team", "@here", "<!here>", "<@U123>", "a@b", "owner/repo#1", "#1", "!1", "$1", "%1", "~bug", "&epic",
		"GH-1", "ABC-123", "0123456789abcdef", "deadbeef", ":smile:", ":tada: x", "$x^2$", "$$", "*", "**", "***", "*a*", "**a**", "__a__", "_a_", "~~a~~", "a*b*c", "# h", "## h ##", "> q",
		"- x", "+ x", "* x", "1. x", "1) x", "10. x", "---", "===", "***", ": x", "a\n===", "    code", "\tcode", "\n\n# x", "\r\n- x", "&amp;", "&lt;b&gt;", "&#64;team", "{code}", "{{x}}", "{% x %}", "[~user]", "h1. x",
		"\u202e", "\u200b@x", "a\u00a0b", "\u2028# x", "＠team", "é`", "日本|語", "\x1b[31m", "\x00", "\xff", "", " ", "  a  ", " ` ", "`` ` ``", strings.Repeat("`", 9), "x == 'a`b' && y", "a || b", "'", "\"", "(", ")", "().", "'a", "a'", "\"a b\"",
		"(a|b)", "don't", "5%", "3.", "(3)", "1,000", "a.", "e.g.", "…", "→",
	}
}

// checkPage reads a page, and reports what of it is not a headline and a block with the text.
func checkPage(source, headline, text string) error {
	data := []byte(source)
	root := parser.Parse(goldmarktext.NewReader(data))
	code, ok := root.LastChild().(*ast.FencedCodeBlock)
	if !ok || string(code.Language(data)) != "text" || strings.TrimRight(string(code.Lines().Value(data)), "\n") != strings.TrimRight(text, "\n") {
		return fmt.Errorf("the last block is a %s, not the text", root.LastChild().Kind())
	}
	words := strings.Join(strings.Fields(inspect.Sanitize(headline)), " ")
	if words == "" && root.ChildCount() == 1 {
		return nil
	}
	bold, ok := root.FirstChild().FirstChild().(*ast.Emphasis)
	if root.ChildCount() != 2 || root.FirstChild().Kind() != ast.KindParagraph || !ok || bold.Level != 2 || bold.NextSibling() != nil {
		return fmt.Errorf("%d blocks, or no headline in bold", root.ChildCount())
	}
	said := ""
	for n := bold.FirstChild(); n != nil; n = n.NextSibling() {
		inline, isText := n.(*ast.Text)
		switch {
		case isText && meaningful.Match(inline.Value(data)):
			return fmt.Errorf("%q has a meaning", inline.Value(data))
		case isText:
			said += string(inline.Value(data))
		case n.Kind() == ast.KindCodeSpan:
			said += string(n.FirstChild().(*ast.Text).Value(data))
		default:
			return fmt.Errorf("there is a %s", n.Kind())
		}
	}
	if said != words {
		return fmt.Errorf("a reader sees %q in place of %q", said, words)
	}
	return nil
}

func inMarkdown(t *testing.T, headline, text string) string {
	t.Helper()
	var page strings.Builder
	if err := output.PrintMarkdown(&page, headline, text); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// TestMarkdown: plain words stay as they are, everything else is code.
func TestMarkdown(t *testing.T) {
	for _, test := range [][2]string{
		{"✗ Unsatisfiable: ml/train-0 needs 5 devices of class gpu.example.com; no node has more than 4", "**✗ Unsatisfiable: `ml/train-0` needs 5 devices of class `gpu.example.com`; no node has more than 4**"},
		{"it fits (2 of them, in use)", "**it fits (2 of them, in use)**"},
		{"the term device.driver == 'x' && size is false", "**the term `device.driver == 'x' &&` size is false**"},
		{"ask @team, or #5", "**ask `@team`, or `#5`**"},
		{"a`b ``c``", "**``` a`b ``c`` ```**"},
		{"[x](javascript:alert(1)) <b> www.evil.example deadbeef", "**`[x](javascript:alert(1)) <b> www.evil.example deadbeef`**"},
	} {
		if got, _, _ := strings.Cut(inMarkdown(t, test[0], "text\n"), "\n"); got != test[1] {
			t.Errorf("the headline of %q is %s", test[0], got)
		}
	}
	if got := inMarkdown(t, "", "a\n```\n````x\n"); got != "`````text\na\n```\n````x\n`````\n" {
		t.Errorf("the fence is not longer than what is in it:\n%s", got)
	}
}

// TestMarkdownOfHostileText puts every hostile text into a headline, among others, and into the text.
func TestMarkdownOfHostileText(t *testing.T) {
	all := hostile()
	for i := range all {
		for k := range all {
			headline, text := all[i]+" "+all[k], "x\n"+all[k]+"\n"+all[i]+"\n"
			if i == k {
				headline = all[i]
			}
			text = strings.NewReplacer("\r", "", "\x00", "", "\t", " ", "\xff", "").Replace(text) // as printers do
			if err := checkPage(inMarkdown(t, headline, text), headline, text); err != nil {
				t.Errorf("%q: %v\n%s", headline, err, inMarkdown(t, headline, text))
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text, "x "+text)
	}
	f.Fuzz(func(t *testing.T, headline, text string) {
		text = "x" + inspect.Sanitize(text)
		if err := checkPage(inMarkdown(t, headline, text), headline, text); err != nil {
			t.Fatal(err)
		}
	})
}

// linesOf lays out an answer.
func linesOf(answer any) []styled.Line {
	opts := text.Options{Width: output.MarkdownWidth}
	switch a := answer.(type) {
	case *explain.Explanation:
		return text.Lines(a, opts)
	case *explain.Triage:
		return text.TriageLines(a, opts)
	case *explain.Plan:
		return plans.Lines(a, opts)
	case *explain.Disruption:
		return plans.DisruptionLines(a, opts)
	case *explain.Moves:
		return plans.MovesLines(a, opts)
	case *explain.ShapePlan:
		return plans.ShapeLines(a, opts)
	case *checkup.Report:
		return a.Lines(checkup.Layout{Width: opts.Width})
	}
	panic(fmt.Sprintf("%T", answer))
}

// textOf is the text of an answer, and its headline.
func textOf(t *testing.T, answer any) (headline, whole string) {
	t.Helper()
	var b strings.Builder
	var err error
	if fit, ok := answer.(*explain.Fit); ok {
		err = explanations.PrintFit(&b, fit, text.Options{Width: output.MarkdownWidth})
	} else {
		err = text.Write(&b, linesOf(answer), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	headline, _, _ = strings.Cut(b.String(), "\n")
	if e, ok := answer.(*explain.Explanation); ok {
		headline = explanations.NewExplanation(e).Headline()
	}
	return headline, b.String()
}

// TestMarkdownOfHostileAnswers makes every text in answers about all clusters hostile: what comes of it is a
// headline and a block of code, in which is all of the text.
func TestMarkdownOfHostileAnswers(t *testing.T) {
	clusters.Each(t, func(t *testing.T, s *inspect.Snapshot) {
		evil := hostile()
		for n, answer := range answersOf(t, s) {
			if !effort.Full() && n%4 > 0 && (effort.Usual() || len(s.Nodes()) < 12) { // of a change all of the demo cluster
				continue
			}
			number := map[string]int{}
			renamed := disguise(reflect.ValueOf(answer), func(s string) string {
				if s == "" {
					return ""
				}
				if _, known := number[s]; !known { // the texts stay as different as they were, and in the same order
					number[s] = len(number)
				}
				return fmt.Sprintf("n%06d ", number[s]) + evil[(n+number[s])%len(evil)]
			}).Interface()
			headline, whole := textOf(t, renamed)
			if err := checkPage(inMarkdown(t, headline, whole), headline, whole); err != nil {
				t.Fatalf("answer %d (%T): %v\n%s", n, answer, err, inMarkdown(t, headline, whole))
			}
		}
	})
}
