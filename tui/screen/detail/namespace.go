package detail

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// claimTitles are the titles of the claims of a namespace, those first that need a look.
var claimTitles = []struct {
	state usage.State
	title string
}{
	{usage.Refused, "Refused by the scheduler"}, {usage.Idle, "Claims whose devices nobody uses"}, {usage.Waiting, "Claims that wait"}, {usage.Held, "Claims in use"},
}

// addNamespace adds what a namespace holds and what it waits for, counted as the view of usage does.
func addNamespace(s *sheet, w *screen.World, name string) {
	s.head(styled.Line{{Text: inspect.Sanitize(name), Role: styled.Name}, {Text: "  namespace", Role: styled.Strong}})
	report := usage.Of(w.Snapshot, w.Inventory(), usage.Namespace, func(c *resourcev1.ResourceClaim) bool { return c.Namespace == name })
	s.field("holds", fmt.Sprintf("%s of %d in the cluster, %d of them idle", words.Count(report.Total.Devices, "device"), report.Cluster.Total, report.Total.Idle))
	if report.Unseen {
		s.spans("", styled.Span{Text: "not all pods could be read: more may be refused or idle", Role: styled.Warn})
	}
	addPodsWithoutNode(s, w, name)
	claims := map[usage.State][]*resourcev1.ResourceClaim{}
	for i := range report.Rows {
		for _, c := range report.Rows[i].Claims {
			if claim, ok := w.Snapshot.Claim(c.Ref); ok {
				claims[c.State] = append(claims[c.State], claim)
			}
		}
	}
	for _, t := range claimTitles {
		addClaims(s, t.title, claims[t.state])
	}
}

// addPodsWithoutNode adds the pods of a namespace that are not on a node yet.
func addPodsWithoutNode(s *sheet, w *screen.World, namespace string) {
	waiting := slices.DeleteFunc(slices.Clone(w.Snapshot.Objects().Pods), func(p *corev1.Pod) bool {
		return p.Namespace != namespace || p.Spec.NodeName != "" || p.Status.Phase != corev1.PodPending
	})
	addList(s, "Pods without a node", "pods", waiting, func(p *corev1.Pod) {
		age := w.Age(p.CreationTimestamp.Time).String()
		s.spans("pod", podLink(inspect.PodRef{Namespace: p.Namespace, Name: p.Name}), phase(p), dim("  "+age+" old"))
	})
}
