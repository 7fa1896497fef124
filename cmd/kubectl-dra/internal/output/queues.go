package output

import (
	"cmp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// QueueItem is an item of a QueueList: a ClusterQueue or a LocalQueue of Kueue.
type QueueItem struct {
	Listed
	explain.QueueState
	Age string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
	// WaitingCount is how many workloads wait, and AdmittedCount how many hold quota.
	WaitingCount  int `json:"waitingCount"`
	AdmittedCount int `json:"admittedCount"`
}

// Resource is what the queue is to kubectl.
func (q *QueueItem) Resource() string { return strings.ToLower(q.Kind) + ".kueue.x-k8s.io" }

// OfKind is a list of the queues of one kind.
func OfKind(kind string) func(s *inspect.Snapshot, namespace string) *List {
	return func(s *inspect.Snapshot, namespace string) *List {
		list := Queues(s, namespace)
		list.Table.Namespaced = kind == "LocalQueue"
		list.Keep(func(item Item) bool { return item.(*QueueItem).Kind == kind })
		return list
	}
}

// Queues lists the ClusterQueues of a snapshot, and the LocalQueues of a namespace, or of all for "".
func Queues(s *inspect.Snapshot, namespace string) *List {
	list := NewList("QueueList", "queue.kueue.x-k8s.io", queueTable)
	q := admission.NewQueues(s)
	add := func(o metav1.Object, state *explain.QueueState) {
		item := &QueueItem{QueueState: *state, Age: age(created(o), s.Time()), Created: Timestamp(created(o)), WaitingCount: len(state.Waiting), AdmittedCount: len(admission.Workloads(state.Holders))}
		item.Listed = Listed{Meta{Namespace: o.GetNamespace(), Name: o.GetName(), Labels: o.GetLabels(), Created: created(o)}}
		list.Items = append(list.Items, item)
	}
	for _, queue := range s.Around().ClusterQueues {
		add(queue, q.ClusterQueue(queue))
	}
	for _, queue := range s.Around().LocalQueues {
		if namespace == "" || queue.Namespace == namespace {
			add(queue, q.LocalQueue(queue))
		}
	}
	return list
}

func created(o metav1.Object) metav1.Time { return o.GetCreationTimestamp() }

var queueTable = Table{
	Namespaced: true,
	Columns: []Column{
		{Header: "NAME"}, {Header: "KIND", Rank: 4}, {Header: "COHORT", Rank: 5}, {Header: "WAITING"}, {Header: "ADMITTED", Rank: 3},
		{Header: "USED", Cut: CutText, Least: 24, Rank: 1}, {Header: "AGE", Rank: 2}, {Header: "BORROWED", Wide: true}, {Header: "LENT", Wide: true}, {Header: "STATE", Wide: true},
	},
	Row: func(item Item) []string {
		q := item.(*QueueItem)
		return []string{
			q.Meta().Name, q.Kind, OrNone(q.Cohort), strconv.Itoa(q.WaitingCount), strconv.Itoa(q.AdmittedCount),
			quotaText(q.Quotas, usedOfNominal), q.Age,
			quotaText(q.Quotas, borrowed), quotaText(q.Quotas, lent), cmp.Or(q.Inactive, "Active"),
		}
	},
}

// quotaColumns are the columns of usage by queue that are about quota.
var quotaColumns = []struct {
	Column
	of func(*explain.Quota) string
}{
	{Column{Header: "QUOTA", Cut: CutText, Least: 16, Rank: 5}, usedOfNominal}, {Column{Header: "BORROWED", Rank: 6}, borrowed}, {Column{Header: "LENT", Rank: 7}, lent},
}

func usedOfNominal(q *explain.Quota) string { return q.Used + "/" + q.Nominal }
func borrowed(q *explain.Quota) string      { return q.Borrowed }
func lent(q *explain.Quota) string          { return q.Lent }

// quotaText says the same of each quota, without those of which there is nothing.
func quotaText(quotas []explain.Quota, of func(*explain.Quota) string) string {
	var parts []string
	for i := range quotas {
		if text := of(&quotas[i]); text != "0" {
			parts = append(parts, text+" "+quotas[i].Resource)
		}
	}
	return OrNone(strings.Join(parts, ", "))
}

// Workload is an item of a WorkloadList: a workload of Kueue.
type Workload struct {
	Listed
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// For is what Kueue made it for, as Job/train.
	For          string `json:"for,omitempty"`
	Queue        string `json:"queue"`
	ClusterQueue string `json:"clusterQueue,omitempty"`
	Priority     int32  `json:"priority"`
	Pods         int32  `json:"pods"`
	// State is Pending, Reserved, Admitted, Evicting or Finished, as Kueue says it is.
	State string `json:"state"`
	// Outcome is what Kueue does about it, and Reason why it does not go; empty if it does.
	Outcome string `json:"outcome" enum:"kueue.Outcome"`
	Reason  string `json:"reason"`
	Age     string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// KueueWorkloads lists the workloads of a namespace, or of all for "".
func KueueWorkloads(s *inspect.Snapshot, namespace string) *List {
	list := NewList("WorkloadList", "workload.kueue.x-k8s.io", workloadTable)
	q := admission.NewQueues(s)
	for _, w := range s.Around().KueueWorkloads {
		if namespace != "" && w.Namespace != namespace {
			continue
		}
		item := &Workload{
			Namespace: w.Namespace, Name: w.Name, Queue: string(w.Spec.QueueName), State: stateOf(w), Age: age(created(w), s.Time()), Created: Timestamp(created(w)),
			Listed: Listed{Meta{Namespace: w.Namespace, Name: w.Name, Labels: w.Labels, Created: created(w)}},
		}
		if of := target.Owner(w); of != nil {
			item.For = of.Kind + "/" + of.Name
		}
		if w.Spec.Priority != nil {
			item.Priority = *w.Spec.Priority
		}
		for i := range w.Spec.PodSets {
			item.Pods += w.Spec.PodSets[i].Count
		}
		d := q.Decide(w)
		if item.ClusterQueue, item.Outcome = d.ClusterQueue, string(d.Outcome); len(d.Reasons) > 0 {
			item.Reason = d.Reasons[0].Message
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// stateOf is how far a workload has come.
func stateOf(w *kueuev1beta2.Workload) string {
	is := func(kind string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, kind) }
	switch {
	case is(kueuev1beta2.WorkloadFinished):
		return "Finished"
	case w.Status.Admission == nil || !is(kueuev1beta2.WorkloadQuotaReserved):
		return "Pending"
	case is(kueuev1beta2.WorkloadEvicted):
		return "Evicting"
	case is(kueuev1beta2.WorkloadAdmitted):
		return "Admitted"
	}
	return "Reserved"
}

var workloadTable = Table{
	Namespaced: true,
	Columns: []Column{
		{Header: "NAME", Spill: true}, {Header: "FOR", Rank: 4}, {Header: "QUEUE"}, {Header: "STATE"}, {Header: "PODS", Rank: 5}, {Header: "PRIORITY", Wide: true}, {Header: "AGE", Rank: 3},
		{Header: "REASON", Cut: CutText, Least: 24, Rank: 1},
	},
	Row: func(item Item) []string {
		w := item.(*Workload)
		return []string{w.Name, OrNone(w.For), OrNone(w.Queue), w.State, strconv.Itoa(int(w.Pods)), strconv.Itoa(int(w.Priority)), w.Age, OrNone(w.Reason)}
	},
}
