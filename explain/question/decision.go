package question

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Decision is what the scheduler would do with a pod, or with a claim by itself, without why. It costs a
// fraction of an explanation.
type Decision struct {
	Verdict explain.Verdict
	// Took is what the subject has if the verdict is yes, on the first node that fits. It is nil if that is
	// nothing.
	Took *replay.Reservation
	// Question is as it was put to the nodes. It is nil if no node was asked.
	Question *whatif.Question
}

// Decide decides about a pod or a claim that need not be in the snapshot. Errors are those of [Claim].
func Decide(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts Options) (*Decision, error) {
	opts.verdictOnly = true
	e, q, err := ask(ctx, c, subject, opts)
	if err != nil {
		return nil, err
	}
	d := &Decision{Verdict: e.Verdict, Question: q}
	took, err := reservationOf(ctx, c.Snapshot(), subject, e, q)
	if took != nil {
		d.Took = took.Reservation
	}
	return d, err
}

// PendingClaims returns the claims of a pod that have no devices yet, in the order of [Decision.Question]:
// those that exist, and copies of those that are still to be made from templates.
func PendingClaims(s *inspect.Snapshot, pod *corev1.Pod) []*resourcev1.ResourceClaim {
	return cycle.ClaimsFor(s, pod).Pending
}

// ChangesSubject reports whether a fix changes what the subject asks for.
func ChangesSubject(f *explain.Fix) bool { return slices.ContainsFunc(f.Edits, EditsSubject) }

// EditsSubject reports whether an edit is of what the subject asks for.
func EditsSubject(e explain.Edit) bool {
	_, claim := e.(whatif.SpecEdit)
	_, pod := e.(whatif.PodEdit)
	return claim || pod
}
