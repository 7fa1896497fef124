package flip

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Judge gives the verdict about one claim or pod in snapshots of a cluster. It is not safe for several
// goroutines at once.
type Judge struct {
	// Asked counts how often it has decided.
	Asked int

	subject explain.Subject
	// object is the subject as it is put into a snapshot that does not have it, with the claims of a pod. It
	// is nil if none is.
	object metav1.Object
	claims []*resourcev1.ResourceClaim
	like   *scheduler.Cluster
}

// NewJudge returns a Judge of a subject that is in a snapshot. In snapshots that do not have the subject, it
// is judged as it is in this one, as if it had been made already.
func NewJudge(s *inspect.Snapshot, subject explain.Subject) *Judge {
	j := &Judge{subject: subject, object: find(s, subject)}
	if pod, ok := j.object.(*corev1.Pod); ok {
		j.claims = s.ClaimsOf(pod)
	}
	return j
}

// find returns a claim or a pod. It is nil if the snapshot does not have it.
func find(s *inspect.Snapshot, subject explain.Subject) metav1.Object {
	if subject.Kind == "Pod" {
		if pod, ok := s.Pod(inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name}); ok {
			return pod
		}
		return nil
	}
	if claim, ok := s.Claim(inspect.ClaimRef{Namespace: subject.Namespace, Name: subject.Name}); ok {
		return claim
	}
	return nil
}

// Exists reports whether a snapshot has the subject.
func (j *Judge) Exists(s *inspect.Snapshot) bool { return find(s, j.subject) != nil }

// Verdict is what explain says of the subject. Errors are those of package question.
func (j *Judge) Verdict(ctx context.Context, s *inspect.Snapshot) (explain.Verdict, error) {
	j.Asked++
	subject := find(s, j.subject)
	if subject == nil {
		if subject = j.object; subject == nil {
			return "", nil
		}
		s = s.With(func(o *inspect.Objects) { j.make(o, s) })
	}
	cluster := scheduler.NewCluster(s, scheduler.Options{Like: j.like})
	j.like = cluster
	d, err := question.Decide(ctx, cluster, subject, question.Options{})
	if err != nil {
		return "", fmt.Errorf("deciding about %s %s: %w", j.subject.Kind, j.subject.FullName(), err)
	}
	return d.Verdict, nil
}

// make puts the subject into objects, and what is missing of its claims.
func (j *Judge) make(o *inspect.Objects, s *inspect.Snapshot) {
	switch object := j.object.(type) {
	case *corev1.Pod:
		o.Pods = append(o.Pods, object)
	case *resourcev1.ResourceClaim:
		o.Claims = append(o.Claims, object)
	}
	for _, claim := range j.claims {
		if _, ok := s.Claim(inspect.RefOf(claim)); !ok {
			o.Claims = append(o.Claims, claim)
		}
	}
	o.Sort()
}

// Fits reports whether a verdict is a yes.
func Fits(v explain.Verdict) bool {
	return slices.Contains([]explain.Verdict{explain.Allocated, explain.Allocatable}, v)
}
