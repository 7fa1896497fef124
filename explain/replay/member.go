package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// QueueOf is a queue of entities that are placed in a cluster.
func QueueOf(ctx context.Context, c *scheduler.Cluster, entities []Entity) Queue {
	return Queue{Base: c, Entities: entities, Local: local(ctx, c, entities)}
}

// local reports whether members change nothing for each other but what is left of their nodes.
func local(ctx context.Context, c *scheduler.Cluster, entities []Entity) bool {
	used := map[inspect.ClaimRef]bool{}
	tied := map[string]bool{}
	for i := range entities {
		for _, m := range entities[i].Members {
			if _, known := tied[m.Shape]; !known || m.Shape == "" {
				tied[m.Shape] = Local(ctx, c, m)
			}
			if !tied[m.Shape] {
				return false
			}
			for _, claim := range m.Claims {
				if used[inspect.RefOf(claim)] {
					return false // they share it
				}
				used[inspect.RefOf(claim)] = true
			}
		}
	}
	return true
}

// Local reports whether a member changes nothing for others but what is left of its node, wherever it is
// placed.
func Local(ctx context.Context, c *scheduler.Cluster, m *Member) bool {
	if m.NonLocal || m.PerNode {
		return !m.NonLocal && onlyOfNodes(c.Snapshot())
	}
	return len(m.Claims) == 0 || c.Tied(ctx, m.Claims)
}

// onlyOfNodes reports whether every slice is of a node.
func onlyOfNodes(s *inspect.Snapshot) bool {
	return !slices.ContainsFunc(s.Slices(), func(slice *resourcev1.ResourceSlice) bool {
		return slice.Spec.NodeName == nil || *slice.Spec.NodeName == ""
	})
}

// memberOf is a pod or a claim as a member of a queue.
func memberOf(c *scheduler.Cluster, subject metav1.Object, opts cycle.Options) *Member {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return PodMember(c, subject, opts)
	case *resourcev1.ResourceClaim:
		return ClaimMember(subject, opts)
	}
	return nil
}

// ClaimMember is a claim as it is allocated by itself, in whatever cluster it is asked.
func ClaimMember(claim *resourcev1.ResourceClaim, opts cycle.Options) *Member {
	m := &Member{Subject: cycle.SubjectOf(claim), Claims: []*resourcev1.ResourceClaim{claim}}
	m.Ask = func(ctx context.Context, c *scheduler.Cluster, nodes []*corev1.Node) (*Turn, error) {
		if claim.Status.Allocation != nil || claim.DeletionTimestamp != nil {
			return &Turn{}, nil
		}
		nodes, err := turnNodes(c, nodes, opts)
		if err != nil {
			return nil, err
		}
		return turnOf(ctx, &whatif.Question{Cluster: c, Claims: m.Claims, Nodes: nodes, Subject: m.Subject}, claim)
	}
	return m
}

// PodMember is a pod as it is placed in a cluster, and in those that come of it.
func PodMember(c *scheduler.Cluster, pod *corev1.Pod, opts cycle.Options) *Member {
	s := c.Snapshot()
	claims := cycle.ClaimsFor(s, pod)
	m := &Member{
		Subject: cycle.SubjectOf(pod), Pod: pod, Shape: shapeOf(s, pod, claims), Claims: claims.Pending,
		PerNode: cycle.Extends(s, pod), NonLocal: DependsOnPods(s, pod), Unseen: takesUnseen(s, pod, claims),
	}
	m.Ask = func(ctx context.Context, c *scheduler.Cluster, nodes []*corev1.Node) (*Turn, error) {
		return askTurn(ctx, c, pod, nodes, opts)
	}
	return m
}

// DependsOnPods reports whether a pod changes more for others than its node, or depends on where others are:
// if it fits nowhere, it may fit once others are placed.
func DependsOnPods(s *inspect.Snapshot, pod *corev1.Pod) bool {
	if a := pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
			a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			return true
		}
	}
	defaults, _, _ := s.DefaultSpread(pod)
	return len(defaults) > 0 || len(lifecycle.VolumeClaimNames(pod)) > 0 || slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != corev1.ScheduleAnyway
	})
}

// takesUnseen reports whether a pod takes more than what is seen once it is supposed to be on a node: volumes
// that are bound then, and what its devices take of the node.
func takesUnseen(s *inspect.Snapshot, pod *corev1.Pod, claims cycle.Claims) bool {
	if s.Features().Enabled(inspect.GateNodeAllocatableResources) && len(pod.Spec.ResourceClaims) > 0 && len(claims.Pending) > 0 {
		return true
	}
	for _, name := range lifecycle.VolumeClaimNames(pod) {
		bound := slices.ContainsFunc(s.Around().VolumeClaims, func(v *corev1.PersistentVolumeClaim) bool {
			return v.Namespace == pod.Namespace && v.Name == name && v.Spec.VolumeName != ""
		})
		if !bound {
			return true
		}
	}
	return false
}

// shapeOf is a text that is the same for pods that differ in nothing but their names and those of their own
// claims. It is "" for a pod that is like no other.
func shapeOf(s *inspect.Snapshot, pod *corev1.Pod, claims cycle.Claims) string {
	if claims.Blocked != "" || pod.Spec.NodeName != "" || pod.Status.ExtendedResourceClaimStatus != nil || pod.DeletionTimestamp != nil {
		return ""
	}
	spec := pod.Spec
	spec.ResourceClaims, spec.Hostname = nil, ""
	shape := struct {
		Namespace, Nominated string
		Labels               map[string]string
		Spec                 corev1.PodSpec
		Entries              []string
		Claims               []resourcev1.ResourceClaimSpec
		Allocated, Newer     []string
		Spread               string
	}{Namespace: pod.Namespace, Nominated: pod.Status.NominatedNodeName, Labels: pod.Labels, Spec: spec, Newer: []string{pod.Annotations[inspect.NewerKey]}}
	if defaults, selector, known := s.DefaultSpread(pod); len(defaults) > 0 {
		shape.Spread = fmt.Sprint(known, selector)
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name := ""
		if entry.ResourceClaimName != nil && !onlyOf(s, pod, *entry.ResourceClaimName) {
			name = *entry.ResourceClaimName
		} else if claim, ok := s.GroupClaimFor(pod, entry); ok {
			name = claim.Name
		}
		shape.Entries = append(shape.Entries, entry.Name+"="+name)
	}
	for _, claim := range claims.Pending {
		shape.Claims, shape.Newer = append(shape.Claims, claim.Spec), append(shape.Newer, claim.Annotations[inspect.NewerKey])
	}
	for _, claim := range claims.Allocated {
		shape.Allocated = append(shape.Allocated, claim.Name)
	}
	text, err := json.Marshal(shape)
	if err != nil {
		return ""
	}
	return string(text)
}

// onlyOf reports whether a claim waits for devices that a pod names, and that no other pod does.
func onlyOf(s *inspect.Snapshot, pod *corev1.Pod, name string) bool {
	ref := inspect.ClaimRef{Namespace: pod.Namespace, Name: name}
	claim, ok := s.Claim(ref)
	users := s.PodsOf(ref)
	return ok && claim.Status.Allocation == nil && len(users) == 1 && users[0].Name == pod.Name
}

// turnNodes are the nodes of a cluster that a member is asked about: those given, or all that the options ask
// about.
func turnNodes(c *scheduler.Cluster, nodes []*corev1.Node, opts cycle.Options) ([]*corev1.Node, error) {
	if nodes != nil && opts.Node == "" {
		return nodes, nil
	}
	return cycle.NodesFor(c.Snapshot(), opts)
}

// askTurn says where a pod can be placed in a cluster.
func askTurn(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, nodes []*corev1.Node, opts cycle.Options) (*Turn, error) {
	c, _ = cycle.StartOfAttempt(c, pod)
	s := c.Snapshot()
	claims := cycle.ClaimsFor(s, pod)
	switch {
	case claims.Blocked != "":
		open := claims.Missing != nil && claims.Missing.MayExist(s, pod.Namespace)
		return &Turn{MayWait: open, Open: open}, nil
	case pod.Spec.NodeName != "" && len(claims.Pending) == 0:
		return &Turn{}, nil
	}
	nodes, err := turnNodes(c, nodes, opts)
	if err != nil {
		return nil, err
	}

	t, err := turnOf(ctx, cycle.Question(c, pod, claims, nodes, opts), pod)
	if err == nil && pod.Status.NominatedNodeName != "" && !t.MayWait {
		t.Options = onlyNominated(t.Options, pod.Status.NominatedNodeName)
	}
	return t, err
}

// onlyNominated is the node on which the scheduler has made room for a pod if that is among the options: it
// tries no other.
func onlyNominated(options []Option, node string) []Option {
	for i := range options {
		if string(options[i].Node) == node {
			return options[i : i+1]
		}
	}
	return options
}

// turnOf puts a question to its nodes, and says where they leave the subject.
func turnOf(ctx context.Context, q *whatif.Question, subject metav1.Object) (*Turn, error) {
	t := &Turn{}
	if p := q.Filtered(); p != nil {
		if len(p.Everywhere.Refusals) > 0 {
			return t, nil
		}
		q.Grouped = true
		t.MayWait = len(q.Doubts()) > 0
	}
	limits := cycle.LimitsOf(q.Cluster.Snapshot())
	limits.AddPods(q)
	limits.AddAdmission(q)
	if err := limits.AddDisagreeing(ctx, q); err != nil {
		return nil, err
	}
	if reason := cycle.Precheck(q); reason != nil {
		newer := reason.Code != allocator.ClassNotFound && len(cycle.NewerOf(q)) > 0
		t.Open = limits.MayBeMore || limits.MayBeClasses || newer
		t.MayWait = t.MayWait || limits.MayBeTaken || newer
		return t, nil
	}
	return t, t.answer(ctx, q, limits, subject)
}

// answer puts a question to its nodes that nothing refuses before.
func (t *Turn) answer(ctx context.Context, q *whatif.Question, limits cycle.Limits, subject metav1.Object) error {
	answers, err := q.Ask(ctx)
	if err != nil {
		return err
	}
	if _, err := cycle.SearchCost(ctx, q, answers); err != nil {
		return err
	}
	o := cycle.TallyOf(answers)
	limits.AddNewer(ctx, q, answers, o)
	t.Open = limits.MayBeMore || limits.MayBeClasses
	t.MayWait = t.MayWait || limits.MayBeTaken
	o.Timeout, o.DropsNodes = cycle.TimeoutOf(q, answers), !explain.TimeoutIsError(q.Cluster.Snapshot().Features())
	switch {
	case o.Abort != nil && !o.Abort.Abort.Undecided() && !limits.MayGoOn:
		t.Fails = true
		return nil
	case o.Abort != nil || o.Undecided && o.Doubtful == 0 && len(answers) > 0:
		t.Open = true
	}
	t.MayWait = t.MayWait || o.Slow() || o.Allocatable == 0 && o.Doubtful > 0
	t.Options = optionsOf(q, answers, subject)
	return nil
}

// optionsOf are the nodes that nothing is known to refuse, in the order of the question.
func optionsOf(q *whatif.Question, answers []whatif.Answer, subject metav1.Object) []Option {
	at := make([]*Option, len(q.Nodes))
	for i := range answers {
		a := &answers[i]
		if !a.Allocatable() && !a.Doubtful() {
			continue
		}
		for _, n := range a.Nodes {
			at[n] = &Option{Node: inspect.NodeName(q.Nodes[n].Name), Reserve: func(ctx context.Context) (*Reservation, error) {
				return Reserve(ctx, q, a, n, subject)
			}}
		}
	}
	out := make([]Option, 0, len(at))
	for _, o := range at {
		if o != nil {
			out = append(out, *o)
		}
	}
	return out
}

// Reserve is what a subject has once it is on a node that answered yes.
func Reserve(ctx context.Context, q *whatif.Question, a *whatif.Answer, node int, subject metav1.Object) (*Reservation, error) {
	result := a.Result
	if node != a.Nodes[0] && len(a.Q.Claims) > 0 {
		var err error
		if result, err = q.Cluster.Allocate(ctx, q.Nodes[node], a.Q.Claims, nil); err != nil {
			return nil, err
		}
	}
	if result.Outcome != allocator.Allocated {
		return nil, fmt.Errorf("placing %s on node %s: what fits on a node that looks alike does not fit there", cycle.SubjectOf(subject).FullName(), q.Nodes[node].Name)
	}
	t := &Reservation{}
	var consumer []resourcev1.ResourceClaimConsumerReference
	if pod, ok := subject.(*corev1.Pod); ok {
		t.Pod = pod.DeepCopy()
		t.Pod.Spec.NodeName = q.Nodes[node].Name
		consumer = append(consumer, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
	}
	for i := range result.Allocations {
		claim := a.Q.Claims[i].DeepCopy()
		if claim.Namespace == "" {
			claim.Namespace = subject.GetNamespace()
		}
		claim.Status.Allocation = result.Allocations[i].DeepCopy()
		if s := q.Cluster.Snapshot(); lifecycle.BindsLater(s) { // as the scheduler does, which refuses pods that come later otherwise
			claim.Status.Allocation.AllocationTimestamp = ptr.To(metav1.NewTime(s.Time()))
		}
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, consumer...)
		t.Claims = append(t.Claims, claim)
	}
	return t, nil
}
