package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxFixes = 5 // shown without Verbose
	maxHeld  = 3
)

// conflict shows what is in the way.
func (p *page) conflict() {
	c := p.e.Conflict
	if c == nil {
		return
	}
	p.Heading("Why", layout.Span(styled.Plain, "  "+conflictHeading(p.e, c)))
	held := 0
	for i := range c.Requirements {
		r := &c.Requirements[i]
		if r.Holder == nil {
			p.requirement(r)
			continue
		}
		held++
		if held <= maxHeld || p.Verbose {
			p.heldBy(r)
		}
	}
	if held > maxHeld && !p.Verbose {
		p.Add("    ", "      ", layout.Span(styled.Plain, fmt.Sprintf("and %s more that hold devices%s", words.Count(held-maxHeld, "claim"), p.Hint("shows all"))))
	}
	if text := aloneHelps(p.e, c); text != "" {
		p.Add("    ", "    ", layout.Span(styled.Plain, text))
	}
}

// aloneHelps says which requirements of a conflict it helps to give up alone, where that is not so of each.
func aloneHelps(e *explain.Explanation, c *explain.Conflict) string {
	switch absent := explain.AbsentClasses(e.Advice); {
	case c.Sole:
		return ""
	case len(absent) > 0:
		return "Nothing else helps as long as " + explain.NothingPublished(absent) + "."
	}
	var helps []string
	for i := range c.Requirements {
		if c.Requirements[i].Alone {
			helps = append(helps, ordinal(i+1))
		}
	}
	switch {
	case len(c.Requirements) == 1:
		return "Removing it does not help by itself: something else is in the way as well."
	case len(helps) == 0:
		return "Removing one of these does not help by itself: something else is in the way as well."
	default:
		return fmt.Sprintf("Only removing the %s helps by itself.", words.Or(helps))
	}
}

// ordinal is the place of something in a list.
func ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"}
	if n <= len(words) {
		return words[n-1]
	}
	return fmt.Sprintf("%dth", n)
}

// failure shows the term of a selector that fails, and what that does to the pod.
func (p *page) failure() {
	f := p.e.Failure
	if f == nil {
		return
	}
	p.Blank()
	p.Add("", "     ", styled.Span{Text: "Why", Role: styled.Strong}, layout.Span(styled.Plain, "  "+failureHeading(f)))
	p.requirement(&f.Requirement)
}

func failureHeading(f *explain.Failure) string {
	if f.Hangs {
		return "kube-scheduler decides about one pod after the other, and has no limit for this: while it evaluates the selector for the first device, it schedules nothing else:"
	}
	return "as soon as the scheduler gets to a device for which a selector fails, it gives up the whole pod, even if other devices or nodes would do:"
}

func conflictHeading(e *explain.Explanation, c *explain.Conflict) string {
	where := "on " + string(c.Node)
	if e.Nodes.Total > 1 {
		where += ", one of the closest nodes,"
	}
	switch n := len(c.Requirements); {
	case n == 1:
		return fmt.Sprintf("%s this is in the way:", where)
	case n == 2 && c.Sole:
		return fmt.Sprintf("%s removing either of these is enough:", where)
	case c.Sole:
		return fmt.Sprintf("%s removing any one of these %d is enough:", where, n)
	case n == 2:
		return fmt.Sprintf("%s these two together are in the way:", where)
	default:
		return fmt.Sprintf("%s these %d together are in the way:", where, n)
	}
}

// actorNames say who has to act.
var actorNames = map[explain.Actor]string{
	explain.User: "you", explain.DriverAdmin: "the driver's admin", explain.ClusterAdmin: "the cluster's admin",
}

// ActorName says who has to act.
func ActorName(a explain.Actor) string { return actorNames[a] }

// requirement shows what is required, and where that is said; and who can give it up, if that is not the
// user.
func (p *page) requirement(r *explain.Requirement) {
	where, text := requirementText(p.e, r)
	path, message := layout.Span(styled.Dim, where), layout.Span(styled.Plain, text)
	const indent = "    "
	if n := styled.Width(path.Text) + styled.Width(message.Text); len(indent)+n+2 <= p.Width {
		width := max(48-len(indent), styled.Width(path.Text)+2)
		if width+styled.Width(message.Text)+len(indent) > p.Width {
			width = styled.Width(path.Text) + 2
		}
		gap := strings.Repeat(" ", width-styled.Width(path.Text))
		p.Lines = append(p.Lines, styled.Line{styled.Span{Text: indent}, path, styled.Span{Text: gap}, message})
		return
	}
	p.Lines = append(p.Lines, styled.Line{styled.Span{Text: indent}, path})
	p.Add(indent+"  ", indent+"    ", message)
}

// requirementText is where something is required, and what; with who can give it up, if that is not the user.
func requirementText(e *explain.Explanation, r *explain.Requirement) (path, text string) {
	path, text = r.Path, r.Sentence()
	if actor := r.Actor(e.Subject); actor != explain.User && r.Kind != explain.CountersRequired { // nobody can raise these
		text += " (up to " + actorNames[actor] + ")"
	}
	if (manyClaims(e) || e.Subject.Kind == "Pod") && r.Claim.Name != "" {
		path = r.Claim.Name + " " + r.Path
	}
	return path, text
}

func (p *page) heldBy(r *explain.Requirement) {
	name, text := heldText(r)
	p.Add("    ", "      ", layout.Span(styled.Name, name), layout.Span(styled.Plain, " "+text))
}

// heldText names a claim that holds devices, and says what is known of it.
func heldText(r *explain.Requirement) (name, text string) {
	return r.Holder.Claim.String(), r.Message + " (" + strings.Join(about(*r.Holder), ", ") + ")"
}

// advice says what to see to first.
func (p *page) advice() {
	for i := range p.e.Advice {
		a := &p.e.Advice[i]
		p.Blank()
		p.Add("", "  ", styled.Span{Text: "First", Role: styled.Strong}, layout.Span(styled.Plain, "  "+actorNames[a.Actor]+" can "+a.Message))
		p.Commands(a.Commands, "    ")
	}
}

// fixes lists what was found to help, and what was found not to.
func (p *page) fixes() {
	if len(p.e.Fixes) == 0 && len(p.e.NoHelp) == 0 {
		return
	}
	p.Blank()
	if len(p.e.Fixes) == 0 {
		p.Add("", "  ", styled.Span{Text: "Fixes", Role: styled.Strong}, styled.Span{Text: "  none found"})
	}
	limit := p.Limit(maxFixes, len(p.e.Fixes))
	for i := range p.e.Fixes[:limit] {
		f := &p.e.Fixes[i]
		p.whoCan(i)
		spans := []styled.Span{layout.Span(styled.Plain, f.Message)}
		if where := fixWhere(f); where != "" {
			spans = append(spans, layout.Span(styled.Good, " → "+where))
		}
		p.Add(fmt.Sprintf("  %d  ", i+1), "     ", spans...)
		for j := range f.OtherBlockers {
			p.beside(&f.OtherBlockers[j])
		}
		p.howTo(i)
	}
	if n := len(p.e.Fixes) - limit; n > 0 {
		p.Add("     ", "     ", styled.Span{Text: moreFixes(n) + p.Hint("shows all"), Role: styled.Dim})
	}
	for _, text := range p.e.NoHelp {
		p.Add("     ", "     ", layout.Span(styled.Dim, text+"."))
	}
}

// whoCan says before a fix who has to act, if that is somebody else than for the fix before.
func (p *page) whoCan(i int) {
	actors := p.e.Fixes[i].Actors(p.e.Subject)
	switch {
	case i == 0:
		p.Add("", "  ", styled.Span{Text: "Fixes", Role: styled.Strong}, layout.Span(styled.Plain, "  "+actorsText(actors)+" can"))
	case !slices.Equal(actors, p.e.Fixes[i-1].Actors(p.e.Subject)):
		p.Add("", "  ", styled.Span{Text: "Or", Role: styled.Strong}, layout.Span(styled.Plain, " "+actorsText(actors)+" can"))
	}
}

// actorsText names some actors.
func actorsText(actors []explain.Actor) string {
	names := words.Each(actors, func(a explain.Actor) string { return actorNames[a] })
	return strings.Join(names, " and ")
}

// moreFixes says how many are not shown.
func moreFixes(n int) string {
	if n == 1 {
		return "1 more fix"
	}
	return fmt.Sprintf("%d more fixes", n)
}

// beside says why a fix changes more than what the conflict is about.
func (p *page) beside(r *explain.Requirement) {
	p.Add("     ", "       ", layout.Span(styled.Dim, besideText(r)))
}

func besideText(r *explain.Requirement) string {
	text := r.Sentence()
	if r.Holder != nil {
		text = r.Holder.Claim.String() + " " + text
	}
	if r.Fails {
		text += " (left as it is, it would make the scheduler give up)"
	}
	return "also in the way: " + text
}

// fixWhere says on how many nodes it would fit.
func fixWhere(f *explain.Fix) string {
	switch {
	case f.Nodes == 0, f.Like != "", f.Nodes == 1 && f.NamesNode:
		return ""
	case f.Nodes == 1:
		return string(f.Node)
	}
	return nodes(f.Nodes)
}

// summary is one line for each group of nodes: how many, and what becomes of their devices. Groups that
// differ only in what is of no interest here are put together.
func (p *page) summary(heading string) {
	names, texts := summarize(p.e)
	if len(texts) == 0 {
		return
	}
	p.Heading(heading)
	digits := 3
	for _, n := range names {
		digits = max(digits, len(strconv.Itoa(len(n))))
	}
	for i, text := range texts {
		if i == maxSummary && len(texts) > maxSummary+1 {
			p.Add("  ", "  ", styled.Span{Text: fmt.Sprintf("%d other groups%s", len(texts)-i, p.Hint("shows all")), Role: styled.Dim})
			return
		}
		first := fmt.Sprintf("  %*d  ", digits, len(names[i]))
		p.Add(first, strings.Repeat(" ", len(first)+2), layout.Span(styled.Dim, p.fewNames(names[i])+": "), layout.Span(styled.Plain, text.text))
	}
}

// summarize puts groups of nodes together of which the same is to be said, those first that come nearest.
func summarize(e *explain.Explanation) (names [][]inspect.NodeName, texts []brief) {
	groups := slices.Clone(e.Groups)
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(b.Score, a.Score) })
	if len(groups) == 0 || saidAlready(e, &groups[0]) {
		return nil, nil
	}
	for i := range groups {
		text := shortGroup(e, &groups[i])
		at := slices.IndexFunc(texts, func(other brief) bool { return other.key == text.key })
		if at < 0 {
			at = len(texts)
			texts, names = append(texts, text), append(names, nil)
		}
		names[at] = append(names[at], groups[i].Nodes...)
	}
	for _, list := range names {
		slices.Sort(list)
	}
	return names, texts
}

const maxSummary = 5

func (p *page) fewNames(names []inspect.NodeName) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	return p.nodeNames(names)
}

// brief is what a line says of a group of nodes.
type brief struct {
	key  briefKey
	text string
}

// briefKey tells lines apart, whatever the words of the reasons in them.
type briefKey struct {
	filters         string // that refuse the nodes
	request, funnel string
	reason          explain.Finding
	asSaid          bool // that the selector fails
}

// shortGroup is what a line says of a group: what the scheduler's other filters have against its nodes, and
// what becomes of their devices if these do not suffice.
func shortGroup(e *explain.Explanation, g *explain.Group) brief {
	var texts []string
	var key strings.Builder
	rest := *g
	rest.Reasons = nil
	for i := range g.Reasons {
		r := &g.Reasons[i]
		if r.Plugin == "" || r.Told {
			rest.Reasons = append(rest.Reasons, *r)
			continue
		}
		texts = append(texts, r.Message)
		fmt.Fprintf(&key, "%v\n", r.Finding())
	}
	line := shortFunnel(e, &rest)
	if line.key.filters = key.String(); line.text != "" {
		texts = append(texts, line.text)
	}
	line.text = strings.Join(texts, "; ")
	return line
}

// shortFunnel is the funnel of the request that is starved, in one line; else the first reason.
func shortFunnel(e *explain.Explanation, g *explain.Group) brief {
	pool := poolInTheWay(e, g)
	for i := range g.Funnels {
		f := &g.Funnels[i]
		reasons := reasonsOf(g, f)
		if len(reasons) == 0 || f.Steps[0].Most == 0 {
			continue
		}
		if last := f.Steps[len(f.Steps)-1]; last.Name != "together" && last.Left >= f.Needed && f.Needed > 0 {
			return brief{briefKey{request: f.Request, reason: reasons[0].Finding()}, f.Request + " " + reasons[0].Message} // enough devices, but not together with others
		}
		line := brief{briefKey{request: f.Request, funnel: funnelLine(f)}, f.Request + " " + funnelLine(f)}
		if pool != nil {
			line.key.reason, line.text = pool.Finding(), line.text+"; "+pool.Message
		}
		return line
	}
	if pool != nil {
		return brief{briefKey{reason: pool.Finding()}, pool.Message}
	}
	if len(g.Reasons) == 0 {
		return brief{}
	}
	r := &g.Reasons[0]
	if e.Failure != nil && r.Told {
		return brief{briefKey{asSaid: true}, "the selector fails, as said above"}
	}
	line := brief{briefKey{reason: r.Finding()}, r.Message}
	if r.Request != "" && !r.NamesRequest {
		line.key.request, line.text = r.Request, r.Request+": "+r.Message
	}
	return line
}

// poolInTheWay is a pool that offers nothing, where that matters: if no device reaches the nodes, or if the
// pool is part of the conflict. It is nil if there is none.
func poolInTheWay(e *explain.Explanation, g *explain.Group) *explain.Reason {
	for i := range g.Reasons {
		r := &g.Reasons[i]
		if r.Pool == (inspect.PoolID{}) {
			continue
		}
		alone := len(g.Funnels) > 0 && g.Funnels[0].Steps[0].Most == 0
		blamed := e.Conflict != nil && slices.ContainsFunc(e.Conflict.Requirements, func(q explain.Requirement) bool {
			return (q.Kind == explain.PoolRequired || q.Kind == explain.FeatureRequired) && q.Pool == r.Pool
		})
		if alone || blamed {
			return r
		}
	}
	return nil
}

func funnelLine(f *explain.Funnel) string {
	class := f.Steps[1]
	if class.Most == 0 {
		return "has no device of its class here"
	}
	var parts []string
	left := f.Steps[len(f.Steps)-1]
	for _, step := range f.Steps[2:] {
		if step.Name == "together" {
			left = f.Steps[len(f.Steps)-2]
			continue
		}
		parts = append(parts, losses(&step)...)
	}
	rest := numbers(left.Left, left.Most) + " left"
	if together := f.Steps[len(f.Steps)-1]; together.Name == "together" {
		rest += ", at most " + numbers(together.Left, together.Most) + " of them together"
	}
	return numbers(class.Left, class.Most) + " of its class: " + strings.Join(append(parts, rest), ", ")
}

// losses says how many devices a step lost, by what it lost them for.
func losses(step *explain.Step) []string {
	var parts []string
	titles := []string{stepTitles[step.Name]}
	for i := range step.Lost {
		titles = words.AppendNew(titles, lossTitle(step, &step.Lost[i]))
	}
	for _, title := range titles {
		low, high := 0, 0
		for i := range step.Lost {
			if l := &step.Lost[i]; lossTitle(step, l) == title {
				low, high = low+l.Count, high+l.Most
			}
		}
		if high > 0 {
			parts = append(parts, numbers(low, high)+" "+title)
		}
	}
	return parts
}

func numbers(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}
