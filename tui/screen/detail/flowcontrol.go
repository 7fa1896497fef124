package detail

import (
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
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
		s.spans("", plainLink(screen.FlowSchema, f.Object.Name), about, madeUp)
	}
	addActorsAt(s, w, l.Name)
}

// addActorsAt adds those of DRA who ask at a priority level.
func addActorsAt(s *sheet, w *screen.World, level string) {
	actors := flowcontrol.DRAActors(w.Snapshot)
	actors = slices.DeleteFunc(actors, func(a flowcontrol.Actor) bool { return !slices.Contains(a.Levels(), level) })
	if len(actors) == 0 {
		return
	}
	s.section("Of DRA, these ask here")
	for i := range actors {
		a := &actors[i]
		about := dim("  " + askingAs(a))
		if a.Role == flowcontrol.RoleDriver {
			s.spans("", plainLink(screen.Driver, a.Driver), about, crowding(a))
			continue
		}
		s.spans("", styled.Span{Text: roleNames[a.Role]}, about, crowding(a))
	}
}

// roleNames say who does what for devices.
var roleNames = map[flowcontrol.ActorRole]string{
	flowcontrol.RoleClaimController: "claim controller", flowcontrol.RoleScheduler: "kube-scheduler", flowcontrol.RoleKubelet: "kubelets",
}

// askingAs says under which name somebody asks the API server.
func askingAs(a *flowcontrol.Actor) string {
	switch a.Evidence {
	case flowcontrol.EvidenceNone:
		return "pods not found: as any service account"
	case flowcontrol.EvidencePossible:
		return "possibly as " + a.User
	}
	return "as " + a.User
}

// crowding warns of a level at which every pod may ask.
func crowding(a *flowcontrol.Actor) styled.Span {
	if !a.Crowded() {
		return styled.Span{}
	}
	return styled.Span{Text: "  every pod can crowd it", Role: styled.Warn}
}

// addAsks says at which priority level a driver asks the API server.
func addAsks(s *sheet, w *screen.World, driver string) {
	for _, a := range flowcontrol.DRAActors(w.Snapshot) {
		if a.Driver != driver {
			continue
		}
		for _, level := range a.Levels() {
			s.spans("asks at", plainLink(screen.PriorityLevel, level), dim("  "+askingAs(&a)), crowding(&a))
		}
	}
}

// addFlowSchema adds which requests a FlowSchema matches, and where they go.
func addFlowSchema(s *sheet, w *screen.World, f *flowcontrolv1.FlowSchema) {
	s.title(w, f, "flow schema")
	level := f.Spec.PriorityLevelConfiguration.Name
	limits := flowcontrol.Compute(w.Snapshot.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which there are does not depend on it
	if _, found := limits.Level(level); !found && w.Snapshot.Health(inspect.PriorityLevels).Complete() {
		s.spans("level", styled.Span{Text: level + " does not exist: the server passes over this FlowSchema", Role: styled.Bad})
	} else {
		s.linkField("level", plainLink(screen.PriorityLevel, level))
	}
	s.field("precedence", fmt.Sprintf("%d; the least that matches a request takes it", f.Spec.MatchingPrecedence))
	if d := f.Spec.DistinguisherMethod; d != nil {
		s.field("flows", string(d.Type))
	}
	for i := range f.Spec.Rules {
		r := &f.Spec.Rules[i]
		s.section("Rule %d", i+1)
		for _, subject := range r.Subjects {
			s.field("who", whom(&subject))
		}
		for _, p := range r.ResourceRules {
			s.field("what", strings.Join(p.Verbs, " ")+" "+strings.Join(p.Resources, " ")+" of "+strings.Join(p.APIGroups, " "))
		}
		for _, p := range r.NonResourceRules {
			s.field("what", strings.Join(p.Verbs, " ")+" "+strings.Join(p.NonResourceURLs, " "))
		}
	}
	addConditions(s, f.Status.Conditions)
}

func addConditions(s *sheet, conditions []flowcontrolv1.FlowSchemaCondition) {
	for i := range conditions {
		s.field(string(conditions[i].Type), string(conditions[i].Status)+"  "+conditions[i].Message)
	}
}

func whom(subject *flowcontrolv1.Subject) string {
	switch {
	case subject.User != nil:
		return "user " + subject.User.Name
	case subject.Group != nil:
		return "group " + subject.Group.Name
	case subject.ServiceAccount != nil:
		return "service account " + subject.ServiceAccount.Namespace + "/" + subject.ServiceAccount.Name
	}
	return string(subject.Kind)
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
