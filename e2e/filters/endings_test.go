package filters

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

var endings = flag.Int("endings", 0, "how many random clusters TestEndings plays; 0 means a sample")

// TestEndings lets kube-scheduler place all pods that wait in random clusters, ending others for them, whose
// controllers make new ones, until nothing happens any more. Pods need from no time to a minute to end, and
// to become ready, and the disruption controller counts those of budgets. It compares who was ended and where
// all are with what a plan has said.
func TestEndings(t *testing.T) {
	clusters := effort.Of(1500, 30)
	if *endings > 0 {
		clusters = *endings
	}
	counts := map[string]int{}
	for i := range uint64(clusters) { //nolint:gosec // it is not negative
		r := rand.New(rand.NewPCG(*seed+5, i))
		if wrong := compareEndings(t, r, generateEndings(r), counts); wrong != "" {
			t.Errorf("cluster %d: %s", i, wrong)
			return
		}
	}
	for _, kind := range sorted(counts) {
		t.Logf("%5d %s", counts[kind], kind)
	}
	for kind, least := range map[string]int{endsSome + ", certain": clusters / 10, endsSome + " in turn": clusters / 1000, "placed again": clusters / 150, "left waiting again": clusters / 50, "ended, of a budget": clusters / 10} {
		if counts[kind] < least {
			t.Errorf("too little was tried of %q: %d", kind, counts[kind])
		}
	}
}

const endsSome = "pods are ended"

// generateEndings makes a cluster that is full of less important pods.
func generateEndings(r *rand.Rand) *problem {
	p := generatePlayed(r)
	for _, pod := range p.asked {
		if r.IntN(4) > 0 {
			pod.Spec.PreemptionPolicy = nil
		}
	}
	for range r.IntN(5) { // of which budgets are for most
		name := fmt.Sprint("running-", len(p.objects.Pods))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
		pod.Spec.NodeName = p.objects.Nodes[r.IntN(len(p.objects.Nodes))].Name
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app"}}
		p.objects.Pods = append(p.objects.Pods, pod)
	}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "some", UID: "some"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32)}}
	for i, pod := range p.objects.Pods {
		pod.Status.StartTime = &metav1.Time{Time: beforeNow.Add(-time.Duration(i) * time.Minute)}
		switch r.IntN(8) {
		case 0:
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "some", UID: "job", Controller: new(true)}}
		case 1, 2, 3:
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "some", UID: "some", Controller: new(true)}}
			*set.Spec.Replicas++
		}
	}
	p.controllers.replicaSets = []*appsv1.ReplicaSet{set}
	crowd(r, p)
	if r.IntN(4) > 0 {
		p.objects.Budgets = playedBudgets(r)
	}
	for _, pod := range p.objects.Pods {
		pod.Spec.Priority = new(int32(r.IntN(5) * 10))
		if r.IntN(8) > 0 {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
		}
	}
	for i, pod := range p.asked {
		pod.CreationTimestamp = metav1.NewTime(someTime.Add(time.Duration(i) * time.Second))
		if r.IntN(3) == 0 {
			pod.Labels = map[string]string{"budget": fmt.Sprint(r.IntN(3))}
		}
	}
	return p
}

// playedBudgets are some for the pods that crowd labels, of which two may be for one pod. Nobody has counted
// theirs.
func playedBudgets(r *rand.Rand) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for i, values := range [][]string{{"0"}, {"1"}, {"2"}, {"0", "2"}} {
		if r.IntN(3) == 0 || i == 3 && r.IntN(3) > 0 {
			continue
		}
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint(i), Generation: 1}}
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: metav1.LabelSelectorOpIn, Values: values}}}
		few := intstr.FromInt(r.IntN(3))
		switch r.IntN(4) {
		case 0:
			b.Spec.MaxUnavailable = &few
		case 1:
			b.Spec.MaxUnavailable = new(intstr.FromString("50%"))
		case 2:
			b.Spec.MinAvailable = new(intstr.FromString("40%"))
		default:
			b.Spec.MinAvailable = &few
		}
		out = append(out, b)
	}
	return out
}

// compareEndings plays a cluster, and says what was said otherwise.
func compareEndings(t *testing.T, r *rand.Rand, generated *problem, counts map[string]int) string {
	t.Helper()
	p, err := generated.admitted()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.objects.Budgets) > 0 {
		p.objects.Budgets = countedBudgets(t, append(seen(&p.objects), p.controllers.objects()...))
	}
	s := p.snapshot()
	waiting, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true })
	by := replay.Choosing{Images: scores.ImagesOf(s.Nodes()), Workloads: &inspect.Selecting{}}
	said, err := plan.Place(t.Context(), sched.NewCluster(s, sched.Options{}), waiting, plan.Options{Choosing: by})
	if err != nil {
		t.Fatal(err)
	}
	countEndings(&said.Replay, counts)
	for _, e := range said.Replay.Preempted {
		if pod, ok := s.Pod(inspect.PodRef{Namespace: e.Subject.Namespace, Name: e.Subject.Name}); ok && len(preemption.NewEvictions(s).Of(pod)) > 0 {
			counts["ended, of a budget"]++
		}
	}
	rest := p.objects
	rest.Pods = slices.DeleteFunc(slices.Clone(rest.Pods), func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
	outcomes := map[string]bool{}
	for run, longest := range [][]time.Duration{{0}, {time.Minute}, {0, 2 * time.Second, time.Minute}} {
		life := &lives{Rand: r, longest: longest, ended: map[string]int{}, owners: p.controllers.objects()}
		nodes := kubePlay(t, &rest, inTurn(r, p.asked), life.in)
		if wrong := wrongEndings(&said.Replay, nodes, life.ended, p.asked); wrong != "" {
			return fmt.Sprintf("run %d: %s; placed are %v, ended %v\nplan: %+v\n%s", run, wrong, nodes, life.ended, said.Replay, p.manifest())
		}
		outcomes[fmt.Sprint(nodes, life.ended)] = true
	}
	if kind := unknownKind(&said.Replay); len(outcomes) == 1 && kind != "" {
		counts[kind+", and all runs alike"]++
	}
	return ""
}

func countEndings(r *explain.Replay, counts map[string]int) {
	for _, kind := range []string{"clusters", endsSome} {
		if len(r.Preempted) == 0 && !r.Preempting && kind == endsSome {
			return
		}
		counts[kind]++
		if r.Certain {
			counts[kind+", certain"]++
		}
	}
	if kind := unknownKind(r); kind != "" {
		counts[kind]++
	}
	for i := range r.Preempted {
		g := &r.Preempted[i]
		switch {
		case g.Again != nil:
			counts["placed again"]++
		case g.Pending != nil:
			counts["left waiting again"]++
		}
		if strings.Contains(g.Cause, "/running-") {
			counts[endsSome+" in turn"]++
		}
	}
}

// unknownKind is why it is not known how a cluster ends, without names, or nothing.
func unknownKind(r *explain.Replay) string {
	if r.Certain {
		return ""
	}
	remark := strings.Join(r.Remarks[:min(1, len(r.Remarks))], "")
	for _, name := range []string{"default/", "production/", "staging/", "asked-", "running-"} {
		for strings.Contains(remark, name) {
			before, after, _ := strings.Cut(remark, name)
			remark = before + strings.TrimLeft(after, "0123456789")
		}
	}
	return "not certain: " + remark
}

// wrongEndings says what was not true, or nothing.
func wrongEndings(r *explain.Replay, nodes map[string]string, ended map[string]int, asked []*corev1.Pod) string {
	for i := range r.Pending {
		if p := &r.Pending[i]; p.Verdict != explain.Unknown && nodes[p.Subject.FullName()] != "" {
			return fmt.Sprintf("%s was to be left waiting (%s)", p.Subject.FullName(), p.Verdict)
		}
	}
	if !r.Certain {
		return ""
	}
	said := map[string]int{}
	for i := range r.Preempted {
		g := &r.Preempted[i]
		said[g.Subject.FullName()]++
		where := nodes[g.Subject.FullName()+again]
		if g.Again != nil && (where == "" || g.Again.AnyOf == 1 && where != string(g.Again.Node)) || g.Again == nil && where != "" {
			return fmt.Sprintf("%s was to come back %s, and is on %q", g.Subject.FullName(), g.Then, where)
		}
	}
	if !maps.Equal(said, ended) {
		return fmt.Sprintf("%v were to be ended", said)
	}
	placed := 0
	for i := range r.Placed {
		p := &r.Placed[i]
		if where := nodes[p.Subject.FullName()]; where == "" || p.AnyOf == 1 && where != string(p.Node) {
			return fmt.Sprintf("%s was to be placed on %s, and is on %q", p.Subject.FullName(), p.Node, where)
		}
	}
	for _, pod := range asked {
		if nodes[pod.Namespace+"/"+pod.Name] != "" {
			placed++
		}
	}
	if placed != len(r.Placed) {
		return fmt.Sprintf("%d were to be placed", len(r.Placed))
	}
	return ""
}

// again follows the name of a pod in that of the one that is made in its place.
const again = "-again"

// lives makes pods ready and ends them once they are deleted, as a kubelet does, makes others in their place
// and releases their claims as controllers do. Budgets are counted by their own controller.
type lives struct {
	*rand.Rand
	longest []time.Duration  // that a pod needs to end or to become ready, one of these
	owners  []runtime.Object // of pods
	ended   map[string]int   // how often pods were ended for others, by namespace and name
}

func (l *lives) in(ctx context.Context, client *fake.Clientset) {
	for _, o := range l.owners {
		_ = client.Tracker().Add(o)
	}
	controlDisruption(ctx, client)
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() == "binding" {
			binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding) //nolint:forcetypeassert // the only body of a binding
			soon := l.soon()
			go func() {
				time.Sleep(soon + time.Millisecond)
				ready := []byte(`{"status":{"phase":"Running","startTime":"` + time.Now().UTC().Format(time.RFC3339) + `","conditions":[{"type":"Ready","status":"True"}]}}`)
				_, _ = client.CoreV1().Pods(binding.Namespace).Patch(ctx, binding.Name, types.StrategicMergePatchType, ready, metav1.PatchOptions{}, "status")
			}()
		}
		return false, nil, nil
	})
	client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		name := action.(clienttesting.DeleteAction).GetName() //nolint:forcetypeassert // it is one
		found, err := client.Tracker().Get(action.GetResource(), action.GetNamespace(), name)
		if err != nil {
			return true, nil, err
		}
		pod := found.(*corev1.Pod).DeepCopy() //nolint:forcetypeassert // it is under that name
		if pod.DeletionTimestamp != nil {
			return true, nil, nil
		}
		l.ended[pod.Namespace+"/"+pod.Name]++
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		renew(pod)
		if err := client.Tracker().Update(action.GetResource(), pod, pod.Namespace); err != nil {
			return true, nil, err
		}
		if metav1.GetControllerOf(pod) != nil {
			if err := l.replace(client, pod); err != nil {
				return true, nil, err
			}
		}
		grace := l.soon()
		go func() {
			time.Sleep(grace)
			if err := client.Tracker().Delete(action.GetResource(), pod.Namespace, pod.Name); err == nil {
				release(client, pod)
			}
		}()
		return true, nil, nil
	})
}

// soon is how long something takes.
func (l *lives) soon() time.Duration {
	return time.Duration(l.Int64N(int64(l.longest[l.IntN(len(l.longest))]) + 1))
}

var claimsResource = resourcev1.SchemeGroupVersion.WithResource("resourceclaims")

// replace makes a pod in the place of another one, with its claims.
func (l *lives) replace(client *fake.Clientset, pod *corev1.Pod) error {
	next := pod.DeepCopy()
	next.Name, next.UID, next.DeletionTimestamp, next.ResourceVersion = pod.Name+again, pod.UID+again, nil, ""
	next.Spec.NodeName, next.Status = "", corev1.PodStatus{}
	for _, entry := range pod.Status.ResourceClaimStatuses {
		found, err := client.Tracker().Get(claimsResource, pod.Namespace, *entry.ResourceClaimName)
		if err != nil {
			return err
		}
		claim := found.(*resourcev1.ResourceClaim).DeepCopy() //nolint:forcetypeassert // it is under that name
		claim.Name, claim.UID, claim.Status = claim.Name+again, claim.UID+again, resourcev1.ResourceClaimStatus{}
		claim.OwnerReferences[0].Name, claim.OwnerReferences[0].UID = next.Name, next.UID
		renew(claim)
		if err := client.Tracker().Create(claimsResource, claim, claim.Namespace); err != nil {
			return err
		}
		entry.ResourceClaimName = &claim.Name
		next.Status.ResourceClaimStatuses = append(next.Status.ResourceClaimStatuses, entry)
	}
	renew(next)
	return client.Tracker().Create(corev1.SchemeGroupVersion.WithResource("pods"), next, next.Namespace)
}

// release takes a pod that has ended out of the claims that it used.
func release(client *fake.Clientset, pod *corev1.Pod) {
	list, err := client.Tracker().List(claimsResource, resourcev1.SchemeGroupVersion.WithKind("ResourceClaim"), pod.Namespace)
	if err != nil {
		return
	}
	claims := list.(*resourcev1.ResourceClaimList) //nolint:forcetypeassert // it is of that kind
	for i := range claims.Items {
		claim := claims.Items[i].DeepCopy()
		if metav1.IsControlledBy(claim, pod) {
			_ = client.Tracker().Delete(claimsResource, claim.Namespace, claim.Name)
			continue
		}
		before := len(claim.Status.ReservedFor)
		claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID })
		if len(claim.Status.ReservedFor) == before {
			continue
		}
		if len(claim.Status.ReservedFor) == 0 {
			claim.Status = resourcev1.ResourceClaimStatus{}
		}
		renew(claim)
		_ = client.Tracker().Update(claimsResource, claim, claim.Namespace)
	}
}
