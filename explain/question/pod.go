package question

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Pod explains the claims of a pod of the snapshot together, since they must all fit on one node. Errors are those of
// [Claim].
func Pod(ctx context.Context, c *scheduler.Cluster, ref inspect.PodRef, opts Options) (*explain.Explanation, error) {
	pod, ok := c.Snapshot().Pod(ref)
	if !ok {
		return nil, notFound("pod", ref.String())
	}
	return PodObject(ctx, c, pod, opts)
}

// PodObject explains the claims of a pod that need not be in the snapshot. Errors are those of [Claim].
func PodObject(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, error) {
	e, _, err := askPod(ctx, c, pod, opts)
	return e, err
}

// askScheduler is askPod without what has become of the pod since.
func askScheduler(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, *whatif.Question, error) {
	e, q, err := podAsIs(ctx, c, pod, opts)
	if err != nil || pod.Spec.NodeName != "" || e.Verdict != explain.Unsatisfiable || opts.verdictOnly || opts.reasonOnly {
		return e, q, err
	}
	allocated := slices.DeleteFunc(claimsFor(c.Snapshot(), pod).allocated, func(claim *resourcev1.ResourceClaim) bool {
		return opts.supposed[inspect.RefOf(claim)]
	})
	fixes, err := releaseAllocated(ctx, c, pod, allocated, opts)
	if len(fixes) > 0 {
		e.Fixes, e.NoHelp = append(fixes, e.Fixes...), nil // which is about other claims
	}
	if err == nil && len(e.Fixes) == 0 && len(e.Advice) == 0 && q != nil && !q.Exhausted() {
		e.Fixes, err = lastResorts(ctx, c, pod, opts)
	}
	return e, q, err
}

// podAsIs is PodObject without the fixes that release claims of the pod itself.
func podAsIs(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, *whatif.Question, error) {
	c, attempt := startOfAttempt(c, pod)
	s := c.Snapshot()
	e := &explain.Explanation{Subject: explain.Subject{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, Basis: basisOf(c)}
	claims := claimsFor(s, pod)
	e.Waits = append(e.Waits, claims.notes...)
	if attempt != nil {
		e.Waits = append(e.Waits, *attempt)
	}
	if len(claims.pending) > 0 {
		e.Waits = append(e.Waits, podState(pod, opts)...)
	}
	e.Waits = append(e.Waits, claimsToCome(c, pod)...)
	e.Scheduler = schedulerSays(s, []inspect.PodRef{{Namespace: pod.Namespace, Name: pod.Name}}, opts)
	nodes, err := nodesFor(s, opts)
	if err != nil {
		return nil, nil, err
	}
	if claims.blocked != "" {
		e.Nodes.Total = len(nodes)
		return e, nil, explainBlocked(e, s, pod, claims, changed(ctx, c, opts))
	}
	if pod.Spec.NodeName != "" && len(claims.pending) == 0 {
		e.Nodes.Total, e.Nodes.Allocatable = len(nodes), words.Btoi(slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName }))
		explainPodAllocated(e, s, pod, claims)
		return e, nil, nil
	}
	q := podQuestion(c, e, pod, claims, nodes, opts)
	if refused, err := explainHeldBack(ctx, c, q, e, opts); refused || err != nil {
		return e, nil, err
	}
	group := groupOf(q)
	if err := decide(ctx, q, e, opts); err != nil {
		return nil, nil, err
	}
	if e.Verdict == explain.Allocatable && len(claims.pending) == 0 && q.PerNode == nil && len(claims.allocated) > 0 {
		explainPodAllocated(e, s, pod, claims)
		say(e, "%s, and can be scheduled on %s", e.Predicate, someNodes(q, e))
		e.Groups = nil // of course it is not where its devices cannot be used
	}
	if group != nil {
		if err := explainGroup(ctx, q, group, e, opts); err != nil {
			return nil, nil, err
		}
	}
	return e, q, nil
}

// changed asks about a pod that was changed. It is nil where only the verdict is wanted.
func changed(ctx context.Context, c *scheduler.Cluster, opts Options) func(*corev1.Pod) (*explain.Explanation, error) {
	if opts.verdictOnly || opts.reasonOnly {
		return nil
	}
	opts.Events.List = nil // which tell of the pod as it is, that its claim could not be made
	return func(pod *corev1.Pod) (*explain.Explanation, error) { return PodObject(ctx, c, pod, opts) }
}

// claimsToCome tells of volume claims that are decided as they will be.
func claimsToCome(c *scheduler.Cluster, pod *corev1.Pod) []explain.Note {
	var out []explain.Note
	if pod.UID != "" || !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) {
		return nil
	}
	for _, name := range c.Filters().ClaimsToCome(pod) {
		out = append(out, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(
			"its volume claim %s is made once the pod has been created; decided with one made from the template in the pod", name)})
	}
	return out
}

// podQuestion makes the question that a pod is to its nodes.
func podQuestion(c *scheduler.Cluster, e *explain.Explanation, pod *corev1.Pod, claims podClaims, nodes []*corev1.Node, opts Options) *whatif.Question {
	s := c.Snapshot()
	q := &whatif.Question{
		Cluster: c, Claims: claims.pending, Templates: claims.templates, Nodes: nodes, Subject: e.Subject,
		Unsuitable: unsuitableNodes(s, pod, nodes, claims.allocated), Supposed: opts.supposed, SupposedPods: opts.supposedPods, Own: map[inspect.ClaimRef]bool{},
	}
	for _, claim := range claims.allocated {
		q.Own[inspect.RefOf(claim)] = true
	}
	q.UnsuitableWith = func(node *corev1.Node, own map[inspect.ClaimRef]bool) *explain.Reason {
		return unsuitable(s, pod, node, slices.DeleteFunc(slices.Clone(claims.allocated), func(c *resourcev1.ResourceClaim) bool { return !own[inspect.RefOf(c)] }))
	}
	if pod.Spec.NodeName != "" {
		return q // the pod is on its node, whatever the filters would say now
	}
	q.Pod = pod
	if special := extendedOf(s, pod); special != nil {
		q.PerNode = special
		q.Simplify()
	}
	return q
}

// explainBlocked makes the explanation of a pod that the scheduler does not even try. ask explains the pod with an entry
// changed; if it is nil, no fixes are looked for.
func explainBlocked(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod, claims podClaims, ask func(*corev1.Pod) (*explain.Explanation, error)) (err error) {
	e.Partial = limitsOf(s).remarks
	if claims.missing != nil && claims.missing.MayExist(s, pod.Namespace) {
		e.Verdict = explain.Unknown
		remark(e, "not everything could be read, so it is not known whether %s exists", claims.missing)
		if claims.missing.Template { // nothing else depends on templates
			e.Partial = append(e.Partial, describeHealth(inspect.Templates, s.Health(inspect.Templates))+": templates may exist that are not seen here")
		}
		return nil
	}
	e.Verdict = explain.Unsatisfiable
	say(e, "cannot be scheduled: %s", claims.blocked)
	if claims.missing != nil && !claims.unnamed && ask != nil {
		e.Fixes, err = claims.missing.Fixes(pod, s, ask)
	}
	return err
}

// podClaims are the claims of a pod, by what they need.
type podClaims struct {
	allocated []*resourcev1.ResourceClaim
	pending   []*resourcev1.ResourceClaim
	// templates has for each pending claim the name of the template that asks for the same, or "".
	templates []string
	notes     []explain.Note
	// blocked says why the scheduler does not even try the pod. It is "" if it does.
	blocked string
	// missing is the claim or template that does not exist, if that is why the pod is blocked.
	missing *fix.MissingClaim
	// unnamed says that the pod does not name what is missing itself, so that no other name helps.
	unnamed bool
}

// claimsFor resolves the entries of pod.spec.resourceClaims in order. If the claim of a template has not been created
// yet, one made from the template takes its place.
func claimsFor(s *inspect.Snapshot, pod *corev1.Pod) podClaims {
	var out podClaims
	note := func(format string, args ...any) {
		out.notes = append(out.notes, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(format, args...)})
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		if !ok {
			if shared, found := s.GroupClaimFor(pod, entry); found {
				name, ok = shared.Name, true
				note("its entry %s is the claim %s of its pod group %s, which all pods of the group share", entry.Name, name, inspect.PodGroupOf(pod))
			}
		}
		if !ok {
			out.fromTemplate(s, pod, i)
			continue
		}
		if name == "" {
			continue
		}
		claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		switch {
		case !found:
			out.missing = &fix.MissingClaim{Entry: i, Template: false, Name: name}
			out.blocked = out.missing.String() + " does not exist"
			out.unnamed = entry.ResourceClaimName == nil
		case claim.Status.Allocation != nil:
			out.allocated = append(out.allocated, claim)
		default:
			out.pending, out.templates = append(out.pending, claim), append(out.templates, templateBehind(s, entry, claim))
		}
		if !found || out.blocked != "" {
			continue
		}
		if out.blocked = refusedClaim(s, pod, claim, entry.ResourceClaimName == nil); out.blocked == "" && claim.DeletionTimestamp != nil {
			note("the claim %s is being deleted", name)
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil && pod.Spec.NodeName != "" {
		if claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: status.ResourceClaimName}); found && claim.Status.Allocation != nil {
			out.allocated = append(out.allocated, claim)
		}
	}
	return out
}

// templateBehind is the name of the template from which the claim of an entry was made. It is "" if there is none, or if
// the template no longer asks for the same.
func templateBehind(s *inspect.Snapshot, entry *corev1.PodResourceClaim, claim *resourcev1.ResourceClaim) string {
	if entry.ResourceClaimTemplateName == nil {
		return ""
	}
	template, ok := s.Template(claim.Namespace, *entry.ResourceClaimTemplateName)
	if !ok || !equality.Semantic.DeepEqual(template.Spec.Spec, claim.Spec) {
		return ""
	}
	return template.Name
}

// fromTemplate adds the claim for an entry whose claim has not been created yet.
func (p *podClaims) fromTemplate(s *inspect.Snapshot, pod *corev1.Pod, index int) {
	entry := &pod.Spec.ResourceClaims[index]
	if entry.ResourceClaimTemplateName == nil {
		p.blocked = fmt.Sprintf("its entry %s names neither a claim nor a template", entry.Name)
		return
	}
	template, ok := s.Template(pod.Namespace, *entry.ResourceClaimTemplateName)
	if !ok {
		p.missing, p.unnamed = &fix.MissingClaim{Entry: index, Template: true, Name: *entry.ResourceClaimTemplateName}, false
		p.blocked = p.missing.String() + " does not exist"
		return
	}
	p.pending, p.templates = append(p.pending, inspect.ClaimFromTemplate(template, pod.Name+"-"+entry.Name)), append(p.templates, template.Name)
	p.notes = append(p.notes, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(
		"the claim for its entry %s has not been created yet; decided with one made from the template %s", entry.Name, template.Name)})
}

// explainPodAllocated makes the explanation of a pod that has all its devices, or needs none.
func explainPodAllocated(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod, claims podClaims) {
	e.Verdict = explain.Allocated
	e.Partial = limitsOf(s).remarks
	e.Allocation = &explain.Allocation{Node: inspect.NodeName(pod.Spec.NodeName)}
	for _, claim := range claims.allocated {
		addDevices(e.Allocation, claim, claim.Status.Allocation)
	}
	switch {
	case len(claims.allocated) == 0:
		say(e, "uses no resource claims")
	default:
		say(e, "has all its devices: %s in %s", words.Count(len(e.Allocation.Devices), "device"), words.Count(len(claims.allocated), "claim"))
	}
}

// unsuitableNodes says which nodes the pod cannot use because of claims that have devices already, and why.
func unsuitableNodes(s *inspect.Snapshot, pod *corev1.Pod, nodes []*corev1.Node, allocated []*resourcev1.ResourceClaim) map[inspect.NodeName]explain.Reason {
	out := map[inspect.NodeName]explain.Reason{}
	for _, node := range nodes {
		if reason := unsuitable(s, pod, node, allocated); reason != nil {
			out[inspect.NodeName(node.Name)] = *reason
		}
	}
	return out
}

// unsuitable says why a pod cannot use a node because of claims that have devices already. It is nil if the pod can use
// the node.
func unsuitable(s *inspect.Snapshot, pod *corev1.Pod, node *corev1.Node, allocated []*resourcev1.ResourceClaim) *explain.Reason {
	switch pod.Spec.NodeName {
	case "":
	case node.Name:
		return nil // the pod is on the node, whatever has changed since
	default:
		reason := whatif.UnsuitableFor(whatif.Bound, "the pod is bound to node %s", pod.Spec.NodeName)
		return &reason
	}
	for _, claim := range allocated {
		if reason := unavailable(s, claim, node); reason != nil {
			return reason
		}
	}
	return nil
}
