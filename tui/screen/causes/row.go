package causes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a pod or a claim that is stuck, or several of them: those that have a cause in common, or of these
// those of a workload. Its texts are safe to show.
type row struct {
	// ref is the subject; of several pods the one that waits longest.
	ref       screen.Ref
	namespace string
	triage    *explain.Triage
	// soFar says that it is not known yet what helps.
	soFar bool
	// cause is the index of its cause, or -1 if that was not looked for.
	cause int
	// level is how deep it lies below its cause, many what there is of several, and workload whose they are.
	level    int
	many     count
	workload string
	// share is how much there is of it beside the cause of which there is most. It is 0 for single ones, and
	// where there are few of all.
	share   float64
	message string // of the cause
	why     string
	brief   string // why, in a few words
	helps   string
	actor   string
	age     screen.Age
}

func (r *row) number() string {
	if r.cause < 0 {
		return "not looked for"
	}
	return strconv.Itoa(r.cause + 1)
}

// key tells rows apart. Causes keep theirs in the next triage.
func (r *row) key() string {
	if r.level == 0 && r.cause >= 0 { // others may come to have it too, or only one be left
		return r.triage.Causes[r.cause].Key
	}
	if r.many == (count{}) {
		return string(r.ref.Kind) + " " + r.ref.String()
	}
	return fmt.Sprintf("%q %q %q", r.triage.Causes[r.cause].Key, r.namespace, r.workload)
}

// name is what stands for the row.
func (r *row) name() styled.Line {
	switch {
	case r.many == (count{}):
		return styled.Text(styled.Name, inspect.Sanitize(r.ref.Name))
	case r.workload != "":
		return styled.Line{{Text: r.workload + ": "}, {Text: r.many.String(), Role: styled.Strong}}
	case r.level == 0 && r.share > 0:
		line := styled.Text(r.looks(), r.many.String()+" ")
		return append(line, widget.Bar(r.share, widestBar, r.looks())[0])
	}
	return styled.Text(r.looks(), r.many.String())
}

// widestBar is how many columns the bar of the cause has of which there is most, and leastBar how much that
// is at least: a few are counted at a glance.
const widestBar, leastBar = 8, 10

// looks are those of a row for several: what is held back on purpose, and what is not known, is not bad.
func (r *row) looks() styled.Role {
	if r.many.undecided > 0 || r.triage.Causes[r.cause].OnPurpose {
		return styled.Dim
	}
	return styled.Bad
}

// shortName is the name of a workload without its kind, and of a cause how many have it.
func (r *row) shortName() styled.Line {
	if r.many != (count{}) && r.level == 0 {
		return styled.Text(r.looks(), r.many.String())
	}
	_, name, ok := strings.Cut(r.workload, " ")
	if !ok {
		return nil
	}
	return styled.Line{{Text: name + ": "}, {Text: r.many.String(), Role: styled.Strong}}
}

// builder makes the rows of a triage, which is nil as long as there is none. Of what is known so far, what
// is not looked into is left out.
func builder(t *explain.Triage, soFar bool) func(context.Context, *screen.World) ([]row, error) {
	return func(_ context.Context, w *screen.World) ([]row, error) {
		if t == nil {
			return nil, nil
		}
		var rows []row
		most := 0
		for i := range t.Causes {
			of := causeRows(w, t, i)
			if len(of) > 0 {
				most = max(most, of[0].many.all())
			}
			rows = append(rows, of...)
		}
		for i := range rows {
			if rows[i].level == 0 && most >= leastBar {
				rows[i].share = float64(rows[i].many.all()) / float64(max(1, most))
			}
		}
		if soFar {
			for i := range rows {
				rows[i].soFar, rows[i].helps = true, cmp.Or(rows[i].helps, "…")
			}
			return rows, nil
		}
		for i, s := range slices.Concat(t.NotLookedInto, t.Depends) {
			why := notLookedFor
			if i >= len(t.NotLookedInto) {
				why = dependsFor
			}
			if w.InNamespace(s.Namespace) {
				rows = append(rows, row{ref: refOf(s), namespace: s.Namespace, triage: t, cause: -1, message: why, why: why})
			}
		}
		return rows, nil
	}
}

// causeRows are the rows of a cause: of one subject its own, of several one for all, and below it the
// workloads with what is stuck of each.
func causeRows(w *screen.World, t *explain.Triage, cause int) []row {
	var all []row
	workloads := map[string][]row{}
	for _, s := range t.Causes[cause].Subjects {
		if !w.InNamespace(s.Namespace) {
			continue
		}
		r := rowOf(w, t, cause, s)
		all = append(all, r)
		workloads[workloadOf(w, r.ref)] = append(workloads[workloadOf(w, r.ref)], r)
	}
	if len(all) < 2 {
		return all
	}
	head := several(all)
	head.why = head.message
	rows := []row{head}
	lone := workloads[""]
	delete(workloads, "")
	for _, key := range slices.SortedFunc(maps.Keys(workloads), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(workloads[b]), len(workloads[a])), words.CompareNames(a, b))
	}) {
		if of := workloads[key]; len(of) == 1 {
			lone = append(lone, of...)
		} else {
			head := several(of)
			head.level = 1
			_, head.workload, _ = strings.Cut(key, "/")
			rows = append(append(rows, head), below(of, 2)...)
		}
	}
	return append(rows, below(lone, 1)...)
}

// below puts rows at a level, in the order of their names.
func below(rows []row, level int) []row {
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(words.CompareNames(a.ref.Namespace, b.ref.Namespace), words.CompareNames(a.ref.Name, b.ref.Name))
	})
	for i := range rows {
		rows[i].level = level
	}
	return rows
}

// several is a row for all of some rows of a cause.
func several(rows []row) row {
	longest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.age.Length(), b.age.Length()) })
	of := longest
	namespaces, kinds := map[string]bool{}, map[screen.Kind]bool{}
	all := make([]*row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
		namespaces[rows[i].namespace], kinds[rows[i].ref.Kind] = true, true
		if rows[i].why != of.why {
			of.why = of.message
		}
		if rows[i].brief != of.brief {
			of.brief = ""
		}
	}
	of.many = counted(all)
	if len(namespaces) > 1 {
		of.namespace = words.Count(len(namespaces), "namespace")
	}
	if !kinds[screen.Pod] || len(kinds) > 1 {
		of.ref = screen.Ref{} // what can be done to a claim is done to one that is in sight
	}
	return of
}

// workloadOf names the object that makes a pod and others like it, as "namespace/Kind name", or "".
func workloadOf(w *screen.World, ref screen.Ref) string {
	if ref.Kind != screen.Pod {
		return ""
	}
	owner, ok := screen.ControllerOf(w.Snapshot, inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name})
	if !ok {
		return ""
	}
	return ref.Namespace + "/" + inspect.Sanitize(string(owner.Kind)+" "+owner.Name)
}

func rowOf(w *screen.World, t *explain.Triage, cause int, s explain.StuckSubject) row {
	c := &t.Causes[cause]
	r := row{
		ref: refOf(s.Subject), namespace: s.Namespace, triage: t, cause: cause, message: inspect.Sanitize(c.Message), why: inspect.Sanitize(s.Message),
		brief: inspect.Sanitize(s.Brief), actor: text.ActorName(c.Actor), age: w.Age(s.Since),
	}
	if len(c.Advice) > 0 {
		r.helps = inspect.Sanitize(c.Advice[0].Message)
	} else if len(c.Fixes) > 0 {
		f := &c.Fixes[0]
		r.helps = inspect.Sanitize(strings.TrimPrefix(f.Message, "in claim "+s.Name+": ")) // the row names it
		if n := len(f.Frees); n > 1 {
			least := ""
			if f.AtLeast {
				least = "at least "
			}
			r.helps = fmt.Sprintf("unblocks %s%d: %s", least, n, r.helps)
		}
	}
	return r
}

const (
	notLookedFor = "what keeps it was not looked for"
	dependsFor   = "whether it finds a node depends on those that kube-scheduler chooses for others"
)

// undecided reports whether it is not known whether the subject is stuck.
func (r *row) undecided() bool {
	return r.cause < 0 || r.triage.Causes[r.cause].Verdict == explain.Unknown
}

// count is how much is stuck, as [explain.Triage.Stuck] counts it, and of how much that is not known.
type count struct{ pods, claims, workloads, undecided int }

// all is how much it is together.
func (n count) all() int { return n.pods + n.claims + n.workloads + n.undecided }

func counted(rows []*row) (n count) {
	for _, r := range rows {
		switch {
		case r.undecided():
			n.undecided++
		case r.ref.Kind == screen.Pod:
			n.pods++
		case r.ref.Kind == screen.QueuedWorkload:
			n.workloads++
		default:
			n.claims++
		}
	}
	return n
}

// String is "2 pods and 1 claim, 3 not known".
func (n count) String() string { return n.with("") }

// stuck is the same as a sentence.
func (n count) stuck() string { return n.with(" stuck") }

// with is how much there is, a word about what is known, and of how much it is not known.
func (n count) with(word string) string {
	text := words.Counts(n.pods, n.claims, n.workloads) + word
	switch {
	case n.undecided == 0:
		return text
	case n.undecided == n.all():
		return fmt.Sprintf("%d not known", n.undecided)
	}
	return fmt.Sprintf("%s, %d not known", text, n.undecided)
}

func refOf(s explain.Subject) screen.Ref {
	return screen.Ref{Kind: screen.Kind(s.Kind), Namespace: s.Namespace, Name: s.Name}
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "NAMESPACE", Short: "NS", Min: 6, Max: 24}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, inspect.Sanitize(r.namespace)) }},
	{Column: widget.Column{Title: "NAME", Min: 24, Max: 48}, Cell: (*row).name, Brief: (*row).shortName, Stem: true},
	listing.AgeColumn("WAITS", 0, func(r *row) screen.Age { return r.age }),
	{
		Column: widget.Column{Title: "WHY", Min: 48, Max: 160}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.why) },
		Brief: func(r *row) styled.Line { return styled.Text(styled.Plain, r.brief) },
	},
	{Column: widget.Column{Title: "WHO ACTS", Rank: 1}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.actor) }},
	{Column: widget.Column{Title: "WHAT HELPS", Min: 40, Max: 120, Rank: 2}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.helps) }},
}
