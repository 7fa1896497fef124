package triage

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// addRunning adds the pods that have been scheduled and do not run.
func (c *collection) addRunning(opts Options) {
	for _, pod := range c.s.Objects().Pods {
		if pod.Spec.NodeName == "" || !opts.asks(pod) || inspect.Ended(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		if only := opts.Question.Node; only != "" && pod.Spec.NodeName != string(only) {
			continue
		}
		l := lifecycle.Pod(c.s, pod, cycle.ClaimsFor(c.s, pod).Allocated, opts.Question.Events)
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

// binding tells of a pod that waits on the node which the scheduler has chosen until its volumes are made,
// and reports whether it is one. Where that fails, it is stuck.
func (c *collection) binding(t *explain.Triage, subject metav1.Object, opts Options) bool {
	pod, ok := subject.(*corev1.Pod)
	if !ok || lifecycle.SelectedNode(c.s, pod) == "" {
		return false
	}
	l := lifecycle.Pod(c.s, pod, cycle.ClaimsFor(c.s, pod).Allocated, opts.Question.Events)
	if failing := l.Failing(); len(failing) > 0 {
		c.addProblem(pod, &failing[0])
	} else {
		t.Binding = append(t.Binding, cycle.SubjectOf(pod))
	}
	return true
}

// concerns reports whether a problem of a pod belongs here: what goes wrong within containers of pods that
// use no devices does not.
func concerns(p *explain.Problem, pod *corev1.Pod) bool {
	return p.Code != explain.ContainerFailed || len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil
}

// addProblem adds a pod that does not run, or whose devices are gone.
func (c *collection) addProblem(pod *corev1.Pod, p *explain.Problem) {
	if p.Code == explain.DeviceGone && !diagnose.Publishes(c.s, p.Driver) {
		c.addLeft(pod, p)
		return
	}
	subject := explain.StuckSubject{Subject: cycle.SubjectOf(pod), Since: p.Since, Message: cmp.Or(p.Message, p.Brief), Alike: c.unlikeOthers()}
	if subject.Since.IsZero() && pod.Status.Phase != corev1.PodRunning { // it ran until a moment that is not known
		subject.Since = pod.CreationTimestamp.Time
	}
	at := placeOf(pod, p)
	c.add(strings.TrimSpace(string(p.Code)+" "+at), subject, false, func() *explain.Cause {
		return &explain.Cause{Message: does(p.Code, at), Verdict: explain.Allocated, Actor: p.Actor, Commands: p.Commands}
	})
}

// addLeft adds a pod that has devices of a driver that publishes nothing any more. That is one cause on all
// nodes, and the same as of those that wait for devices of the driver.
func (c *collection) addLeft(pod *corev1.Pod, p *explain.Problem) {
	subject := explain.StuckSubject{Subject: cycle.SubjectOf(pod), Since: p.Since, Alike: c.unlikeOthers()}
	subject.Message = "has devices on " + pod.Spec.NodeName + " that are no longer published"
	key := blocker{kind: driverAbsent, of: p.Driver}.name()
	c.add(key, subject, false, func() *explain.Cause {
		return &explain.Cause{
			Message: "the driver " + p.Driver + " no longer publishes any devices, and pods use some (is it running?)",
			Verdict: explain.Allocated, Actor: p.Actor, Advice: []explain.Advice{diagnose.AdviceFor(c.s, p.Driver, nil)},
		}
	})
	c.left[key]++
}

// placeOf is where a problem is: problems with the same code and place have one cause.
func placeOf(pod *corev1.Pod, p *explain.Problem) string {
	switch p.Code {
	case explain.NodeSilent, explain.MountFailed, explain.SandboxFailed:
		return pod.Spec.NodeName
	case explain.PrepareFailed, explain.DriverMissing, explain.BindingFailed, explain.DeviceUnhealthy, explain.DeviceGone:
		return strings.TrimSpace(p.Driver + " " + pod.Spec.NodeName)
	case explain.ContainerFailed, explain.VolumePending:
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
	case explain.VolumePending:
		return "the volumes of pod " + at + " cannot be made"
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
	case explain.DeviceGone:
		return "the driver " + driver + " no longer publishes devices of " + node + " that pods use"
	case explain.Evicting:
		return "the pods are being evicted for taints"
	case explain.ClaimNotCreated:
		return "claims of the pods cannot be created"
	}
	return "containers do not run"
}

// addDeleting adds the claims that are being deleted and keep their devices, since somebody still uses them.
func (c *collection) addDeleting(opts Options) {
	for _, claim := range c.s.Objects().Claims {
		if claim.DeletionTimestamp == nil || claim.Status.Allocation == nil || !opts.asks(claim) {
			continue
		}
		subject := explain.StuckSubject{Subject: cycle.SubjectOf(claim), Since: claim.DeletionTimestamp.Time, Message: deletionWaits(c.s, claim), Alike: c.unlikeOthers()}
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
