package detail

import (
	"fmt"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// addLevel adds a priority level and the FlowSchemas that lead to it.
func addLevel(s *sheet, w *screen.World, l *flowcontrolv1.PriorityLevelConfiguration) {
	s.title(w, l, "priority level")
	if l.Spec.Limited != nil {
		limited := l.Spec.Limited
		s.field("shares", fmt.Sprint(ptr.Deref(limited.NominalConcurrencyShares, 30)))
		s.field("lendable", fmt.Sprintf("%d %% of its seats", ptr.Deref(limited.LendablePercent, 0)))
		if limited.BorrowingLimitPercent != nil {
			s.field("may borrow", fmt.Sprintf("%d %% of its seats", *limited.BorrowingLimitPercent))
		} else {
			s.field("may borrow", "as many seats as others lend")
		}
		s.field("when full", strings.ToLower(string(limited.LimitResponse.Type))+"s requests")
		if q := limited.LimitResponse.Queuing; q != nil {
			s.field("queues", fmt.Sprintf("%d queues for %d requests each; a flow has %d of them", q.Queues, q.QueueLengthLimit, q.HandSize))
		}
	} else {
		s.field("limit", "none: its requests are never queued")
	}
	for i := range l.Status.Conditions {
		c := &l.Status.Conditions[i]
		s.field(string(c.Type), string(c.Status)+"  "+c.Message)
	}
	s.section("FlowSchemas that lead here")
	limits := flowcontrol.Compute(w.Snapshot.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which there are does not depend on it
	for _, f := range flowcontrol.Schemas(w.Snapshot.Objects().FlowSchemas, &limits) {
		if f.Object.Spec.PriorityLevelConfiguration.Name != l.Name {
			continue
		}
		about := dim(fmt.Sprintf("  precedence %d, for %s", f.Object.Spec.MatchingPrecedence, words.Shorten(flowcontrol.Subjects(f.Object), 3)))
		madeUp := styled.Span{}
		if f.Assumed {
			madeUp = dim(", made up by the server")
		}
		s.spans("", styled.Span{Text: f.Object.Name, Role: styled.Name}, about, madeUp)
	}
}

// addCapacity adds how much storage there is where.
func addCapacity(s *sheet, w *screen.World, c *storagev1.CSIStorageCapacity) {
	s.title(w, c, "storage capacity")
	s.field("class", c.StorageClassName)
	if c.Capacity != nil {
		s.field("room", c.Capacity.String())
	}
	if c.MaximumVolumeSize != nil {
		s.field("largest volume", c.MaximumVolumeSize.String())
	}
	if c.NodeTopology == nil {
		s.spans("nodes", styled.Span{Text: "none", Role: styled.Warn})
		return
	}
	s.field("nodes", metav1.FormatLabelSelector(c.NodeTopology))
	s.section("Nodes that reach it")
	n := 0
	for _, node := range w.Snapshot.Nodes() {
		selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
		if err != nil {
			s.spans("invalid", styled.Span{Text: err.Error(), Role: styled.Bad})
			return
		}
		if !selector.Matches(labels.Set(node.Labels)) {
			continue
		}
		if n++; n <= mostListed {
			s.spans("", nodeLink(node.Name))
		}
	}
	s.rest(n, "nodes")
}
