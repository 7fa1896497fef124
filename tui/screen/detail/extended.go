package detail

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/scheduler/extended"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// addExtended adds the extended resources of a node: who serves them, what is free, and which pods have them.
func addExtended(ctx context.Context, s *sheet, w *screen.World, n *corev1.Node) {
	survey, err := extended.On(ctx, w.Cluster(), w.Inventory(), n)
	if err != nil || len(survey.Offers) == 0 {
		return // the error is that of a page that is no longer wanted
	}
	s.section("Extended resources")
	for i := range survey.Offers {
		o := &survey.Offers[i]
		s.spans(string(o.Resource), offered(o)...)
		if o.Plugin != nil {
			addUses(s, o.Plugin.Pods, "")
		}
		if o.Devices != nil {
			addUses(s, o.Devices.Pods, " by DRA")
		}
		for _, remark := range o.Remarks() {
			s.spans("", styled.Span{Text: remark, Role: styled.Warn})
		}
	}
}

// servers are how a page speaks of who serves a resource.
var servers = map[extended.Server]string{
	extended.DevicePlugin: "from a device plugin", extended.DRA: "from DRA", extended.Nobody: "from nobody now", extended.Unknown: "it is not known from whom",
}

// offered is how much is free of how much, and from whom.
func offered(o *extended.Offer) []styled.Span {
	var spans []styled.Span
	if o.Free != nil && o.Offered != nil {
		spans = widget.Bar(float64(*o.Offered-*o.Free)/float64(max(1, *o.Offered)), 20, styled.Used)
	}
	text := fmt.Sprintf(" %s of %s free", number(o.Free), number(o.Offered))
	if o.Healthy != nil && o.Offered != nil && *o.Healthy < *o.Offered {
		text += fmt.Sprintf(", %d unhealthy", *o.Offered-*o.Healthy)
	}
	from := servers[o.ServedBy]
	if o.ServedBy == extended.DRA {
		from += ", class " + o.Class
	}
	return append(spans, styled.Span{Text: text}, dim("  "+from))
}

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

// addUses adds pods that have some of a resource.
func addUses(s *sheet, uses []extended.Use, how string) {
	for _, u := range uses {
		s.spans("", dim("pod "), screen.LinkTo(screen.Ref{Kind: screen.Pod, Namespace: u.Pod.Namespace, Name: u.Pod.Name}, u.Pod.String()), dim(fmt.Sprintf(" has %d%s", u.Count, how)))
	}
}
