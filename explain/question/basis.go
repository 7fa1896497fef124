package question

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// basisOf says by the rules of which scheduler a cluster decides.
func basisOf(c *scheduler.Cluster) explain.Basis {
	s := c.Snapshot()
	f := s.Features()
	b := explain.Basis{Version: s.ServerVersion(), Variant: c.Variant(), Source: f.Source, Usual: f.Minor == inspect.NewestMinor && f.Default(), Revision: s.Revision(), Read: s.Time()}
	if s.Recorded() {
		b.AsOf = s.Time()
	}
	release := s.Release()
	if b.Version == "" || release != release.Modelled() {
		b.Version = release.Modelled().String()
	}
	b.Version = strings.TrimPrefix(b.Version, "v")
	switch {
	case release.Minor < inspect.OldestMinor:
		b.Remarks = append(b.Remarks, fmt.Sprintf("Kubernetes 1.%d is older than what this program models; it decides by the rules of 1.%d", release.Minor, inspect.OldestMinor))
	case release.Minor > inspect.NewestMinor:
		b.Remarks = append(b.Remarks, fmt.Sprintf("Kubernetes 1.%d is newer than this program, which decides by the rules of 1.%d", release.Minor, inspect.NewestMinor))
	}
	if release.Before(35, 0) && (f.Enabled(inspect.GatePartitionableDevices) || f.Enabled(inspect.GateConsumableCapacity)) {
		b.Remarks = append(b.Remarks, "shared counters and consumable capacity, alpha in 1.34, are decided by the rules of 1.35")
	}
	switch {
	case release.Before(36, 0):
		b.Remarks = append(b.Remarks, fmt.Sprintf(
			"Kubernetes 1.%d does not define the order of devices; the devices named are one possible choice", release.Modelled().Minor))
	case c.Variant() == allocator.Stable:
		b.Remarks = append(b.Remarks, "with these features the scheduler runs its stable allocator, which does not define the order of devices; the devices named are one possible choice")
	}
	return b
}

// limits says what it means for an answer that not everything could be read.
type limits struct {
	// remarks are a sentence for each thing that could not be read.
	remarks []string
	// mayBeMore says that there may be devices that are not in the snapshot, so that "no" is not certain.
	mayBeMore bool
	// mayBeTaken says that devices may be allocated or tainted although the snapshot does not show it, so that "yes"
	// is not certain.
	mayBeTaken bool
	// mayGoOn says that the scheduler need not give up where it seems to.
	mayGoOn bool
	// mayBeClasses says that there may be classes that are not in the snapshot.
	mayBeClasses bool
}

// limitsOf returns the limits of what a snapshot can answer.
func limitsOf(s *inspect.Snapshot) limits {
	var l limits
	missing := func(r inspect.Resource) (inspect.Health, bool) {
		h := s.Health(r)
		return h, h.Partial()
	}
	add := func(r inspect.Resource, consequence string) bool {
		h, bad := missing(r)
		if h.State == inspect.Incomplete { // the same for most resources, when a file could not be read at all
			consequence = "what is in there is not seen here"
		}
		remark := describeHealth(r, h) + ": " + consequence
		if bad && !slices.Contains(l.remarks, remark) {
			l.remarks = append(l.remarks, remark)
		}
		return bad
	}
	if add(inspect.Slices, "there may be devices that are not seen here") {
		l.mayBeMore, l.mayBeTaken = true, true
	}
	if add(inspect.Claims, "devices may be held by claims that are not seen here") {
		l.mayBeTaken = true
	}
	if add(inspect.Classes, "device classes may exist that are not seen here") {
		l.mayBeClasses, l.mayBeMore = true, true
	}
	if s.Features().Enabled(inspect.GateDeviceTaintRules) && add(inspect.TaintRules, "devices may be tainted without that being seen here") {
		l.mayBeTaken = true
	}
	add(inspect.Pods, "the pods behind claims are not known")
	if s.NodesAssumed() {
		l.assumedNodes(s)
	} else if s.Health(inspect.Nodes).State == inspect.Incomplete && add(inspect.Nodes, "there may be nodes that are not seen here") {
		l.mayBeMore = true
	}
	return l
}

// addPods adds what it means for a pod that not all pods could be read.
func (l *limits) addPods(q *whatif.Question) {
	if q.Pod == nil || !q.Cluster.Snapshot().Health(inspect.Pods).Partial() {
		return
	}
	l.mayBeTaken = true
	l.remarks = append(l.remarks, "pods that are not seen here may take the room of nodes, or repel the pod")
}

// doubts says what could refuse a pod and is not known.
func doubts(q *whatif.Question, answers []whatif.Answer) []string {
	var out []string
	everywhere := q.Doubts()
	for i := range everywhere {
		out = append(out, whatif.DoubtRemark(&everywhere[i]))
	}
	return append(out, whatif.DoubtsOf(answers)...)
}

// assumedNodes adds what it means that nodes are assumed from what names them.
func (l *limits) assumedNodes(s *inspect.Snapshot) {
	why := "no nodes were given"
	if h := s.Health(inspect.Nodes); h.Partial() {
		why = describeHealth(inspect.Nodes, h)
	}
	standIn := "those that ResourceSlices name stand in for them, without labels or taints"
	if _, ok := s.Node(inspect.PseudoNode); ok {
		standIn = "nor does anything name one; " + string(inspect.PseudoNode) + " stands for any node, without labels or taints"
	}
	l.remarks = append(l.remarks, why+": "+standIn)
	for _, slice := range s.Slices() {
		if slice.Spec.NodeSelector != nil {
			l.remarks = append(l.remarks, fmt.Sprintf("ResourceSlice %s selects nodes by label: which nodes it reaches is not known", slice.Name))
			l.mayBeMore = true
			return
		}
	}
}

// describeHealth says why objects of a kind were not, or not all, read.
func describeHealth(r inspect.Resource, h inspect.Health) string {
	switch {
	case h.Message != "":
		return h.Message
	case h.State == inspect.Narrowed:
		return fmt.Sprintf("%s were read only in namespace %s", r, strings.Join(h.Namespaces, ", "))
	}
	return fmt.Sprintf("%s could not be read", r)
}

// Basis says by the rules of which scheduler a cluster decides.
func Basis(c *scheduler.Cluster) explain.Basis { return basisOf(c) }

// Limits says, in a sentence for each, what could not be read of a cluster and what that means for answers.
func Limits(s *inspect.Snapshot) []string { return limitsOf(s).remarks }
