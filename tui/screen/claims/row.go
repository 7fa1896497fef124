package claims

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a claim with what is known of it. Its texts are safe to show.
type row struct {
	ref             screen.Ref
	namespace, name string
	state           inspect.ClaimState
	node            string
	devices, asks   string
	count           int // of devices
	pods            string
	age             screen.Age

	reason *reason // never nil
	// released says that the claim is supposed to be released, helped that it is stuck and would not be under
	// what is supposed.
	released, helped bool
}

// noReason is the reason of a claim of which nothing is known that would be one.
var noReason = &reason{}

// builder makes rows with the reasons that are known, and with those when nothing is supposed. Claims that
// need a look come first.
func builder(reasons, actual map[inspect.ClaimRef]*reason) func(ctx context.Context, w *screen.World) ([]row, error) {
	return func(ctx context.Context, w *screen.World) ([]row, error) {
		claims := w.Snapshot.Objects().Claims
		all, from := make([]row, 0, len(claims)), [ranks + 1]int{} // where the rows of a rank begin
		for i, claim := range claims {
			if i%1000 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if w.InNamespace(claim.Namespace) {
				r := rowOf(w, claim)
				r.judge(w, reasons, actual)
				all = append(all, r)
				from[r.rank()+1]++
			}
		}
		for rank := range ranks {
			from[rank+1] += from[rank]
		}
		sorted := make([]row, len(all))
		for i := range all {
			at := &from[all[i].rank()]
			sorted[*at] = all[i]
			*at++
		}
		return sorted, nil
	}
}

// judge adds what is known of the reasons.
func (r *row) judge(w *screen.World, reasons, actual map[inspect.ClaimRef]*reason) {
	ref := inspect.ClaimRef{Namespace: r.ref.Namespace, Name: r.ref.Name}
	r.reason = noReason
	if r.state == inspect.ClaimPending || r.state == inspect.ClaimDeleting {
		r.reason = cmp.Or(reasons[ref], noReason)
	}
	if len(w.Supposed) > 0 {
		if r.released = w.Released(ref); r.released {
			r.reason = r.reason.saying("") // that nobody uses it is only supposed
		}
		if r.reason.refused != "" && actual[ref].stuck() {
			r.reason = r.reason.refusing()
		}
		if r.helped = r.reason.possible != "" && actual[ref].stuck(); r.helped {
			r.reason = r.reason.saying(r.reason.possible) // the scheduler's message is about the cluster as it is
		}
	}
}

// stuck reports whether the row says that the claim is.
func (r *row) stuck() bool {
	return r.state == inspect.ClaimPending && !r.helped && !r.released && r.reason.stuck()
}

// ranks is how many ranks there are.
const ranks = 6

// rank orders claims by how much they need a look.
func (r *row) rank() int {
	switch {
	case r.helped:
		return 0
	case r.reason.stuck():
		return 1
	}
	return 2 + slices.Index([]inspect.ClaimState{inspect.ClaimPending, inspect.ClaimDeleting, inspect.ClaimAllocated, inspect.ClaimReserved}, r.state)
}

func rowOf(w *screen.World, claim *resourcev1.ResourceClaim) row {
	r := row{
		age:       w.Age(claim.CreationTimestamp.Time),
		ref:       screen.Ref{Kind: screen.Claim, Namespace: claim.Namespace, Name: claim.Name},
		state:     inspect.StateOf(claim),
		namespace: inspect.Sanitize(claim.Namespace), name: inspect.Sanitize(claim.Name),
		asks: screen.Asks(&claim.Spec),
	}
	if allocation := claim.Status.Allocation; allocation != nil {
		r.node = inspect.Sanitize(string(inspect.AllocationNode(allocation)))
		r.devices, r.count = devices(allocation), len(allocation.Devices.Results)
	}
	var pods []string
	for _, pod := range w.Snapshot.PodsOf(inspect.RefOf(claim)) {
		pods = append(pods, inspect.Sanitize(pod.Name))
	}
	r.pods = strings.Join(pods, " ")
	return r
}

// devices sums up the devices of an allocation by driver, as "gpu ×4".
func devices(allocation *resourcev1.AllocationResult) string {
	counts := map[string]int{}
	for i := range allocation.Devices.Results {
		counts[allocation.Devices.Results[i].Driver]++
	}
	drivers := slices.Sorted(maps.Keys(counts))
	for i, driver := range drivers {
		drivers[i] = fmt.Sprintf("%s ×%d", screen.ShortDriver(driver), counts[driver])
	}
	return strings.Join(drivers, " ")
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "NAMESPACE", Short: "NS", Min: 6, Max: 24, Rank: 3}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, r.namespace) }},
	{Column: widget.Column{Title: "NAME", Min: 13, Max: 48}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, r.name) }},
	{Column: widget.Column{Title: "STATE"}, Cell: stateCell, Text: func(r *row) string { return string(r.state) + " " + stateCell(r).String() }, Compare: func(a, b *row) int { return cmp.Compare(a.rank(), b.rank()) }},
	{Column: widget.Column{Title: "DEVICES", Min: 9, Max: 20, Rank: 2}, Cell: devicesCell, Amount: func(r *row) (float64, bool) { return float64(r.count), true }},
	{Column: widget.Column{Title: "WHERE OR WHY NOT", Min: 22, Max: 160, Rank: 1}, Names: []string{"where", "reason", "why", "node"}, Cell: placeCell},
	{Column: widget.Column{Title: "PODS", Min: 10, Max: 40, Rank: 5, Spare: true}, Names: []string{"pod"}, Cell: func(r *row) styled.Line { return listing.OrDash(r.pods) }},
	listing.AgeColumn("AGE", 4, func(r *row) screen.Age { return r.age }),
}

// devicesCell is what a claim has or, in brackets, what it asks for.
func devicesCell(r *row) styled.Line {
	if r.devices == "" {
		return styled.Text(styled.Dim, "("+r.asks+")")
	}
	return styled.Text(styled.Plain, r.devices)
}

// placeCell is where a claim has its devices, and why it has none or does not give them back.
func placeCell(r *row) styled.Line {
	switch {
	case r.node == "" && r.reason.text == "":
		return styled.Text(styled.Dim, "–")
	case r.reason.text == "":
		return styled.Text(styled.Plain, r.node)
	case r.node == "":
		return styled.Text(styled.Plain, r.reason.text)
	}
	return styled.Line{{Text: r.node}, {Text: "  " + r.reason.text, Role: styled.Dim}}
}

func stateCell(r *row) styled.Line {
	switch r.state {
	case inspect.ClaimPending:
		switch {
		case r.helped:
			return styled.Text(styled.Supposed, "✓ helped")
		case r.released:
			return styled.Text(styled.Supposed, "released")
		case r.stuck():
			return styled.Text(styled.Bad, "✗ stuck")
		}
		return styled.Text(styled.Warn, "pending")
	case inspect.ClaimReserved:
		return styled.Text(styled.Good, "reserved")
	case inspect.ClaimAllocated:
		return styled.Text(styled.Plain, "allocated")
	}
	return styled.Text(styled.Warn, strings.ToLower(string(r.state)))
}

var groupings = []listing.Grouping[row]{
	{Name: "namespace", Of: func(r *row) string { return r.namespace }},
	{Name: "node", Of: func(r *row) string { return r.node }},
	{Name: "state", Of: func(r *row) string { return stateCell(r).String() }},
	{Name: "reason", Of: func(r *row) string { return r.reason.text }},
}
