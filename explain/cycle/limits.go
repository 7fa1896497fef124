package cycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Limits says what it means for an answer that not everything could be read.
type Limits struct {
	// Remarks are a sentence for each thing that could not be read.
	Remarks []string
	// MayBeMore says that there may be devices that are not in the snapshot, so that "no" is not certain.
	MayBeMore bool
	// MayBeTaken says that devices may be allocated or tainted although the snapshot does not show it, so
	// that "yes" is not certain.
	MayBeTaken bool
	// MayGoOn says that the scheduler need not give up where it seems to.
	MayGoOn bool
	// MayBeClasses says that there may be classes that are not in the snapshot.
	MayBeClasses bool
}

// LimitsOf returns the limits of what a snapshot can answer.
func LimitsOf(s *inspect.Snapshot) Limits {
	var l Limits
	missing := func(r inspect.Resource) (inspect.Health, bool) {
		h := s.Health(r)
		return h, h.Partial()
	}
	add := func(r inspect.Resource, consequence string) bool {
		h, bad := missing(r)
		if h.State == inspect.Incomplete { // the same for most resources, when a file could not be read at all
			consequence = "what is in there is not seen here"
		}
		remark := DescribeHealth(r, h) + ": " + consequence
		if bad && !slices.Contains(l.Remarks, remark) {
			l.Remarks = append(l.Remarks, remark)
		}
		return bad
	}
	if add(inspect.Slices, "there may be devices that are not seen here") {
		l.MayBeMore, l.MayBeTaken = true, true
	}
	if add(inspect.Claims, "devices may be held by claims that are not seen here") {
		l.MayBeTaken = true
	}
	if add(inspect.Classes, "device classes may exist that are not seen here") {
		l.MayBeClasses, l.MayBeMore = true, true
	}
	if s.Features().Enabled(inspect.GateDeviceTaintRules) && add(inspect.TaintRules, "devices may be tainted without that being seen here") {
		l.MayBeTaken = true
	}
	if s.TaintRulesCrash() {
		l.MayBeMore, l.MayBeTaken = true, true
		l.Remarks = append(l.Remarks,
			"kube-scheduler of Kubernetes 1.36.0 to 1.36.2 crashes where there are DeviceTaintRules, and until then does not see them: the answer is not known")
	}
	add(inspect.Pods, "the pods behind claims are not known")
	if s.NodesAssumed() {
		l.AssumedNodes(s)
	} else if s.Health(inspect.Nodes).State == inspect.Incomplete && add(inspect.Nodes, "there may be nodes that are not seen here") {
		l.MayBeMore = true
	}
	return l
}

// AddPods adds what it means for a pod that not all pods could be read.
func (l *Limits) AddPods(q *whatif.Question) {
	if q.Pod == nil || !q.Cluster.Snapshot().Health(inspect.Pods).Partial() {
		return
	}
	l.MayBeTaken = true
	l.Remarks = append(l.Remarks, "pods that are not seen here may take the room of nodes, or repel the pod")
}

// AddScheduler adds that a pod of another scheduler is decided as kube-scheduler would decide it.
func (l *Limits) AddScheduler(q *whatif.Question) {
	if q.Pod == nil || q.Cluster.Snapshot().Schedules(q.Pod) {
		return
	}
	l.MayBeTaken = true
	l.Remarks = append(l.Remarks, "this is what kube-scheduler would decide; what the scheduler of the pod refuses is not known")
}

// Doubts says what could refuse a pod and is not known.
func Doubts(q *whatif.Question, answers []whatif.Answer) []string {
	var out []string
	everywhere := q.Doubts()
	for i := range everywhere {
		out = append(out, explain.DoubtRemark(&everywhere[i]))
	}
	return append(out, whatif.DoubtsOf(answers)...)
}

// AssumedNodes adds what it means that nodes are assumed from what names them.
func (l *Limits) AssumedNodes(s *inspect.Snapshot) {
	why := "no nodes were given"
	if h := s.Health(inspect.Nodes); h.Partial() {
		why = DescribeHealth(inspect.Nodes, h)
	}
	standIn := "those that ResourceSlices name stand in for them, without labels or taints"
	if _, ok := s.Node(inspect.PseudoNode); ok {
		standIn = "nor does anything name one; " + string(inspect.PseudoNode) + " stands for any node, without labels or taints"
	}
	l.Remarks = append(l.Remarks, why+": "+standIn)
	for _, slice := range s.Slices() {
		if slice.Spec.NodeSelector != nil {
			l.Remarks = append(l.Remarks, fmt.Sprintf("ResourceSlice %s selects nodes by label: which nodes it reaches is not known", slice.Name))
			l.MayBeMore = true
			return
		}
	}
}

// DescribeHealth says why objects of a kind were not, or not all, read.
func DescribeHealth(r inspect.Resource, h inspect.Health) string {
	switch {
	case h.Message != "":
		return h.Message
	case h.State == inspect.Narrowed:
		return fmt.Sprintf("%s were read only in namespace %s", r, strings.Join(h.Namespaces, ", "))
	}
	return fmt.Sprintf("%s could not be read", r)
}
