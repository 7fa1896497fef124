package detail

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// namespace is what waits in a namespace and what it has.
func (s *sheet) namespace(w *screen.World, name string) error {
	s.head(styled.Line{{Text: inspect.Sanitize(name), Role: styled.Name}, {Text: "  namespace", Role: styled.Strong}})
	var waiting, idle, having []*resourcev1.ResourceClaim
	devices := 0
	for _, c := range w.Snapshot.Objects().Claims {
		switch {
		case c.Namespace != name:
			continue
		case c.Status.Allocation == nil:
			waiting = append(waiting, c)
			continue
		case len(c.Status.ReservedFor) == 0:
			idle = append(idle, c)
		default:
			having = append(having, c)
		}
		devices += len(c.Status.Allocation.Devices.Results)
	}
	s.field("claims", fmt.Sprintf("%d wait, %d have devices that nobody uses, %d are in use", len(waiting), len(idle), len(having)))
	s.field("devices", fmt.Sprintf("%d allocated, shares and admin access included", devices))
	var stuck []*corev1.Pod
	for _, p := range w.Snapshot.Objects().Pods {
		if p.Namespace == name && p.Spec.NodeName == "" && p.Status.Phase == corev1.PodPending {
			stuck = append(stuck, p)
		}
	}
	if len(stuck) > 0 {
		s.section("Pods without a node")
	}
	for _, p := range stuck[:min(len(stuck), mostListed)] {
		s.spans("pod", podLink(inspect.PodRef{Namespace: p.Namespace, Name: p.Name}), phase(p), dim("  "+screen.FormatAge(screen.Age(w.Snapshot, p.CreationTimestamp.Time))+" old"))
	}
	s.rest(len(stuck), "pods")
	s.claims("Claims that wait", waiting)
	s.claims("Claims whose devices nobody uses", idle)
	s.claims("Claims in use", having)
	return nil
}
