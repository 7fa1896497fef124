package priority

import (
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
	var lines []styled.Line
	for _, line := range []styled.Line{r.nowLine(), r.currentLine(), r.nominalLine(), r.limitsLine(), r.fullLine(), r.rejectedLine(), r.waitsLine(), r.demandLine(), r.widestLine()} {
		if line != nil {
			lines = append(lines, line)
		}
	}
	schemas := r.schemas
	if schemas == "" {
		schemas = "none leads here"
	}
	lines = append(lines, labelled("schemas", styled.Span{Text: schemas}))
	if r.dangling != nil {
		texts := make([]string, len(r.dangling))
		for i, d := range r.dangling {
			texts[i] = d.Schema + " (to " + d.Level + ")"
		}
		text := inspect.Sanitize(words.Shorten(texts, 2))
		lines = append(lines, labelled("dangling", styled.Span{Text: text + ": passed over, the level does not exist", Role: styled.Warn}))
	}
	if line := r.actorsLine(); line != nil {
		lines = append(lines, line)
	}
	return lines
}

// currentLine says why the limit of this moment is what it is.
func (r *row) currentLine() styled.Line {
	if r.current == nil {
		return nil
	}
	text := r.current.Brief()
	if now := r.figures.Current; now != nil && *now != r.current.Limit {
		text = fmt.Sprintf("%d; by the demand it would be %s", *now, text)
	}
	return labelled("CurrentCL", styled.Span{Text: text})
}

// widestLine says how many seats one request may take.
func (r *row) widestLine() styled.Line {
	if r.exempt() {
		return nil
	}
	return labelled("widest", styled.Span{Text: fmt.Sprintf("a list takes at most %s, a write at most %d", words.Count(r.widest.List, "seat"), r.widest.Write)})
}

// actorsLine says who of DRA asks at the level.
func (r *row) actorsLine() styled.Line {
	if len(r.actors) == 0 {
		return nil
	}
	var names []string
	crowded := false
	for i := range r.actors {
		crowded = crowded || r.actors[i].Crowded()
		switch a := &r.actors[i]; a.Role {
		case flowcontrol.RoleDriver:
			names = append(names, a.Driver)
		case flowcontrol.RoleClaimController:
			names = append(names, "the claim controller")
		case flowcontrol.RoleScheduler:
			names = append(names, "kube-scheduler")
		case flowcontrol.RoleKubelet:
			names = append(names, "the kubelets")
		}
	}
	line := labelled("of DRA", styled.Span{Text: inspect.Sanitize(words.Shorten(names, 4))})
	if crowded {
		line = append(line, styled.Span{Text: "; every pod of the cluster can crowd this level", Role: styled.Warn})
	}
	return line
}

func labelled(label string, spans ...styled.Span) styled.Line {
	return append(styled.Line{{Text: fmt.Sprintf("  %-10s ", label), Role: styled.Dim}}, spans...)
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
		line = append(line, styled.Span{Text: "; the server has other limits at the moment", Role: styled.Warn})
	}
	return line
}

func (r *row) limitsLine() styled.Line {
	borrows, upper := "borrows any (BorrowingCL)", fmt.Sprintf("%d (∞)", r.level.Upper)
	if r.level.Borrowing != nil {
		borrows, upper = fmt.Sprintf("borrows %d (BorrowingCL)", *r.level.Borrowing), fmt.Sprint(r.level.Upper)
	}
	if r.exempt() {
		return labelled("limits", styled.Span{Text: fmt.Sprintf("its requests never wait; it lends up to %d seats (LendableCL)", r.level.Lendable)})
	}
	text := fmt.Sprintf("lends %d (LendableCL), %s: %d to %s", r.level.Lendable, borrows, r.level.Lower, upper)
	return labelled("limits", styled.Span{Text: text})
}

// fullLine says what becomes of requests for which there is no seat.
func (r *row) fullLine() styled.Line {
	switch q := r.level.Queuing; {
	case r.exempt():
		return nil
	case q != nil:
		return labelled("when full", styled.Span{Text: fmt.Sprintf("requests wait in %d queues of %d, each flow in %d of them", q.Queues, q.QueueLengthLimit, q.HandSize)})
	}
	return labelled("when full", styled.Span{Text: "requests are rejected"})
}

func (r *row) nowLine() styled.Line {
	if r.figures.Executing == nil {
		return labelled("now", styled.Span{Text: r.unread, Role: styled.Warn})
	}
	text := fmt.Sprintf("%d requests executing", *r.figures.Executing)
	if r.figures.ExecutingSeats != nil {
		text += fmt.Sprintf(" on %d seats", *r.figures.ExecutingSeats)
	}
	if r.figures.Queued != nil {
		text += fmt.Sprintf(", %d queued", *r.figures.Queued)
	}
	if r.rates.known {
		text += fmt.Sprintf("; %s/s over %s", perSecond(r.rates.dispatched), duration.HumanDuration(r.rates.over))
	}
	line := labelled("now", styled.Span{Text: text})
	if r.figures.Quiescing {
		line = append(line, styled.Span{Text: "; the level was deleted and ends with these", Role: styled.Warn})
	}
	if r.unread != "" {
		line = append(line, styled.Span{Text: "; " + r.unread, Role: styled.Warn})
	}
	return line
}

func (r *row) rejectedLine() styled.Line {
	if r.figures.Rejected == nil {
		return labelled("rejected", styled.Span{Text: "not known", Role: styled.Dim})
	}
	line := labelled("rejected", styled.Span{Text: fmt.Sprintf("%d since the server started", *r.figures.Rejected)})
	if r.load == nil || len(r.load.Total.Rejected) == 0 {
		return line
	}
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(r.load.Total.Rejected)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", r.load.Total.Rejected[reason], inspect.Sanitize(reason)))
	}
	return append(line, styled.Span{Text: ": " + strings.Join(reasons, ", ")})
}

// waitsLine says how long requests waited: those of the last minute, or all since the server started.
func (r *row) waitsLine() styled.Line {
	if r.load == nil {
		return nil
	}
	waits, when := r.rates.waits, fmt.Sprintf("in the last %s", duration.HumanDuration(r.rates.over))
	if waits.Requests == 0 {
		waits, when = r.load.Total.Waits, "since the server started"
	}
	if waits.Requests == 0 {
		return nil
	}
	return labelled("waits", styled.Span{Text: waitsText(waits) + " " + when})
}

func waitsText(waits flowcontrol.Waits) string {
	text := "on average " + shortened(waits.Mean()).String()
	if bound, ok := waits.Quantile(0.99); ok {
		text += ", 99 % at most " + bound.String()
	}
	return text
}

// shortened leaves three digits of a duration.
func shortened(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit)
}

func (r *row) demandLine() styled.Line {
	if r.load == nil || r.load.Demand.Average == nil || r.load.Demand.HighWatermark == nil {
		return nil
	}
	d := r.load.Demand
	return labelled("demand", styled.Span{Text: fmt.Sprintf("%.1f seats on average in the last 10 s, %.0f at most", *d.Average, *d.HighWatermark)})
}
