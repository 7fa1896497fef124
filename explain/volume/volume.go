package volume

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Explain explains where a volume claim of the snapshot can have its volume: whether a pod that has
// nothing but the claim fits, as far as the scheduler's plugins for volumes decide that. Errors are those of
// [question.Claim].
func Explain(ctx context.Context, c *scheduler.Cluster, namespace, name string, opts question.Options) (*explain.Explanation, error) {
	s := c.Snapshot()
	nodes, err := cycle.NodesFor(s, opts.Cycle())
	if err != nil {
		return nil, err
	}
	only := []inspect.NodeName{}
	if opts.Node != "" {
		only = append(only, opts.Node)
	}
	index := filters.NewIndex(s, nil)
	answer, ok := index.VolumeClaim(namespace, name, only...)
	if !ok {
		return nil, cycle.NotFound("persistentvolumeclaim", namespace+"/"+name)
	}
	e := &explain.Explanation{Subject: explain.Subject{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}, Basis: cycle.BasisOf(c)}
	e.Volume = volumeOf(answer)
	e.Nodes.Total = len(nodes)
	e.Partial = volumeLimits(s, answer)
	v := &volumeQuestion{index: index, answer: answer, nodes: only, e: e}
	v.decide()
	e.Groups = volumeGroups(answer)
	e.Waits = v.notes(s)
	e.Scheduler = question.SchedulerSays(s, answer.Waiting, opts)
	if e.Verdict == explain.Unsatisfiable && !answer.Bound {
		e.Fixes, err = v.fixes(ctx)
	}
	return e, err
}

// volumeQuestion is a question about a volume claim, while it is answered.
type volumeQuestion struct {
	index  *filters.Index
	answer *filters.VolumeAnswer
	nodes  []inspect.NodeName // only these, if there are any
	e      *explain.Explanation
}

// volumeOf is the answer node by node.
func volumeOf(a *filters.VolumeAnswer) *explain.Volume {
	out := &explain.Volume{Class: a.Class.Name, Provisioner: a.Class.Provisioner}
	if q, ok := a.Claim.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		out.Wanted = &q
	}
	if a.Bound {
		out.Bound = a.Claim.Spec.VolumeName
	}
	if len(a.Everywhere.Refusals) > 0 {
		return out
	}
	for i := range a.Nodes {
		out.Nodes = append(out.Nodes, volumeNode(&a.Nodes[i]))
	}
	return out
}

func volumeNode(n *filters.ClaimOnNode) explain.VolumeNode {
	out := explain.VolumeNode{
		Node: n.Node, Answer: explain.VolumeFits, Rule: n.Rule, By: n.By, Offered: n.Offered, Field: n.Field, Together: n.Together,
		Message: volumeDecides(&n.VolumeVerdict),
	}
	if n.Refusal != nil && n.Rule == filters.VolumeRoom || n.Offered != nil {
		out.Missing = n.Missing()
	}
	o := n.Outcome()
	for _, r := range o.Refusals {
		out.Answer = explain.VolumeRefused
		out.Reasons = append(out.Reasons, explain.VolumeReason{Plugin: r.Plugin, Code: r.Code, Message: r.Message})
	}
	for _, d := range o.Doubts {
		if out.Answer == explain.VolumeFits {
			out.Answer = explain.VolumeUnknown
		}
		out.Reasons = append(out.Reasons, explain.VolumeReason{Plugin: d.Plugin, Message: d.Message})
	}
	return out
}

// decide sets the verdict and the sentence.
func (v *volumeQuestion) decide() {
	fit, unknown := 0, 0
	for i := range v.e.Volume.Nodes {
		switch v.e.Volume.Nodes[i].Answer {
		case explain.VolumeFits:
			fit++
		case explain.VolumeUnknown:
			unknown++
		}
	}
	everywhere := v.answer.Everywhere
	switch {
	case len(everywhere.Refusals) > 0:
		v.e.Verdict = explain.Unsatisfiable
		v.e.Say("fits nowhere: %s", everywhere.Refusals[0].Message)
	case len(everywhere.Doubts) > 0:
		v.e.Verdict = explain.Unknown
		v.e.Remark("where it fits is not known: %s", everywhere.Doubts[0].Message)
	case v.e.Nodes.Total == 0:
		v.e.Verdict = explain.Unknown
		v.e.Remark("there are no nodes to ask about")
	case fit > 0:
		v.e.Verdict, v.e.Nodes.Allocatable = explain.Allocatable, fit
		v.sayYes(fit)
	case unknown > 0:
		v.e.Verdict = explain.Unknown
		v.e.Say("may have its volume on %s, but not everything is known", v.on(unknown))
	default:
		v.e.Verdict = explain.Unsatisfiable
		v.sayNo()
	}
}

// on says on how many of the nodes.
func (v *volumeQuestion) on(n int) string {
	if nodes := v.e.Volume.Nodes; len(nodes) == 1 {
		if nodes[0].Node == inspect.PseudoNode {
			return "any node (none is known)"
		}
		return "node " + string(nodes[0].Node)
	}
	return fmt.Sprintf("%d of %d nodes", n, v.e.Nodes.Total)
}

func (v *volumeQuestion) sayYes(fit int) {
	fitting := slices.DeleteFunc(slices.Clone(v.e.Volume.Nodes), func(n explain.VolumeNode) bool { return n.Answer != explain.VolumeFits })
	existing := func(n explain.VolumeNode) bool { return n.Rule == filters.VolumeExisting }
	switch {
	case v.answer.Bound:
		v.e.Verdict = explain.Allocated
		v.e.Say("is bound to volume %s, which can be used on %s", v.e.Volume.Bound, v.on(fit))
	case !slices.ContainsFunc(fitting, func(n explain.VolumeNode) bool { return !existing(n) }):
		v.e.Say("can have a volume that there is already on %s", v.on(fit))
	case slices.ContainsFunc(fitting, existing):
		v.e.Say("can have a volume that there is already, or a new one, on %s", v.on(fit))
	default:
		v.e.Say("can have a volume made for it on %s", v.on(fit))
	}
}

func (v *volumeQuestion) sayNo() {
	single := len(v.e.Volume.Nodes) == 1
	where := "fits on none of " + words.Count(v.e.Nodes.Total, "node")
	if single {
		where = "does not fit on " + v.on(0)
	}
	switch why := v.tooLarge(); {
	case v.answer.Bound && single:
		v.e.Say("is bound to volume %s, which cannot be used on %s", v.e.Volume.Bound, v.on(0))
	case v.answer.Bound:
		v.e.Say("is bound to volume %s, which can be used on none of %s", v.e.Volume.Bound, words.Count(v.e.Nodes.Total, "node"))
	case why != "":
		v.e.Say("%s: %s", where, why)
	default:
		v.e.Say("%s", where)
	}
}

// tooLarge says how much is asked for and what there is, if on all nodes nothing else is in the way.
func (v *volumeQuestion) tooLarge() string {
	var most *explain.VolumeNode
	for i := range v.e.Volume.Nodes {
		n := &v.e.Volume.Nodes[i]
		if n.Missing == nil || len(n.Reasons) != 1 {
			return ""
		}
		if n.Offered != nil && (most == nil || n.Offered.Cmp(*most.Offered) > 0) {
			most = n
		}
	}
	asks := fmt.Sprintf("it asks for %s of class %s", v.e.Volume.Wanted, v.e.Volume.Class)
	switch {
	case most == nil:
		return asks + ", and none is known to be left"
	case len(v.e.Volume.Nodes) == 1:
		return fmt.Sprintf("%s, and the largest volume there is %s", asks, most.Offered)
	}
	return fmt.Sprintf("%s, and the largest volume is %s, on node %s", asks, most.Offered, most.Node)
}

// notes say what else is worth knowing of the claim.
func (v *volumeQuestion) notes(s *inspect.Snapshot) []explain.Note {
	a := v.answer
	onClaim := func(aside bool, format string, args ...any) explain.Note {
		return explain.Note{Kind: v.e.Subject.Kind, Namespace: v.e.Subject.Namespace, Name: v.e.Subject.Name, Message: fmt.Sprintf(format, args...), Aside: aside}
	}
	var out []explain.Note
	switch alone := slices.Contains(a.Claim.Spec.AccessModes, corev1.ReadWriteOncePod); {
	case alone && len(a.Users) > 0:
		out = append(out, onClaim(false, "pod %s has it, and no other pod can (ReadWriteOncePod)", a.Users[0]))
	case len(a.Users)+len(a.Waiting) > 0 || a.Bound || len(a.Everywhere.Refusals) > 0:
	case s.Health(inspect.Pods).PartialIn(a.Claim.Namespace):
		out = append(out, onClaim(false, question.PodsUnread))
	default:
		out = append(out, onClaim(true, "a pod: no pod uses the claim, and it gets a volume when one that does is scheduled"))
	}
	for _, pod := range a.Waiting {
		if together := v.together(pod); together != "" {
			out = append(out, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: together})
		}
	}
	return out
}

// together says what becomes of the claim beside others of a pod.
func (v *volumeQuestion) together(pod inspect.PodRef) string {
	var nodes []string
	var example filters.VolumeTogether
	for i := range v.e.Volume.Nodes {
		n := &v.e.Volume.Nodes[i]
		at := slices.IndexFunc(n.Together, func(t filters.VolumeTogether) bool { return t.Pod == pod })
		if at < 0 || n.Answer != explain.VolumeFits {
			continue
		}
		if len(nodes) == 0 {
			example = n.Together[at]
		}
		nodes = append(nodes, string(n.Node))
	}
	where := words.Shorten(nodes, maxNodesNamed)
	switch {
	case len(nodes) == 0:
		return ""
	case example.Refused:
		return fmt.Sprintf("each of its claims needs a volume, and there are not enough for all on %s", where)
	}
	return fmt.Sprintf("its claims ask for %s in all, more than is left on %s; the scheduler compares each claim alone, so one may fail after the pod has been put there", example.Wanted, where)
}

// maxNodesNamed is the number of nodes that a sentence names.
const maxNodesNamed = 3
