package rewording

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/claims"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/copies"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// testdata is seen from this package.
const testdata = "../../../../testdata"

// answers are the outlines of all answers, by question.
type answers map[string]outline

// asker asks all questions about one snapshot.
type asker struct {
	name    string
	cluster *scheduler.Cluster
	out     answers
	options question.Options
}

// ask answers all questions.
func ask() (answers, error) {
	out := answers{}
	objects, err := demo.Objects()
	if err != nil {
		return nil, err
	}
	s := inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
	(&asker{"demo", scheduler.NewCluster(s, scheduler.Options{}), out, question.Options{}}).all()
	screens(s, out)
	made(out)
	files, err := filepath.Glob(filepath.Join(testdata, "scenarios", "*.txtar"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		s, err := scenario.Load(file)
		if err != nil {
			return nil, err
		}
		(&asker{s.Name, scheduler.NewCluster(s.Snapshot, scheduler.Options{}), out, question.Options{}}).all()
	}
	folders, err := filepath.Glob(filepath.Join(testdata, "drivers", "*"))
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		read, err := manifest.Read(context.Background(), []string{folder}, manifest.Options{})
		if err != nil {
			return nil, err
		}
		used := map[inspect.Gate]bool{}
		for _, gate := range inspect.FeaturesUsedBy(read.Objects) {
			used[gate] = true
		}
		s := inspect.New(read.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(used), Health: read.Health})
		(&asker{filepath.Base(folder), scheduler.NewCluster(s, scheduler.Options{}), out, question.Options{}}).all()
	}
	return out, running(out)
}

// running asks about pods that have their devices.
func running(out answers) error {
	files, err := filepath.Glob(filepath.Join(testdata, "running", "*.txtar"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%d clusters with pods: %w", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		read, err := manifest.ReadBytes(file, archive.Files[1].Data, manifest.Options{})
		if err != nil {
			return err
		}
		used := map[inspect.Gate]bool{}
		for _, gate := range inspect.FeaturesUsedBy(read.Objects) {
			used[gate] = true
		}
		var ask, at string
		if _, err := fmt.Sscanf(string(archive.Files[0].Data), "%s %s\nat %s", &ask, &ask, &at); err != nil {
			return err
		}
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return err
		}
		s := inspect.New(read.Objects, inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor).With(used), Health: read.Health})
		options := question.Options{Events: inspect.Events{List: read.Events}}
		(&asker{"running " + filepath.Base(file), scheduler.NewCluster(s, scheduler.Options{}), out, options}).all()
	}
	return nil
}

// made asks about clusters that are made for it: one with many kinds of nodes, and some where the scheduler's
// own search takes long.
func made(out answers) {
	big := explaintest.BigCluster(60)
	for _, name := range slices.Sorted(maps.Keys(explaintest.BigQuestions())) {
		claim := explaintest.BigQuestions()[name]
		claim.Namespace, claim.Name = "big", name
		big.Claims = append(big.Claims, claim)
	}
	(&asker{"big", explaintest.NewCluster(big), out, question.Options{}}).all()
	for _, devices := range []int{12, 22, 31} {
		equal := explaintest.NodesWithDevices(devices)
		equal.Claims = []*resourcev1.ResourceClaim{explaintest.GPUClaim(int64(devices+1), "any")}
		(&asker{fmt.Sprintf("%d devices", devices), explaintest.NewCluster(equal), out, question.Options{}}).all()
	}
}

func (a *asker) all() {
	ctx, s := context.Background(), a.cluster.Snapshot()
	stuck, err := triage.Of(ctx, a.cluster, triage.Options{Question: a.options})
	a.triage(stuck, err)
	waiting, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true })
	placed, err := plan.Place(ctx, a.cluster, waiting, plan.Options{})
	a.plan(placed, err)
	for _, claim := range s.Objects().Claims {
		ref := inspect.RefOf(claim)
		e, err := question.Claim(ctx, a.cluster, ref, a.options)
		a.explanation("claim "+ref.String(), e, err)
		a.brief(claim, e)
		f, err := fit.Claim(ctx, a.cluster, claim, a.options)
		a.copies("copies of "+ref.String(), claim, f, err)
	}
	for _, template := range s.Objects().Templates {
		e, err := question.TemplateObject(ctx, a.cluster, template, a.options)
		a.explanation("template "+template.Namespace+"/"+template.Name, e, err)
	}
	for _, pod := range s.Objects().Pods {
		e, err := question.PodObject(ctx, a.cluster, pod, a.options)
		a.explanation("pod "+pod.Namespace+"/"+pod.Name, e, err)
	}
}

func (a *asker) put(what string, o outline) { a.out[a.name+": "+what] = o }

// brief keeps whether there is anything to say in one line, and whether that begins with a request.
func (a *asker) brief(claim *resourcev1.ResourceClaim, e *explain.Explanation) {
	s := a.cluster.Snapshot()
	alone, asked := question.Brief(s, claim, nil), question.Brief(s, claim, e)
	var looked []string
	if e != nil {
		looked = lookedAtInBrief(s, claim, e)
	}
	a.put("in brief "+inspect.RefOf(claim).String(), outline{
		LookedAt: looked,
		Lines:    []string{fmt.Sprint(alone != "", asked != "", aboutRequest(asked, claim), strings.Contains(alone+asked, "\n"))},
	})
}

// aboutRequest reports whether a text begins with the name of a request.
func aboutRequest(text string, claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return strings.HasPrefix(text, r.Name) })
}

// explanation keeps an answer as it is, as it goes over the wire and as it is laid out.
func (a *asker) explanation(what string, e *explain.Explanation, err error) {
	if err != nil {
		a.put(what, outline{Lines: []string{"error"}})
		return
	}
	o := outlineOf(e)
	o.LookedAt = lookedAt(e)
	a.put(what, o)
	a.put(what+", wire", outlineOf(explanations.NewExplanation(e)))
	for _, verbose := range []bool{false, true} {
		a.put(fmt.Sprintf("%s, text, verbose %t", what, verbose), layout(text.Lines(e, text.Options{Width: 1 << 20, Verbose: verbose})))
	}
}

// plan keeps where pods go as it is, as it goes over the wire and as it is laid out.
func (a *asker) plan(p *explain.Plan, err error) {
	if err != nil {
		a.put("plan", outline{Lines: []string{"error"}})
		return
	}
	a.put("plan", outlineOf(p))
	a.put("plan, wire", outlineOf(explanations.NewPlan(p)))
	lines := plans.Lines(p, text.Options{Width: 1 << 20, Verbose: true})
	for _, line := range lines {
		for i := range line {
			line[i].Role = styled.Plain // names stand in a list
		}
	}
	a.put("plan, text", layout(lines))
}

// triage keeps what is stuck as it is, as it goes over the wire and as it is laid out.
func (a *asker) triage(t *explain.Triage, err error) {
	if err != nil {
		a.put("stuck", outline{Lines: []string{"error"}})
		return
	}
	a.put("stuck", outlineOf(t))
	a.put("stuck, wire", outlineOf(explanations.NewTriage(t)))
	for i := range t.Causes { // what is said the same of several is said once: here of those that are alike
		for j := range t.Causes[i].Subjects {
			s := &t.Causes[i].Subjects[j]
			s.Message = fmt.Sprint("alike ", s.Alike)
		}
	}
	lines := text.TriageLines(t, text.Options{Width: 1 << 20, Verbose: true})
	for _, line := range lines {
		for i := range line {
			line[i].Role = styled.Plain // headings are causes here, and names stand in a list
		}
	}
	a.put("stuck, text", layout(lines))
}

// layout is the form of a page: for every line how far it is indented and the roles of its parts, with the
// text of headings and names.
func layout(lines []styled.Line) outline {
	var o outline
	for i, line := range lines {
		shape := fmt.Sprint(i)
		for at, span := range line {
			shape += fmt.Sprintf(" %v", span.Role)
			switch {
			case at == 0:
				shape += fmt.Sprintf(" indent %d", len(span.Text)-len(strings.TrimLeft(span.Text, " ")))
			case span.Role == styled.Name:
				shape += " " + span.Text
			}
			if span.Role == styled.Strong && i > 0 {
				shape += " " + span.Text
			}
		}
		o.Lines = append(o.Lines, shape)
	}
	return o
}

// copies keeps a count of copies as it is, as it goes over the wire and as a table.
func (a *asker) copies(what string, claim *resourcev1.ResourceClaim, f *explain.Fit, err error) {
	if err != nil {
		a.put(what, outline{Lines: []string{"error"}})
		return
	}
	o := outlineOf(f)
	o.LookedAt = lookedAtCopies(f)
	a.put(what, o)
	a.put(what+", wire", outlineOf(explanations.Fits([]*explain.Fit{f})))
	o = outline{}
	for line := range strings.Lines(table(f)) {
		first, _, _ := strings.Cut(line, "  ")
		if strings.HasPrefix(line, "Note") || strings.HasPrefix(line, "!") {
			first = line[:1]
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "   ")
		limit, example := strings.CutPrefix(cells[len(cells)-1], "e.g. ")
		o.Lines = append(o.Lines, fmt.Sprintf("%s, an example %t, about a request %t", first, example, aboutRequest(limit, claim)))
	}
	a.put(what+", table", o)
}

// screens keeps the pages of the terminal UI that show reasons.
func screens(s *inspect.Snapshot, out answers) {
	w := screen.NewWorld(context.Background(), 1, s)
	w.Theme, w.Now = theme.None(), demo.Now()
	list := claims.New()
	screentest.Settle(w, list, screen.Changed{})
	out["the screen of claims"] = starts(list.Plain(w, 1<<12))
	for _, claim := range s.Objects().Claims {
		ref := screen.Ref{Kind: screen.Claim, Namespace: claim.Namespace, Name: claim.Name}
		page := copies.New(ref)
		screentest.Settle(w, page, screen.Changed{})
		out["the screen of copies of "+ref.String()] = starts(page.Plain(w, 1<<12))
	}
}

// starts keeps the first column of a text and the number of its lines; of an error nothing.
func starts(plain string) outline {
	var o outline
	if strings.Count(strings.TrimSpace(plain), "\n") == 0 {
		return outline{Lines: []string{"one line"}}
	}
	for line := range strings.Lines(plain) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		first, _, _ := strings.Cut(line[indent:], "  ")
		o.Lines = append(o.Lines, fmt.Sprint(indent, first))
	}
	return o
}
