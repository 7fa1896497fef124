package question

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sinceBinding adds what has become of a pod since it got its devices, and says so in the message if it has
// them.
func sinceBinding(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod, opts Options) {
	if opts.Hypothetical {
		return
	}
	claims := cycle.ClaimsFor(s, pod).Allocated
	e.Lifecycle = lifecycle.Pod(s, pod, claims, opts.Events)
	uncreated := len(lifecycle.Uncreated(s, pod)) > 0
	unreadEvents(e, opts, uncreated)
	if uncreated {
		unreadQuotas(e, s, pod)
	}
	if e.Lifecycle == nil {
		return
	}
	progress := &e.Lifecycle.Pods[0]
	sayNotCreated(e)
	if progress.Stage == explain.Ended {
		sayEnded(e, pod, claims)
	}
	switch failing := e.Lifecycle.Failing(); {
	case progress.Stage == explain.Binding && lifecycle.SelectedNode(s, pod) != "":
		sayProvisioning(e, opts)
	case e.Verdict == explain.Allocated:
		sayProgress(e, progress, len(claims))
	case e.Verdict == explain.Allocatable && len(failing) > 0: // it was put on its node without the scheduler
		e.Say("%s, but does not run: %s", e.Predicate, briefs(e, failing))
	}
}

// sayProvisioning makes the explanation of a pod that the scheduler has put on a node, if it would still fit
// there, and that waits for its volumes. Whether they will be made is not known.
func sayProvisioning(e *explain.Explanation, opts Options) {
	at := slices.IndexFunc(e.Lifecycle.Problems, func(p explain.Problem) bool { return p.Code == explain.VolumePending })
	if at < 0 || opts.verdictOnly || e.Verdict != explain.Allocatable && e.Verdict != explain.Allocated {
		return
	}
	if !e.Lifecycle.Problems[at].Fails {
		e.Verdict = explain.Unknown
	}
	e.Say("has a node, but is not bound to it yet: %s", e.Lifecycle.Problems[at].Brief)
}

// sinceAllocation is sinceBinding for a claim that has its devices.
func sinceAllocation(e *explain.Explanation, s *inspect.Snapshot, claim *resourcev1.ResourceClaim, opts Options) {
	e.Lifecycle = lifecycle.Claim(s, claim, opts.Events)
	unreadEvents(e, opts, false)
	switch failing, all := e.Lifecycle.Failing(), e.Lifecycle.Problems; {
	case len(failing) > 0:
		e.Say("%s, but %s", e.Predicate, briefs(e, failing))
	case len(all) > 0:
		e.Say("%s; %s", e.Predicate, all[0].Brief)
	}
	for i := range e.Lifecycle.Pods[:min(len(e.Lifecycle.Pods), maxPods)] {
		e.Waits = append(e.Waits, podProgress(e.Lifecycle, &e.Lifecycle.Pods[i])...)
	}
}

// maxPods is the number of pods of a claim of which it is said how far they have come.
const maxPods = 5

// podProgress is a note on a pod that uses a claim and does not run.
func podProgress(l *explain.Lifecycle, p *explain.PodProgress) []explain.Note {
	note := explain.Note{Kind: "Pod", Namespace: p.Pod.Namespace, Name: p.Pod.Name}
	switch p.Stage {
	case explain.Unbound, explain.Binding:
		note.Message = "is not bound to a node yet"
	case explain.Starting:
		note.Message = "is starting on " + string(p.Node)
	case explain.Stopping:
		note.Message = "is being deleted"
	case explain.Ended:
		note.Message = "has ended"
	default:
		return nil
	}
	for _, c := range l.Containers {
		if c.Pod == p.Pod && c.Stage != explain.ContainerRunning && c.Reason != "" && !c.Coming {
			note.Message += fmt.Sprintf("; its container %s is %s (%s)", c.Name, strings.ToLower(string(c.Stage)), c.Reason)
			break
		}
	}
	return []explain.Note{note}
}

// unreadEvents says that there may be Events which were not read, where only they would tell what fails: on
// the way of a pod to its first container, and when a claim of it is made.
func unreadEvents(e *explain.Explanation, opts Options, uncreated bool) {
	l, h := e.Lifecycle, opts.Events.Health
	starting := l != nil && slices.ContainsFunc(l.Pods, func(p explain.PodProgress) bool { return p.Stage == explain.Starting && !p.Prepared })
	switch {
	case h.Partial() && (starting || uncreated):
		e.Partial = append(e.Partial, h.Message+": what went wrong may be missing here")
	case h.State == inspect.NotRead && starting && l.Outcome != explain.Failing:
		e.Partial = append(e.Partial, "no Events of the pod are known, which would say whether something has failed on the node")
	}
}

// sayNotCreated makes a no of a yes for a pod of which a claim cannot be created: the scheduler waits for the
// claim.
func sayNotCreated(e *explain.Explanation) {
	failing := e.Lifecycle.Failing()
	if e.Verdict != explain.Allocatable || len(failing) == 0 || failing[0].Code != explain.ClaimNotCreated {
		return
	}
	e.Verdict, e.Allocation, e.Groups, e.Nodes.Allocatable = explain.Unsatisfiable, nil, nil, 0
	e.Say("cannot be scheduled: %s", failing[0].Brief)
}

// unreadQuotas makes an answer uncertain if quotas could not be read that may keep a claim of the pod from
// being created, which does not exist yet.
func unreadQuotas(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod) {
	h := s.Health(inspect.Quotas)
	if e.Verdict != explain.Allocatable || !h.PartialIn(pod.Namespace) {
		return
	}
	e.Verdict = explain.Unknown
	e.Partial = append(e.Partial, cycle.DescribeHealth(inspect.Quotas, h)+": a quota may keep the claims of the pod from being created")
	sayUnknown(e)
}

// sayEnded makes the explanation of a pod that has ended. It needs no devices any more, and its claims may be
// gone.
func sayEnded(e *explain.Explanation, pod *corev1.Pod, claims []*resourcev1.ResourceClaim) {
	e.Verdict, e.Fixes, e.NoHelp, e.Groups, e.Conflict = explain.Allocated, nil, nil, nil, nil
	e.Allocation = &explain.Allocation{Node: inspect.NodeName(pod.Spec.NodeName)}
	for _, claim := range claims {
		e.Allocation.Devices = append(e.Allocation.Devices, replay.DevicesOf(claim)...)
	}
}

// sayProgress sets the message of a pod that has all its devices, or needs none.
func sayProgress(e *explain.Explanation, p *explain.PodProgress, claims int) {
	failing := e.Lifecycle.Failing()
	switch {
	case p.Stage == explain.Ended:
		e.Say("%s", ended(e, claims))
	case p.Stage == explain.Binding && len(e.Lifecycle.Problems) > 0:
		e.Say("has its devices, but is not bound to a node yet: %s", e.Lifecycle.Problems[0].Brief)
	case claims == 0:
		sayWithoutClaims(e, p, failing)
	case p.Stage == explain.Stopping:
		e.Say("is being deleted, and still has all its devices: %s", counts(e, claims))
	case p.Stage == explain.Bound && len(failing) > 0:
		e.Say("has all its devices, but %s", briefs(e, failing))
	case p.Stage == explain.Running && len(failing) > 0 && failing[0].Code == explain.NodeSilent:
		e.Say("is said to run on %s with all its devices, but %s", p.Node, briefs(e, failing))
	case p.Stage == explain.Running && len(failing) > 0:
		e.Say("runs on %s with all its devices, but %s", p.Node, briefs(e, failing))
	case p.Stage == explain.Running:
		e.Say("runs on %s and has all its devices: %s", p.Node, counts(e, claims))
	case p.Stage == explain.Starting && len(failing) > 0:
		e.Say("has all its devices, but does not run: %s", briefs(e, failing))
	case p.Stage == explain.Starting:
		e.Say("has all its devices, but does not run yet: %s", starting(e, p))
	}
}

// sayWithoutClaims is sayProgress for a pod that uses no claims.
func sayWithoutClaims(e *explain.Explanation, p *explain.PodProgress, failing []explain.Problem) {
	switch {
	case p.Stage == explain.Stopping:
		e.Say("is being deleted")
	case p.Stage == explain.Running && len(failing) > 0:
		e.Say("runs on %s, but %s", p.Node, briefs(e, failing))
	case p.Stage == explain.Running:
		e.Say("runs on %s and uses no resource claims", p.Node)
	case p.Stage == explain.Starting && len(failing) > 0:
		e.Say("does not run: %s", briefs(e, failing))
	case p.Stage == explain.Starting:
		e.Say("does not run yet: %s", starting(e, p))
	case len(failing) > 0:
		e.Say("uses no resource claims, but %s", briefs(e, failing))
	}
}

// counts says how many devices a pod has.
func counts(e *explain.Explanation, claims int) string {
	return words.Count(len(e.Allocation.Devices), "device") + " in " + words.Count(claims, "claim")
}

// ended says how a pod ended.
func ended(e *explain.Explanation, claims int) string {
	text := "has finished"
	if failing := e.Lifecycle.Failing(); len(failing) > 0 {
		text = failing[0].Brief
	}
	if claims == 0 {
		return text
	}
	return text + fmt.Sprintf("; its %s still %s %s", words.Plural(claims, "claim", "claims"), words.Plural(claims, "holds", "hold"), words.Count(len(e.Allocation.Devices), "device"))
}

// starting says how far a pod is on its node that does not run.
func starting(e *explain.Explanation, p *explain.PodProgress) string {
	text := "it is starting on " + string(p.Node)
	if !p.Heard {
		text = "the kubelet on " + string(p.Node) + " has not taken notice of it"
	}
	if age := words.Age(p.Since, e.Lifecycle.At); age != "" {
		text += ", " + age + " after it was bound"
	}
	return text
}

// briefs says what fails in a few words: the first problem, and the second where that is its cause.
func briefs(e *explain.Explanation, failing []explain.Problem) string {
	text := briefOf(e, &failing[0])
	if len(failing) > 1 && failing[0].Code == explain.PrepareFailed && failing[1].Code == explain.DriverMissing {
		text += ", and " + briefOf(e, &failing[1])
	}
	return text
}

// briefOf is what a problem is in a few words, with the pod if that is another subject.
func briefOf(e *explain.Explanation, p *explain.Problem) string {
	switch {
	case p.Object.Kind != "Pod" || p.Object == e.Subject:
	case p.Code == explain.Evicting:
		return "pod " + p.Object.Name + " " + p.Brief
	case p.Code == explain.PrepareFailed:
		return "pod " + p.Object.Name + " does not run: " + p.Brief
	}
	return p.Brief
}
