package remedy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AddMoves adds to moves the commands that make them, in order, and what has to be known of them. The
// snapshot is the one that was asked about.
//
// The moment that a pod ends, the one in its place and the one that room is made for want the same devices.
// So that the node goes to the right one, it is tainted, and only the latter tolerates that. Nodes that are
// needed for a later move are cordoned.
func AddMoves(s *inspect.Snapshot, m *explain.Moves, asked Asked) {
	if len(m.Moves) == 0 || m.Target == nil {
		return
	}
	b := &builder{writer: writer{flags: asked.Flags}, s: s, asked: asked}
	switch {
	case len(asked.Files) == 1 && !asked.Once:
		b.add(b.kubectl("apply", "-f", asked.Files[0]))
	case len(asked.Files) > 0:
		b.remark("Create what was asked about first.")
	}
	kept, closed := keptFrom(m), []inspect.NodeName(nil)
	for i := range m.Moves {
		if i == kept {
			b.keep(m)
		}
		b.cordon(closed, m.Moves[i].Closed)
		closed = m.Moves[i].Closed
		b.move(&m.Moves[i])
	}
	if kept == len(m.Moves) {
		b.keep(m)
	}
	b.cordon(closed, nil)
	b.settle(m)
	b.warn(m)
	m.Commands, m.Remarks = b.written()
}

// keptFrom is the index of the move before which the node of the target is tainted: no pod is to go there any
// more.
func keptFrom(m *explain.Moves) int {
	for i := len(m.Moves) - 1; i >= 0; i-- {
		if m.Moves[i].To == m.Target.Node {
			return i + 1
		}
	}
	return 0
}

// keep keeps the node for the target.
func (b *builder) keep(m *explain.Moves) {
	b.add(b.kubectl("taint", "node", b.name(string(m.Target.Node)), explain.RoomTaint+":"+string(corev1.TaintEffectNoSchedule)))
	if m.Subject.Kind != "Pod" {
		return
	}
	toleration := `{"key":"` + explain.RoomTaint + `","operator":"Exists","effect":"NoSchedule"}`
	patch := `[{"op":"add","path":"/spec/tolerations/-","value":` + toleration + `}]`
	if pod, ok := b.s.Pod(inspect.PodRef{Namespace: m.Subject.Namespace, Name: m.Subject.Name}); ok && len(pod.Spec.Tolerations) == 0 && len(b.asked.Files) == 0 {
		patch = `[{"op":"add","path":"/spec/tolerations","value":[` + toleration + `]}]`
	}
	b.add(b.kubectl("patch", "pod", b.name(m.Subject.Name), "-n", m.Subject.Namespace, "--type=json", "-p", patch))
}

// cordon closes the nodes that are to be closed now, and opens those that were.
func (b *builder) cordon(before, now []inspect.NodeName) {
	words := func(verb string, nodes, but []inspect.NodeName) {
		list := []string{verb}
		for _, node := range nodes {
			if !slices.Contains(but, node) {
				list = append(list, b.name(string(node)))
			}
		}
		if len(list) > 1 {
			b.add(b.kubectl(list...))
		}
	}
	words("cordon", now, before)
	words("uncordon", before, now)
}

// move ends a pod, and waits until the one in its place is on a node, but not for ever: the node is opened
// again in any case.
func (b *builder) move(m *explain.Move) {
	b.add(b.kubectl("delete", "pod", b.name(m.Pod.Name), "-n", m.Pod.Namespace))
	pod, ok := b.s.Pod(inspect.PodRef{Namespace: m.Pod.Namespace, Name: m.Pod.Name})
	if !ok {
		b.refused = true
		return
	}
	list := []string{"get", "pods", "-n", pod.Namespace, "--field-selector", "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed", "-o", "name"}
	lasting := b.lastingLabels(pod)
	if len(lasting) > 0 {
		list = append(list, "-l", lasting.String())
	}
	b.add(fmt.Sprintf("for i in $(seq 600); do [ $(%s | wc -l) -ge %d ] && break; sleep 1; done", b.kubectl(list...), b.placedLike(pod, lasting)))
}

// lastingLabels are the labels of a pod that the one in its place will have too, wherever it goes: those that
// admission copies from the node when a pod is bound are not among them.
func (b *builder) lastingLabels(pod *corev1.Pod) labels.Set {
	out := labels.Set{}
	node, known := b.s.Node(inspect.NodeName(pod.Spec.NodeName))
	for key, value := range pod.Labels {
		domain, _, _ := strings.Cut(key, "/")
		copied := domain == "topology.kubernetes.io" || domain == "topology.k8s.io"
		if known && !copied {
			of, has := node.Labels[key]
			copied = has && of == value
		}
		if !copied {
			out[key] = value
		}
	}
	return out
}

// placedLike is the number of pods on nodes, in the namespace of a pod, that have all of some labels.
func (b *builder) placedLike(pod *corev1.Pod, lasting labels.Set) int {
	n, like := 0, lasting.AsSelectorPreValidated()
	for _, other := range b.s.Objects().Pods {
		if other.Namespace == pod.Namespace && other.Spec.NodeName != "" && !inspect.Ended(other) && like.Matches(labels.Set(other.Labels)) {
			n++
		}
	}
	return n
}

// settle waits until the target has its place, and opens the node again.
func (b *builder) settle(m *explain.Moves) {
	if m.Subject.Kind == "Pod" {
		b.add(b.kubectl("wait", "pod/"+b.name(m.Subject.Name), "-n", m.Subject.Namespace, "--for=condition=PodScheduled", "--timeout=10m"))
	} else {
		b.add(b.kubectl("dra", "allocate", "claim", b.name(m.Subject.Name), "-n", m.Subject.Namespace, "--node", string(m.Target.Node), "--yes"))
	}
	b.add(b.kubectl("taint", "node", b.name(string(m.Target.Node)), explain.RoomTaint+":"+string(corev1.TaintEffectNoSchedule)+"-"))
}

// warn says what is lost, and what was supposed.
func (b *builder) warn(m *explain.Moves) {
	b.remark("Moved pods start anew: what they keep in memory, and in emptyDir and hostPath volumes, which are not read, does not move with them.")
	jobs, others := []string(nil), []string(nil)
	for i := range m.Moves {
		kind, _, _ := strings.Cut(m.Moves[i].Owner, " ")
		switch kind {
		case "ReplicaSet", "StatefulSet", "ReplicationController":
		case "Job":
			jobs = append(jobs, m.Moves[i].Owner)
		default:
			others = append(others, m.Moves[i].Owner)
		}
	}
	if len(jobs) > 0 {
		b.remark(fmt.Sprintf("To %s the end of a pod is a failure, of which it allows as many as its backoffLimit.", strings.Join(slices.Compact(jobs), ", ")))
	}
	if len(others) > 0 {
		b.remark(fmt.Sprintf("It is assumed that %s recreates a pod that is deleted.", strings.Join(slices.Compact(others), ", ")))
	}
	b.remark("kubectl delete does not heed PodDisruptionBudgets; kubectl get poddisruptionbudgets -A shows them.")
}
