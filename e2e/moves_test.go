package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// Each round has nodes, a driver and a class of its own, all called after the round.
const roundYAML = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: ROUND}
spec: {selectors: [{cel: {expression: device.driver == "ROUND.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: ROUND-1}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: ROUND}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: ROUND-2}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: ROUND, count: 2}}]}}}
---
`

// workloadYAML is a workload with one pod, which has COUNT devices.
var workloadYAML = map[string]string{
	"Deployment": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
` + movedTemplateYAML,
	"StatefulSet": `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: NAME}
spec:
  serviceName: none
  selector: {matchLabels: {app: NAME}}
` + movedTemplateYAML,
	"Job": `
apiVersion: batch/v1
kind: Job
metadata: {name: NAME}
spec:
` + strings.Replace(movedTemplateYAML, "spec:\n      resource", "spec:\n      restartPolicy: Never\n      resource", 1),
}

const movedTemplateYAML = `  template:
    metadata: {labels: {app: NAME, round: ROUND}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: ROUND-COUNT}]
      containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}]}}]
`

// roomYAML is what needs room: a claim, and for some rounds a pod that uses it.
const roomYAML = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: ROUND-target}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: ROUND, count: COUNT}}]}}
`

const roomPodYAML = `
apiVersion: v1
kind: Pod
metadata: {name: ROUND-target}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: ROUND-target}]
  containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: ROUND-target}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: ROUND, count: COUNT}}]}}}
`

// TestMovesMade runs the commands of "plan make-room" in a shell, among pods that kube-scheduler has spread
// over nodes. In the end what needed room must have it, and all pods their devices. KUBECTL_DRA_E2E_MOVES is
// the number of plans, 10 if it is not set.
func TestMovesMade(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{
		"resourceclaim-controller", "deployment-controller", "replicaset-controller", "statefulset-controller", "job-controller",
	}})
	startRunner(t, c, 0)
	want := 10
	if n, err := strconv.Atoi(os.Getenv("KUBECTL_DRA_E2E_MOVES")); err == nil {
		want = n
	}
	made, counts := 0, map[string]int{}
	for round := 0; made < want && round < 4*want; round++ {
		r := &room{c: c, name: fmt.Sprint("r", round), rand: rand.New(rand.NewPCG(17, uint64(round)))}
		r.fill(t)
		if kind := r.make(t); kind != "" {
			made++
			counts[kind]++
		}
		r.leave(t)
	}
	t.Logf("%d plans were made: %v", made, counts)
	if made < want {
		t.Errorf("only %d plans had moves, %d are wanted", made, want)
	}
}

// room is a round: a few nodes on which something is to find room.
type room struct {
	c    *cluster.Cluster
	name string
	rand *rand.Rand
	free int
	pods int
}

func (r *room) yaml(text string, replace ...string) string {
	return strings.NewReplacer(append([]string{"ROUND", r.name}, replace...)...).Replace(text)
}

// fill makes nodes, and pods one after the other until few devices are left.
func (r *room) fill(t *testing.T) {
	t.Helper()
	r.c.ApplyText(t, r.yaml(roundYAML))
	for n := range 2 + r.rand.IntN(3) {
		node, devices := fmt.Sprintf("%s-n%d", r.name, n), 2+r.rand.IntN(3)
		r.c.AddNode(t, node, nil)
		r.c.ApplyText(t, sliceYAML(r.name+".example.com", node, devices))
		r.free += devices
	}
	for most := 3 + r.rand.IntN(3); r.free > most || r.pods == 0; r.pods++ {
		count := 1 + r.rand.IntN(2)
		kind := []string{"Deployment", "Deployment", "StatefulSet", "StatefulSet", "Job"}[r.rand.IntN(5)]
		name := fmt.Sprintf("%s-w%d", r.name, r.pods)
		r.c.ApplyText(t, r.yaml(workloadYAML[kind], "NAME", name, "COUNT", fmt.Sprint(count)))
		r.free -= count
		if !r.settled(t, r.pods+1, cluster.DecidingTime) { // no node has so many
			r.remove(t, kind, name)
			break
		}
	}
}

// settled waits until so many pods of the round are on nodes, and no others are there. With a limit it gives
// up when the scheduler has refused one for so long.
func (r *room) settled(t *testing.T, want int, limit time.Duration) bool {
	t.Helper()
	var since time.Time
	ok := true
	cluster.Eventually(t, func(ctx context.Context) error {
		on, all, err := r.placed(ctx)
		if err != nil || on == want && all == want {
			return err
		}
		if limit > 0 && r.refused(ctx) {
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > limit {
				ok = false
				return nil
			}
		}
		return fmt.Errorf("%d of %d pods of round %s are on nodes, %d wanted", on, all, r.name, want)
	})
	return ok
}

func (r *room) list(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := r.c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "round=" + r.name})
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}

func (r *room) placed(ctx context.Context) (on, all int, err error) {
	pods, err := r.list(ctx)
	for i := range pods {
		if pods[i].DeletionTimestamp == nil && pods[i].Spec.NodeName != "" {
			on++
		}
	}
	return on, len(pods), err
}

// refused reports whether the scheduler has refused a pod for its claims.
func (r *room) refused(ctx context.Context) bool {
	pods, err := r.list(ctx)
	return err == nil && slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Spec.NodeName == "" && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return cluster.Unplaced(c, "") })
	})
}

// remove takes away a workload that has no room, and its pods. There is no collector of garbage, so the
// ReplicaSet of a Deployment has to go too, or it would make the pod again.
func (r *room) remove(t *testing.T, kind, name string) {
	t.Helper()
	runInShell(t, r.c, "kubectl delete "+strings.ToLower(kind)+" "+name+" --cascade=background")
	cluster.Eventually(t, func(ctx context.Context) error { // a controller may have made one more
		now, its := metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}, metav1.ListOptions{LabelSelector: "app=" + name}
		if err := r.c.Client().AppsV1().ReplicaSets("default").DeleteCollection(ctx, now, its); err != nil {
			return err
		}
		if err := r.c.Client().CoreV1().Pods("default").DeleteCollection(ctx, now, its); err != nil {
			return err
		}
		all, err := r.list(ctx)
		if err == nil && len(all) != r.pods {
			err = fmt.Errorf("there are %d pods of round %s and %s, want %d", len(all), r.name, name, r.pods)
		}
		return err
	})
}

type movesAnswer struct {
	Verdict  string
	Moves    []struct{ Pod, From, To string }
	Commands []string
	Minimum  struct{ Proven bool }
}

// make asks for room for something that has none, and makes it. It returns what kind of question that was, or
// "" if nothing needs room that could be made.
func (r *room) make(t *testing.T) string {
	t.Helper()
	kind := []string{"pod", "file", "claim"}[r.rand.IntN(3)]
	for count := 2; count <= 4; count++ {
		text := r.yaml(roomPodYAML, "COUNT", fmt.Sprint(count))
		if kind == "claim" {
			text = r.yaml(roomYAML, "COUNT", fmt.Sprint(count))
		}
		file := filepath.Join(t.TempDir(), "room.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		answer := r.ask(t, "-f", file)
		if answer.Verdict != "Feasible" || len(answer.Moves) == 0 {
			continue
		}
		if kind != "file" {
			r.c.ApplyText(t, text)
			if kind == "pod" {
				podBeginningWith(t, r.c, r.name+"-target", true)
			}
			again := r.ask(t, kind+"/"+r.name+"-target")
			if again.Verdict != "Feasible" || len(again.Moves) != len(answer.Moves) {
				t.Errorf("%s: %+v in a file, and %+v in the cluster", r.name, answer, again)
			}
			answer = again
		}
		for _, command := range answer.Commands {
			runInShell(t, r.c, command)
		}
		r.check(t, kind, answer)
		return fmt.Sprintf("%s, %d moves", kind, len(answer.Moves))
	}
	return ""
}

func (r *room) ask(t *testing.T, what ...string) movesAnswer {
	t.Helper()
	var answer movesAnswer
	result := r.c.Plugin(t, cluster.Admin, append(append([]string{"plan", "make-room"}, what...), "-o", "json")...)
	result.JSON(t, &answer)
	if answer.Verdict == "Feasible" && !answer.Minimum.Proven {
		t.Errorf("the minimum is not proven: %v", result)
	}
	return answer
}

// check holds what has become of the cluster against the plan.
func (r *room) check(t *testing.T, kind string, answer movesAnswer) {
	t.Helper()
	r.settled(t, r.pods, 0)
	claim := r.name + "-target"
	ctx := t.Context()
	if kind != "claim" {
		pod, err := r.c.Client().CoreV1().Pods("default").Get(ctx, claim, metav1.GetOptions{})
		if err != nil || pod.Spec.NodeName == "" {
			t.Fatalf("%s: the pod has no node: %v\n%+v", r.name, err, answer)
		}
		claim = *pod.Status.ResourceClaimStatuses[0].ResourceClaimName
	}
	if got := r.c.Claim(t, "default", claim); got.Status.Allocation == nil {
		t.Errorf("%s: claim %s is not allocated\n%+v", r.name, claim, answer)
	}
	nodes, err := r.c.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		if n := &nodes.Items[i]; n.Spec.Unschedulable || slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return strings.Contains(taint.Key, "kubectl-dra") }) {
			t.Errorf("%s: node %s is still closed", r.name, n.Name)
		}
	}
}

// leave takes the nodes of the round away, so that later rounds are about their own.
func (r *room) leave(t *testing.T) {
	t.Helper()
	for n := range 4 {
		_ = r.c.Client().CoreV1().Nodes().Delete(t.Context(), fmt.Sprintf("%s-n%d", r.name, n), metav1.DeleteOptions{})
	}
}
