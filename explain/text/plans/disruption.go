package plans

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DisruptionLines lays out what becomes of pods: who goes, where each comes back or why not, then who else is
// placed, and what stays.
func DisruptionLines(d *explain.Disruption, opts layout.Options) []styled.Line {
	p := newPage(opts)
	p.disruptionHeadline(d)
	p.Doubts(d.Replay.Remarks)
	p.gone("", d.Gone)
	p.gone("Preempted by kube-scheduler", d.Replay.Preempted)
	p.held(d)
	p.released(d.Claims)
	p.alsoPlaced(d)
	p.Notes("Besides", d.Besides, explain.Subject{})
	for _, remark := range d.Remarks {
		p.Add("Note: ", "  ", layout.Span(styled.Dim, remark+"."))
	}
	p.Footer(d.Partial, d.Basis, true)
	return p.Lines
}

func (p *page) disruptionHeadline(d *explain.Disruption) {
	counts := map[explain.Comeback]int{}
	for i := range d.Gone {
		counts[d.Gone[i].Then]++
	}
	stuck, never, unsure := counts[explain.LeftWaiting], counts[explain.NeverComes], openGone(d.Gone)
	lost := len(d.Losses) - openOf(d.Losses) + stuckOf(d.Replay.Preempted)
	sure := d.Replay.Certain && !d.Unseen
	text := d.What + " ends " + words.Count(len(d.Gone), "pod")
	switch {
	case len(d.Gone) == 0:
		text = d.What + " ends no pod"
	case stuck+never == 0:
		text += words.Plural(len(d.Gone), ", which "+may(sure, "finds", "find")+" another node", ", and all "+may(sure, "find", "find")+" another node")
	default:
		var parts []string
		for _, part := range []struct {
			n    int
			text string
		}{{counts[explain.ComesBack], "%d placed again"}, {stuck - unsure, "%d left waiting"}, {unsure, "%d may not find a node"}, {never, "%d will not come back"}} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf(part.text, part.n))
			}
		}
		text += ": " + strings.Join(parts, ", ")
	}
	if n := len(d.Replay.Preempted); n > 0 {
		text += "; kube-scheduler " + may(sure, "preempts", "preempt") + " " + words.Count(n, "other pod") + " for them"
	}
	held, openHeld := len(d.Held), 0
	for i := range d.Held {
		openHeld += words.Btoi(d.Held[i].Open)
	}
	if held > 0 {
		text += fmt.Sprintf("; %s %s", words.Count(held, "pod"), may(openHeld < held, words.Plural(held, "is not evicted", "are not evicted"), "not be evicted"))
	}
	if d.Unseen {
		text += "; not all pods and claims were read, so there may be more"
	}
	sign := layout.Good
	switch {
	case stuck > unsure || lost > 0 || held > openHeld || d.LeavesSome:
		sign = layout.Bad
	case d.Unseen, d.Open, unsure+held > 0, len(d.Losses) > 0, !sure && counts[explain.ComesBack] > 0:
		sign = layout.Open
	case never > 0 && !d.Final:
		sign = layout.Mixed
	}
	p.Add("", "  ", sign, layout.Span(styled.Strong, text))
}

// may is what somebody does, or may do where that is not certain.
func may(sure bool, does, do string) string {
	if sure {
		return does
	}
	return "may " + do
}

// stuckOf is the number of pods that surely find no other node, though a controller makes them again.
func stuckOf(gone []explain.GonePod) int {
	n := -openGone(gone)
	for i := range gone {
		n += words.Btoi(gone[i].Then == explain.LeftWaiting)
	}
	return n
}

// openGone is the number of pods of which it is not known whether they find another node.
func openGone(gone []explain.GonePod) int {
	n := 0
	for i := range gone {
		g := &gone[i]
		n += words.Btoi(g.Then == explain.LeftWaiting && (g.Pending == nil || g.Pending.Verdict == explain.Unknown))
	}
	return n
}

// maxGone is the number of pods shown of those that end alike, without Verbose.
const maxGone = 20

// gone shows the pods that end, and what becomes of each.
func (p *page) gone(title string, pods []explain.GonePod) {
	if len(pods) == 0 {
		return
	}
	p.Title(title)
	name := layout.Widest(pods, p.Width/2, func(g *explain.GonePod) string { return g.Subject.FullName() })
	worst := []explain.Comeback{explain.LeftWaiting, explain.NeverComes, explain.ComesBack}
	sorted := slices.SortedStableFunc(slices.Values(pods), func(a, b explain.GonePod) int {
		return slices.Index(worst, a.Then) - slices.Index(worst, b.Then)
	})
	limit := p.Limit(maxGone, len(sorted))
	for i := range sorted[:limit] {
		g := &sorted[i]
		p.Add("  "+pad(g.Subject.FullName(), name)+"  ", "      ", p.comeback(pods, g)...)
	}
	if rest := sorted[limit:]; len(rest) > 0 {
		waiting := 0
		for i := range rest {
			waiting += words.Btoi(rest[i].Then == explain.LeftWaiting)
		}
		p.Add("  ", "", layout.Span(styled.Dim, fmt.Sprintf("and %s more, %d of them left waiting%s", words.Count(len(rest), "pod"), waiting, p.Hint("shows all"))))
	}
}

// held shows the pods that stay because of budgets.
func (p *page) held(d *explain.Disruption) {
	if len(d.Held) == 0 {
		return
	}
	p.Title("Not evicted")
	name := layout.Widest(d.Held, p.Width/2, func(h *explain.HeldPod) string { return h.Subject.FullName() })
	for i := range d.Held {
		h := &d.Held[i]
		if i == maxGone && !p.Verbose {
			p.Add("  ", "", layout.Span(styled.Dim, fmt.Sprintf("and %s more%s", words.Count(len(d.Held)-i, "pod"), p.Hint("shows all"))))
			return
		}
		why := layout.Span(styled.Bad, "✗ "+h.Message)
		if h.Open {
			why = layout.Span(styled.Warn, "? "+h.Message)
		}
		p.Add("  "+pad(h.Subject.FullName(), name)+"  ", "      ", layout.Span(styled.Dim, string(h.Node)+" "), why)
	}
}

// comeback says what becomes of a pod that ends, and what its eviction waits for.
func (p *page) comeback(pods []explain.GonePod, g *explain.GonePod) []styled.Span {
	out := p.again(pods, g)
	switch {
	case g.Eviction == nil:
	case g.Eviction.Open:
		out = append(out, layout.Span(styled.Warn, "; ? "+g.Eviction.Message))
	default:
		out = append(out, layout.Span(styled.Dim, "; its eviction "+g.Eviction.Message))
	}
	return out
}

// again says where a pod that ends comes back, or why it does not.
func (p *page) again(pods []explain.GonePod, g *explain.GonePod) []styled.Span {
	out := []styled.Span{layout.Span(styled.Dim, "leaves "+string(g.Node)+": ")}
	if sameCause(pods) {
		out = []styled.Span{layout.Span(styled.Dim, string(g.Node)+" ")}
	} else {
		out = append(out, layout.Span(styled.Plain, g.Cause+"; "))
	}
	if g.After > 0 {
		out = append(out, layout.Span(styled.Plain, "after "+g.After.String()+" "))
	}
	switch g.Then {
	case explain.ComesBack:
		text := "→ " + onNode(g.Again)
		if g.Again.Node == g.Node && g.Again.AnyOf <= 1 {
			text = "→ stays there"
		}
		if names := deviceNames(g.Again); names != "" {
			text += "  " + names
		}
		return append(out, layout.Span(styled.Good, text))
	case explain.LeftWaiting:
		why := "is left waiting"
		if g.Pending != nil {
			why = "waits: " + g.Pending.Message
		}
		if g.Pending == nil || g.Pending.Verdict == explain.Unknown {
			return append(out, layout.Span(styled.Warn, "? "+why))
		}
		return append(out, layout.Span(styled.Bad, "✗ "+why))
	case explain.NeverComes:
	}
	return append(out, layout.Span(styled.Warn, "gone: nothing will recreate it"))
}

// sameCause reports whether all pods go for the same reason.
func sameCause(pods []explain.GonePod) bool {
	return !slices.ContainsFunc(pods, func(g explain.GonePod) bool { return g.Cause != pods[0].Cause })
}

// released shows which claims lose their devices.
func (p *page) released(claims []explain.LostClaim) {
	var kept []string
	devices, deleted := 0, 0
	for _, c := range claims {
		devices += len(c.Devices)
		if c.Deleted {
			deleted++
			continue
		}
		kept = append(kept, c.Claim.String())
	}
	if len(claims) == 0 {
		return
	}
	p.Blank()
	text := fmt.Sprintf("%s %s %s", words.Count(len(claims), "claim"), words.Plural(len(claims), "loses", "lose"), words.Count(devices, "device"))
	if deleted > 0 {
		text += fmt.Sprintf("; %d %s", deleted, words.Plural(deleted, "is deleted", "are deleted"))
	}
	if len(kept) > 0 {
		text += "; " + words.Shorten(kept, maxPlanNames) + words.Plural(len(kept), " is kept, without devices", " are kept, without devices")
	}
	p.Add("", "  ", layout.Span(styled.Plain, text))
	if !p.Verbose {
		return
	}
	for _, c := range claims {
		ids := words.Each(c.Devices, inspect.DeviceID.String)
		p.Add("  ", "    ", layout.Span(styled.Name, c.Claim.String()), layout.Span(styled.Plain, "  "+strings.Join(ids, ", ")))
	}
}

// maxAnyway is the number of pods that are named which are placed with the event and without.
const maxAnyway = 5

// placedAnyway are the pods that wait now and are placed with the event and without, where others are left
// waiting whose room they may have.
func placedAnyway(d *explain.Disruption) []string {
	told, waits := map[explain.Subject]bool{}, len(d.Losses) > 0
	for i := range d.Gains {
		told[d.Gains[i].Subject] = true
	}
	for i := range d.Gone {
		told[d.Gone[i].Subject] = true
		waits = waits || d.Gone[i].Then == explain.LeftWaiting
	}
	var out []string
	for i := range d.Replay.Placed {
		if p := &d.Replay.Placed[i]; waits && !told[p.Subject] {
			out = append(out, fmt.Sprintf("%s on %s", p.Subject.FullName(), p.Node))
		}
	}
	return out
}

// alsoPlaced shows what it changes for those that wait now.
func (p *page) alsoPlaced(d *explain.Disruption) {
	if names := placedAnyway(d); len(names) > 0 {
		p.Blank()
		p.Add("", "  ", layout.Span(styled.Plain, "Others that wait now are placed too: "+words.Shorten(names, maxAnyway)))
	}
	p.placed("Placed then, of those that wait now", d.Gains)
	title := "Left waiting then, although they would fit now"
	if openOf(d.Losses) == len(d.Losses) {
		title = "May be left waiting then, although they may fit now"
	}
	p.waiting(title, d.Losses)
}
