package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// askedPods are the pods that a plan is about.
type askedPods struct {
	snapshot *inspect.Snapshot
	pods     []*corev1.Pod
	// asked are the same, by the object that they are for.
	asked []admission.Asked
	// unseen says of pods that they may ask for more than is known, and remarks what was supposed of them, a
	// sentence each.
	unseen, remarks []string
	// queued says of pods that a queue has to let them go first, for plans that do not decide that.
	queued []string
}

// add adds the pods that a subject stands for.
func (a *askedPods) add(subject metav1.Object, copies int) {
	pods := podsOf(a.snapshot, subject, copies)
	a.pods, a.asked = append(a.pods, pods...), append(a.asked, admission.Asked{Object: subject, Pods: pods})
	switch subject := subject.(type) {
	case *inspect.Workload:
		if subject.Queue != "" {
			a.queued = append(a.queued, question.InQueue(subject))
		}
		if subject.Unseen {
			a.unseen = append(a.unseen, fmt.Sprintf("the controller of %s %s makes its pods; only their claims and where they may run are known from here", subject.Type.Kind, subject.Name))
		}
	case *resourcev1.ResourceClaimTemplate:
		a.remarks = append(a.remarks, fmt.Sprintf("the pods for template %s are assumed to ask for nothing but a claim from it: no CPU, no memory, no certain nodes", subject.Name))
	}
}

// others are all pods that wait.
func (a *askedPods) others() []*corev1.Pod {
	out, _ := plan.Waiting(a.snapshot, func(*corev1.Pod) bool { return true })
	return out
}

// waiting are the pods that wait.
func (o *planOptions) waiting(ctx context.Context) (*askedPods, error) {
	resources := live.PodResources()
	if o.Queues {
		resources = append(resources, live.KueueResources()...)
	}
	snapshot, err := o.Reader.Read(ctx, o.only, resources)
	if err != nil {
		return nil, err
	}
	pods, others := plan.Waiting(snapshot, func(pod *corev1.Pod) bool { return o.asks(pod.Namespace, pod.Labels) })
	if err := o.Reader.CheckNamespace(ctx, snapshot); err != nil {
		return nil, err
	}
	if snapshot.Health(inspect.Pods).State == inspect.NotRead {
		return nil, errNoPods
	}
	if len(others) > 0 {
		o.Note("pods that wait for other schedulers were left out: %d", len(others))
	}
	if o.narrow.Labels != nil && len(pods) == 0 {
		return nil, fmt.Errorf("no pod that waits has the labels %s", o.narrow.Labels)
	}
	a := &askedPods{snapshot: snapshot, pods: pods}
	for _, pod := range pods {
		a.asked = append(a.asked, admission.Asked{Object: pod, Pods: []*corev1.Pod{pod}})
	}
	return a, nil
}

// asks reports whether what waits in a namespace, with labels, is asked about.
func (o *planOptions) asks(namespace string, marks map[string]string) bool {
	return (o.only == "" || namespace == o.only) && (o.narrow.Labels == nil || o.narrow.Labels.Matches(labels.Set(marks)))
}

// workload reports whether pods of a workload are asked about that are not there.
func (o *planOptions) workload(w *kueuev1beta2.Workload) bool {
	return o.pending && slices.ContainsFunc(w.Spec.PodSets, func(set kueuev1beta2.PodSet) bool { return o.asks(w.Namespace, set.Template.Labels) })
}

// errNoPods is for files that have no pods, which are not a cluster without any.
var errNoPods = errors.New("no pods were read")

// usedBy reports whether a subject that is a template or a claim is there for the pods among the subjects.
func (o *planOptions) usedBy(subjects []metav1.Object, subject metav1.Object) bool {
	template, ok := subject.(*resourcev1.ResourceClaimTemplate)
	if !ok || len(o.Files) == 0 {
		return false
	}
	for _, other := range subjects {
		pod := podIn(other)
		if pod == nil || pod.Namespace != template.Namespace {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			if name := pod.Spec.ResourceClaims[i].ResourceClaimTemplateName; name != nil && *name == template.Name {
				return true
			}
		}
	}
	return false
}

// podIn is the pod that a subject is, or that it makes. It is nil if it does neither.
func podIn(subject metav1.Object) *corev1.Pod {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return subject
	case *inspect.Workload:
		return subject.Pod
	}
	return nil
}

// podsOf are the pods that a subject stands for.
func podsOf(s *inspect.Snapshot, subject metav1.Object, copies int) []*corev1.Pod {
	switch subject := subject.(type) {
	case *corev1.Pod:
		if copies == 0 {
			return []*corev1.Pod{subject}
		}
		return copiesOf(subject, copies)
	case *inspect.Workload:
		pod := subject.Pod
		none := subject.Replicas != nil && *subject.Replicas == 0
		switch {
		case copies > 0 && none: // which replaces what holds it
			free := *pod
			free.Spec.SchedulingGates = nil
			pod = &free
		case copies > 0:
		case none:
			copies = 1 // which stands for those that are not made
		case subject.EachNode:
			return onEachNode(s, subject.Pod)
		case subject.Replicas != nil:
			copies = int(min(*subject.Replicas, maxPlanned+1))
		default:
			copies = 1
		}
		return copiesOf(pod, copies)
	case *resourcev1.ResourceClaimTemplate:
		return copiesOf(podFor(subject), max(copies, 1))
	}
	return nil
}

// copiesOf are new pods like another, numbered from 0.
func copiesOf(pod *corev1.Pod, n int) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, max(n, 0))
	for i := range n {
		out = append(out, likePod(pod, fmt.Sprintf("%s-%d", pod.Name, i)))
	}
	return out
}

// likePod is a new pod like another, which is on no node and has no claims yet.
func likePod(pod *corev1.Pod, name string) *corev1.Pod {
	out := *pod
	out.Name, out.UID, out.CreationTimestamp = name, types.UID("planned-"+pod.Namespace+"-"+name), metav1.Time{}
	out.Spec.NodeName, out.Status = "", corev1.PodStatus{}
	return &out
}

// onEachNode are the pods of a daemon set, which pins each to its node.
func onEachNode(s *inspect.Snapshot, pod *corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, node := range s.Nodes() {
		own := likePod(pod, pod.Name+"-"+node.Name).DeepCopy()
		if own.Spec.Affinity == nil {
			own.Spec.Affinity = &corev1.Affinity{}
		}
		own.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node.Name}},
			}}},
		}}
		out = append(out, own)
	}
	return out
}

// podFor is a pod that asks for nothing but a claim from a template.
func podFor(template *resourcev1.ResourceClaimTemplate) *corev1.Pod {
	const name = "claim"
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: template.Namespace, Name: template.Name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: name}}}}},
			ResourceClaims: []corev1.PodResourceClaim{
				{Name: name, ResourceClaimTemplateName: ptr.To(template.Name)},
			},
		},
	}
}
