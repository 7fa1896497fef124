package allocate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// allocationTarget is what is to be allocated.
type allocationTarget struct {
	// claims are all that were asked for, in the order asked; pending are those without an allocation.
	claims, pending []*resourcev1.ResourceClaim
	pod             *corev1.Pod // it is nil when claims were named
}

// decide is the commit.Decider of the command.
func (o *allocateOptions) decide(ctx context.Context, s *inspect.Snapshot) (*commit.Decision, error) {
	if _, ok := s.Node(inspect.NodeName(o.node)); o.node != "" && !ok {
		return nil, inquiry.NotFound(s, inquiry.Node, "", o.node)
	}
	w, err := o.find(s)
	if err != nil {
		return nil, err
	}
	d, err := o.allocate(ctx, scheduler.NewCluster(s, scheduler.Options{}), w)
	if err != nil || len(d.Refusal) > 0 {
		if partial := o.checkComplete(s); partial != nil {
			return nil, partial // what is missing may be all that stands in the way
		}
	}
	if err != nil || len(d.Refusal) > 0 || !o.reserve {
		return d, err
	}
	return d, d.AddConsumers(func(claim *resourcev1.ResourceClaim) (*corev1.Pod, error) { return consumerOf(s, w, claim) })
}

// find looks up what is to be allocated.
func (o *allocateOptions) find(s *inspect.Snapshot) (*allocationTarget, error) {
	w := &allocationTarget{}
	names := o.names
	if o.kind.Resource == inspect.Pods {
		pod, ok := s.Pod(inspect.PodRef{Namespace: o.namespace, Name: o.names[0]})
		if !ok {
			return nil, inquiry.NotFound(s, inquiry.Pod, o.namespace, o.names[0])
		}
		w.pod = pod
		var err error
		if names, err = claimsOfPod(s, pod); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: o.namespace, Name: name})
		if !ok {
			return nil, inquiry.NotFound(s, inquiry.Claim, o.namespace, name)
		}
		if err := checkAllocatable(claim, w.pod); err != nil {
			return nil, err
		}
		w.claims = append(w.claims, claim)
		if claim.Status.Allocation == nil {
			w.pending = append(w.pending, claim)
		}
	}
	return w, nil
}

// claimsOfPod names the claims of a pod in the order of its spec, then the one that the scheduler made for
// its extended resources.
func claimsOfPod(s *inspect.Snapshot, pod *corev1.Pod) ([]string, error) {
	var names []string
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		if !ok {
			template := ""
			if entry.ResourceClaimTemplateName != nil {
				template = *entry.ResourceClaimTemplateName
			}
			return nil, fmt.Errorf("pod %s/%s: the claim %q, to be made from template %q, does not exist yet; \"kubectl dra explain pod %s\" works without it",
				pod.Namespace, pod.Name, entry.Name, template, pod.Name)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil && !slices.Contains(names, extended.ResourceClaimName) {
		names = append(names, extended.ResourceClaimName)
	}
	if resources := extendedResources(s, pod); len(names) == 0 && len(resources) > 0 {
		return nil, fmt.Errorf("pod %s/%s uses no resource claims yet: kube-scheduler makes the one for %s when it schedules the pod; \"kubectl dra explain pod %s\" works without it",
			pod.Namespace, pod.Name, console.CommaList(resources), pod.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("pod %s/%s uses no resource claims", pod.Namespace, pod.Name)
	}
	return names, nil
}

// extendedResources names the resources of a pod that device classes provide, sorted.
func extendedResources(s *inspect.Snapshot, pod *corev1.Pod) []string {
	var out []string
	for _, c := range cycle.AllContainers(pod) {
		for name, amount := range cycle.RequestsOf(c) {
			if !amount.IsZero() && s.ClassOfExtendedResource(name) != nil {
				out = words.AppendNew(out, string(name))
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkAllocatable refuses claims that the scheduler would not allocate.
func checkAllocatable(claim *resourcev1.ResourceClaim, pod *corev1.Pod) error {
	if claim.DeletionTimestamp != nil {
		return fmt.Errorf("resourceclaim %s/%s is being deleted", claim.Namespace, claim.Name)
	}
	if pod == nil {
		return nil
	}
	for _, owner := range claim.OwnerReferences {
		if owner.Controller != nil && *owner.Controller && owner.Kind == "Pod" && owner.UID != pod.UID {
			return fmt.Errorf("resourceclaim %s/%s belongs to another pod, %s", claim.Namespace, claim.Name, owner.Name)
		}
	}
	return nil
}

// allocate decides what the pending claims of w get.
func (o *allocateOptions) allocate(ctx context.Context, cluster *scheduler.Cluster, w *allocationTarget) (*commit.Decision, error) {
	d := &commit.Decision{Snapshot: cluster.Snapshot(), Claims: w.claims}
	if len(w.pending) == 0 {
		return d, nil
	}
	refused, why, err := o.precheck(ctx, cluster, w)
	if err != nil || len(why) > 0 {
		d.Refusal = why
		return d, err
	}
	var nodes []*corev1.Node
	s := cluster.Snapshot()
	for _, node := range s.Nodes() {
		if newer := s.Newer(); newer != nil && (newer.OnNode(inspect.NodeName(node.Name)) != "" || s.NewerDevices(node, func(string) bool { return true }) != "") {
			continue // it is not known that the scheduler would allocate there
		}
		if o.node == "" || node.Name == o.node {
			nodes = append(nodes, node)
		}
	}
	if d, err = commit.Decide(ctx, cluster.Cluster, w.claims, nodes, refused); err != nil {
		return nil, err
	}
	if d.Node == "" {
		d.Refusal = o.notTogether(w)
	}
	return d, nil
}

// precheck returns the nodes that a pod cannot use. It ends with a refusal or an error when explain knows
// why the claims cannot be allocated.
func (o *allocateOptions) precheck(ctx context.Context, cluster *scheduler.Cluster, w *allocationTarget) (refused map[inspect.NodeName]bool, why []string, err error) {
	opts := question.Options{Node: inspect.NodeName(o.node), ReasonOnly: true}
	if w.pod != nil {
		pod := w.pod
		if len(pod.Spec.SchedulingGates) > 0 { // they hold the scheduler back, not whoever allocates
			pod = pod.DeepCopy()
			pod.Spec.SchedulingGates = nil
		}
		e, err := question.PodObject(ctx, cluster, pod, opts)
		if err != nil {
			return nil, nil, err
		}
		refused = map[inspect.NodeName]bool{}
		for _, group := range e.Groups {
			for _, node := range group.Nodes {
				refused[node] = true
			}
		}
		why, err = o.refusalLines(cluster, e, "pod")
		return refused, why, err
	}
	why, err = o.precheckClaims(ctx, cluster, w)
	return nil, why, err
}

// precheckClaims asks about the claims together. Alone, a claim may have an answer that it does not have with
// others: it may fail on a device that one before it takes. Only if they are refused together does it matter
// which are alone.
func (o *allocateOptions) precheckClaims(ctx context.Context, cluster *scheduler.Cluster, w *allocationTarget) ([]string, error) {
	opts := question.Options{Node: inspect.NodeName(o.node), ReasonOnly: true}
	if len(w.claims) > 1 {
		e, err := question.Claims(ctx, cluster, w.claims, opts)
		if err != nil {
			return nil, err
		}
		switch e.Verdict {
		case explain.Invalid:
			return nil, errors.New(e.Message)
		case explain.Unsatisfiable:
		default:
			return o.refusalLines(cluster, e, "claim")
		}
	}
	for _, claim := range w.pending {
		e, err := question.ClaimObject(ctx, cluster, claim, opts)
		if err != nil {
			return nil, err
		}
		if e.Verdict == explain.Unsatisfiable || len(w.claims) == 1 {
			return o.refusalLines(cluster, e, "claim")
		}
	}
	return o.notTogether(w), nil
}

// refusalLines says why there is no allocation when the verdict is a no; it is an error that the scheduler
// gives up. It is one, too, if the answer is
// not known because something is newer than this program.
func (o *allocateOptions) refusalLines(cluster *scheduler.Cluster, e *explain.Explanation, kind string) ([]string, error) {
	switch e.Verdict {
	case explain.Unknown:
		if cluster.Snapshot().Newer() != nil {
			return nil, errors.New(strings.Join(append([]string{e.Message}, e.Partial...), "; "))
		}
	case explain.Unsatisfiable:
		return []string{e.Message, fmt.Sprintf("\"kubectl dra explain %s %s -n %s%s\" says why", kind, e.Subject.Name, e.Subject.Namespace, o.Reader.SourceFlags())}, nil
	case explain.Invalid:
		return nil, errors.New(e.Message)
	}
	return nil, nil
}

// notTogether says that claims do not fit on the nodes that are asked about.
func (o *allocateOptions) notTogether(w *allocationTarget) []string {
	where := "any node"
	if o.node != "" {
		where = "node " + o.node
	}
	names := words.Each(w.claims, func(claim *resourcev1.ResourceClaim) string { return claim.Namespace + "/" + claim.Name })
	return []string{fmt.Sprintf("%s cannot be allocated together on %s", console.CommaList(names), where)}
}

// consumerOf is the pod for which a claim is reserved.
func consumerOf(s *inspect.Snapshot, w *allocationTarget, claim *resourcev1.ResourceClaim) (*corev1.Pod, error) {
	pod := w.pod
	if pod == nil {
		users := s.PodsOf(inspect.RefOf(claim))
		if len(users) != 1 {
			return nil, console.Usagef("--reserve: %d pods use %s/%s; say which with \"kubectl dra allocate pod NAME --reserve\"", len(users), claim.Namespace, claim.Name)
		}
		pod, _ = s.Pod(users[0])
	}
	if pod == nil {
		return nil, fmt.Errorf("reserving %s/%s: its pod could not be read", claim.Namespace, claim.Name)
	}
	return pod, nil
}
