package triage

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// addRunning adds the pods that have been scheduled and do not run.
func (c *collection) addRunning(opts Options) {
	for _, pod := range c.s.Objects().Pods {
		if pod.Spec.NodeName == "" || !opts.asks(pod) || inspect.Ended(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		claims := allocatedTo(c.s, pod)
		l := lifecycle.Pod(c.s, pod, claims, opts.Question.Events)
		if l == nil {
			continue
		}
		for i := range l.Problems {
			if p := &l.Problems[i]; p.Fails && concerns(p, pod) {
				c.addProblem(pod, p)
				break
			}
		}
	}
}

// concerns reports whether a problem of a pod belongs here: what goes wrong within containers of pods that use no devices
// does not.
func concerns(p *explain.Problem, pod *corev1.Pod) bool {
	return p.Code != explain.ContainerFailed || len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil
}

// addProblem adds a pod that does not run.
func (c *collection) addProblem(pod *corev1.Pod, p *explain.Problem) {
	subject := explain.StuckSubject{Subject: subjectOf(pod), Since: p.Since, Message: cmp.Or(p.Message, p.Brief), Alike: c.unlikeOthers()}
	if subject.Since.IsZero() {
		subject.Since = pod.CreationTimestamp.Time
	}
	at := placeOf(pod, p)
	c.add(strings.TrimSpace(string(p.Code)+" "+at), subject, false, func() *explain.Cause {
		return &explain.Cause{Message: does(p.Code, at), Verdict: explain.Allocated, Actor: p.Actor, Commands: p.Commands}
	})
}

// placeOf is where a problem is: problems with the same code and place have one cause.
func placeOf(pod *corev1.Pod, p *explain.Problem) string {
	switch p.Code {
	case explain.NodeSilent, explain.MountFailed, explain.SandboxFailed:
		return pod.Spec.NodeName
	case explain.PrepareFailed, explain.DriverMissing, explain.BindingFailed, explain.DeviceUnhealthy:
		return strings.TrimSpace(p.Driver + " " + pod.Spec.NodeName)
	case explain.ContainerFailed:
		return pod.Namespace + "/" + pod.Name
	}
	return ""
}

// does says what pods with a problem do.
func does(code explain.ProblemCode, at string) string {
	driver, node, _ := strings.Cut(at, " ")
	switch code {
	case explain.NodeSilent:
		return "node " + at + " does not report"
	case explain.MountFailed:
		return "volumes cannot be mounted on " + at
	case explain.SandboxFailed:
		return "the sandbox of pods cannot be made on " + at
	case explain.PrepareFailed:
		return "devices of " + driver + " cannot be prepared on " + node
	case explain.DriverMissing:
		return "the driver " + driver + " does not run on " + node
	case explain.BindingFailed:
		return "devices of " + driver + " cannot be bound"
	case explain.DeviceUnhealthy:
		return "devices of " + driver + " are unhealthy on " + node
	case explain.Evicting:
		return "the pods are being evicted for taints"
	case explain.ClaimNotCreated:
		return "claims of the pods cannot be created"
	}
	return "containers do not run"
}

// allocatedTo are the claims of a pod that have devices.
func allocatedTo(s *inspect.Snapshot, pod *corev1.Pod) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for i := range pod.Spec.ResourceClaims {
		name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
		if claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name}); ok && found && claim.Status.Allocation != nil {
			out = append(out, claim)
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		if claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: status.ResourceClaimName}); found && claim.Status.Allocation != nil {
			out = append(out, claim)
		}
	}
	return out
}

// addDeleting adds the claims that are being deleted and keep their devices, since somebody still uses them.
func (c *collection) addDeleting(opts Options) {
	for _, claim := range c.s.Objects().Claims {
		if claim.DeletionTimestamp == nil || claim.Status.Allocation == nil || !opts.asks(claim) {
			continue
		}
		subject := explain.StuckSubject{Subject: subjectOf(claim), Since: claim.DeletionTimestamp.Time, Message: deletionWaits(c.s, claim), Alike: c.unlikeOthers()}
		c.add("Deleting", subject, true, func() *explain.Cause {
			return &explain.Cause{Message: "claims are being deleted and keep their devices", Verdict: explain.Allocated, Actor: explain.User}
		})
	}
}

// deletionWaits says what the deletion of a claim waits for.
func deletionWaits(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) string {
	users := s.PodsOf(inspect.RefOf(claim))
	switch {
	case len(users) > 0:
		names := make([]string, len(users))
		for i, ref := range users {
			names[i] = ref.Name
		}
		slices.Sort(names)
		return "is being deleted, and keeps its devices as long as it is used by " + strings.Join(names, ", ")
	case len(claim.Status.ReservedFor) > 0:
		return "is being deleted, and keeps its devices as long as it is reserved for something that is gone"
	}
	return "is being deleted, and keeps its devices until its finalizers are removed"
}
