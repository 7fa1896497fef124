package priority

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// panel tells about one level how its limits come about and what becomes of its requests.
func (r *row) panel() []styled.Line {
	lines := []styled.Line{r.nowLine()}
	add := func(label, text string) { lines = append(lines, labelled(label, styled.Span{Text: text})) }
	if c := r.current; c != nil { // why the limit of this moment is what it is
		text := c.Brief()
		if now := r.now(); now >= 0 && now != c.Limit {
			text = fmt.Sprintf("%d; by the demand it would be %s", now, text)
		}
		add("CurrentCL", text)
	}
	lines = append(lines, r.nominalLine())
	if r.exempt() {
		add("limits", fmt.Sprintf("its requests never wait; it lends up to %d seats (LendableCL)", r.level.Lendable))
	} else {
		borrows := "any"
		if r.level.Borrowing != nil {
			borrows = fmt.Sprint(*r.level.Borrowing)
		}
		add("limits", fmt.Sprintf("lends %d (LendableCL), borrows %s (BorrowingCL): %d to %s", r.level.Lendable, borrows, r.level.Lower, r.upper()))
		if q := r.level.Queuing; q != nil {
			add("when full", fmt.Sprintf("requests wait in %d queues of %d, each flow in %d of them", q.Queues, q.QueueLengthLimit, q.HandSize))
		} else {
			add("when full", "requests are rejected")
		}
	}
	lines = append(lines, r.rejectedLine())
	if text := r.waitsText(); text != "" {
		add("waits", text)
	}
	if r.load != nil && r.load.Demand.Average != nil && r.load.Demand.HighWatermark != nil {
		d := r.load.Demand
		add("demand", fmt.Sprintf("%.1f seats on average in the last 10 s, %.0f at most", *d.Average, *d.HighWatermark))
	}
	add("schemas", cmp.Or(r.schemas, "none leads here"))
	if r.dangling != nil {
		texts := words.Each(r.dangling, func(d flowcontrol.Dangling) string { return d.Schema + " (to " + d.Level + ")" })
		text := inspect.Sanitize(words.Shorten(texts, 2))
		lines = append(lines, labelled("dangling", warning(text+": passed over, the level does not exist")))
	}
	if len(r.actors) > 0 {
		lines = append(lines, r.actorsLine())
	}
	return lines
}

func labelled(label string, spans ...styled.Span) styled.Line {
	return append(styled.Line{{Text: fmt.Sprintf("  %-10s ", label), Role: styled.Dim}}, spans...)
}

func warning(text string) styled.Span { return styled.Span{Text: text, Role: styled.Warn} }

// actorsLine says who of DRA asks at the level.
func (r *row) actorsLine() styled.Line {
	var names []string
	crowded := false
	for i := range r.actors {
		a := &r.actors[i]
		crowded = crowded || a.Crowded()
		names = append(names, cmp.Or(a.Driver, roleNames[a.Role]))
	}
	line := labelled("of DRA", styled.Span{Text: inspect.Sanitize(words.Shorten(names, 4))})
	if crowded {
		line = append(line, warning("; every pod of the cluster can crowd this level"))
	}
	return line
}

// roleNames are those of actors that are not drivers.
var roleNames = map[flowcontrol.ActorRole]string{
	flowcontrol.RoleClaimController: "the claim controller", flowcontrol.RoleScheduler: "kube-scheduler", flowcontrol.RoleKubelet: "the kubelets",
}

func (r *row) nominalLine() styled.Line {
	about := ""
	if !r.exact {
		about = "about "
	}
	line := labelled("NominalCL",
		styled.Span{Text: fmt.Sprintf("%d seats", r.level.Nominal), Role: styled.Strong},
		styled.Span{Text: fmt.Sprintf(" = ⌈%d × %d shares ÷ %d⌉, of %s%d seats %s", r.seats, r.level.Shares, r.shares, about, r.seats, from[r.source])})
	if r.level.Assumed {
		line = append(line, styled.Span{Text: "; there is no object, the server makes it up", Role: styled.Dim})
	}
	if r.differs {
		line = append(line, warning("; the server has other limits at the moment"))
	}
	return line
}

func (r *row) nowLine() styled.Line {
	if r.load == nil {
		return labelled("now", warning(r.unread))
	}
	t := &r.load.Total
	text := fmt.Sprintf("%d requests executing on %d seats, %d queued", t.ExecutingRequests, t.ExecutingSeats, t.QueuedRequests)
	if r.rates.known {
		text += fmt.Sprintf("; %s/s over %s", perSecond(r.rates.dispatched), duration.HumanDuration(r.rates.over))
	}
	return labelled("now", styled.Span{Text: text})
}

func (r *row) rejectedLine() styled.Line {
	if r.load == nil {
		return labelled("rejected", styled.Span{Text: "not known", Role: styled.Dim})
	}
	text := fmt.Sprintf("%d since the server started", r.live(rejected))
	if by := r.load.Total.Rejected; len(by) > 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(by)) {
			reasons = append(reasons, fmt.Sprintf("%d %s", by[reason], inspect.Sanitize(reason)))
		}
		text += ": " + strings.Join(reasons, ", ")
	}
	return labelled("rejected", styled.Span{Text: text})
}

// waitsText says how long requests waited: those of the last minute, or all since the server started.
func (r *row) waitsText() string {
	if r.load == nil {
		return ""
	}
	waits, when := r.rates.waits, fmt.Sprintf("in the last %s", duration.HumanDuration(r.rates.over))
	if waits.Requests == 0 {
		waits, when = r.load.Total.Waits, "since the server started"
	}
	if waits.Requests == 0 {
		return ""
	}
	text := "on average " + shortened(waits.Mean()).String()
	if bound, ok := waits.Quantile(0.99); ok {
		text += ", 99 % at most " + bound.String()
	}
	return text + " " + when
}

// shortened leaves three digits of a duration.
func shortened(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit)
}
