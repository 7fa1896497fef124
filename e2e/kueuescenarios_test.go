package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// queueScenario is one of testdata/queues. In its text ~ stands for its name and a dash: with it begins what
// belongs to the whole cluster.
type queueScenario struct {
	Name string
	// Nodes have devices g0, g1 and so on, and are of the flavor f, unless they say otherwise.
	Nodes map[string]struct {
		GPUs   int
		Flavor string
		CPU    *resource.Quantity
		Taints []corev1.Taint
		Broken int // how many of the devices are tainted
	}
	// Flavors are specs of ResourceFlavors; nodeLabels are made. The flavor f need not be given.
	Flavors map[string]map[string]any
	// Queues are specs of ClusterQueues, with a LocalQueue each. Their field quota is turned into a resource
	// group; gpu is example.com/gpu.
	Queues  map[string]map[string]any
	Objects string // further ones
	Jobs    []queuedJob
}

// queuedJob is a Job for a queue. The product is asked about those with Want, which is the outcome and the
// code of the first reason.
type queuedJob struct {
	Name, Queue, Priority string
	CPU                   *resource.Quantity
	Pods, GPUs            int
	Class, Template       string // of its claim; the template may be one of the objects
	Annotations           map[string]string
	Pod                   map[string]any // further fields of its pods
	Want                  string
	Hangs                 bool   // once it is admitted
	Fix                   string // the kind of the fix that is carried out
}

const queueNamespaceYAML = `
apiVersion: v1
kind: Namespace
metadata: {name: NAME, labels: {resource.kubernetes.io/admin-access: "true"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: canary, namespace: NAME}
spec: {clusterQueue: canary}
`

const allQueuesYAML = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
description: high
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: low}
value: -100
description: low
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: canary}
spec: {nodeLabels: {flavor: canary}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: canary}
spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: canary, resources: [{name: cpu, nominalQuota: 1000}]}]}]}
`

// queueTally counts what was asked and seen.
type queueTally struct {
	sync.Mutex
	scenarios, fixed int
	seen             map[string]int
}

func (q *queueTally) add(what string) {
	q.Lock()
	defer q.Unlock()
	q.seen[what]++
}

// TestKueueManager asks about Jobs in the queues of Kueue's own manager before they are created, and again
// while they wait: what becomes of them must be what was said, down to the pods' nodes. The commands of fixes
// are run, and then the Job is admitted and its pods find the nodes that were named.
func TestKueueManager(t *testing.T) {
	if !effort.Full() {
		t.Skip("building Kueue's manager takes minutes: make kueue-manager does it, and the full run")
	}
	t.Parallel()
	files, err := filepath.Glob("testdata/queues/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	c := startKueue(t)
	c.AddNode(t, "canary", map[string]string{"flavor": "canary"})
	c.ApplyText(t, allQueuesYAML)
	client, err := dynamic.NewForConfig(c.Config(cluster.Admin))
	if err != nil {
		t.Fatal(err)
	}
	tally := &queueTally{seen: map[string]int{}}
	t.Run("scenarios", func(t *testing.T) {
		for _, file := range files {
			for _, s := range readQueueScenarios(t, file) {
				tally.scenarios++
				t.Run(s.Name, func(t *testing.T) {
					t.Parallel()
					(&queueScene{Cluster: c, client: client, tally: tally, queueScenario: s}).play(t)
				})
			}
		}
	})
	for _, what := range slices.Sorted(maps.Keys(tally.seen)) {
		t.Logf("%4d %s", tally.seen[what], what)
	}
	t.Logf("%d scenarios, %d fixes carried out", tally.scenarios, tally.fixed)
	if tally.scenarios < 60 || tally.fixed < 20 && !t.Failed() {
		t.Errorf("there are to be 60 scenarios, and 20 fixes")
	}
}

func readQueueScenarios(t *testing.T, file string) []queueScenario {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []queueScenario
	for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var name struct{ Name string }
		if err := yaml.Unmarshal(document, &name); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var s queueScenario
		decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(named(name.Name, string(document))), 4096)
		if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %s: %v", file, name.Name, err)
		}
		out = append(out, s)
	}
	return out
}

// queueScene is a scenario on the cluster.
type queueScene struct {
	*cluster.Cluster
	queueScenario
	client   dynamic.Interface
	tally    *queueTally
	last     time.Time // when the last Job was created
	canaries int
}

// queuedAnswer is what is said about a Job.
type queuedAnswer struct {
	Verdict, Message string
	Admission        *explain.Admission
	Groups           []struct{ Nodes []string }
	Fixes            []queueFix
	Items            []*queuedAnswer // if it has several pods
}

type queueFix struct {
	Kind, Message, Node string
	Nodes               int
	Commands            []string
}

func (a *queuedAnswer) stage(name explain.StageName) *explain.AdmissionStage {
	at := slices.IndexFunc(a.Admission.Stages, func(s explain.AdmissionStage) bool { return s.Stage == name })
	if at < 0 {
		return &explain.AdmissionStage{Result: explain.Passes}
	}
	return &a.Admission.Stages[at]
}

// realWorkload is what Kueue keeps of a Job.
type realWorkload struct {
	Metadata metav1.ObjectMeta
	Status   struct {
		Conditions []metav1.Condition
		Admission  *struct {
			PodSetAssignments []struct {
				Name    string
				Flavors map[string]string
				Count   int32
			}
		}
	}
}

func (w *realWorkload) is(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

func (w *realWorkload) message() string {
	if c := meta.FindStatusCondition(w.Status.Conditions, "QuotaReserved"); c != nil {
		return c.Message
	}
	return ""
}

func (s *queueScene) play(t *testing.T) {
	s.setUp(t)
	for i := range s.Jobs {
		job := &s.Jobs[i]
		object := s.job(t, job)
		if job.Want == "" {
			s.submit(t, object)
			s.workload(t, job.Name, func(*realWorkload) error { return nil })
			s.pass(t)
			if w := s.workload(t, job.Name, func(*realWorkload) error { return nil }); w.is("Admitted") {
				for _, pod := range s.pods(t, job) {
					s.PodScheduled(t, s.Name, pod, cluster.Placed)
				}
			}
			continue
		}
		s.ask(t, job, object)
	}
	s.holdQueues(t)
}

// ask asks about a Job before it is created and afterwards.
func (s *queueScene) ask(t *testing.T, job *queuedJob, object *unstructured.Unstructured) {
	file := filepath.Join(t.TempDir(), "job.yaml")
	text, err := json.Marshal(object)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.awaitSecond(t)
	before := s.explain(t, "explain", "-f", file, "-o", "json")
	s.expect(t, job, before)
	s.plan(t, job, file, before)
	if job.Fix == string(explain.UseFlavor) { // no pod of a Job can be given other nodes once it has started
		s.fix(t, job, before)
		return
	}
	s.submit(t, object)
	s.hold(t, job, before)
	after := s.explain(t, "explain", "job/"+job.Name, "-n", s.Name, "-o", "json")
	admitted := after.Admission == nil || after.Admission.Outcome == string(kueue.Admitted) // its pods are what is spoken of
	if w := s.workload(t, job.Name, func(*realWorkload) error { return nil }); w.is("Admitted") != admitted {
		t.Errorf("%s: admitted is %v, and afterwards it is said: %s", job.Name, !admitted, after.Message)
	}
	if !admitted && after.Admission.Outcome != string(kueue.Reserved) {
		s.hold(t, job, after)
	}
	if job.Fix != "" {
		s.fix(t, job, after)
	}
}

// plan asks what becomes of the pods of a Job that is to be created: what its explanation says. A plan may
// know less.
func (s *queueScene) plan(t *testing.T, job *queuedJob, file string, explained *queuedAnswer) {
	t.Helper()
	result := s.Plugin(t, cluster.Admin, "plan", "-f", file, "-n", s.Name, "-o", "json")
	var p struct {
		Replay struct {
			Placed  []struct{ Pod string }
			Pending []struct{ Pod, Verdict, Message string }
			Certain bool
		}
	}
	result.JSON(t, &p)
	all := len(p.Replay.Pending) == 0 && p.Replay.Certain
	if want := explained.Verdict == string(explain.Allocatable); all && !want || result.Code == 3 && explained.Verdict != string(explain.Unsatisfiable) && explained.Verdict != string(explain.Invalid) {
		t.Errorf("%s: explained %s (%s), and planned otherwise\n%v", job.Name, explained.Verdict, explained.Message, result)
	}
	s.tally.add(fmt.Sprintf("explained %s, planned with exit code %d", explained.Verdict, result.Code))
}

// expect checks that the scenario is about what it says.
func (s *queueScene) expect(t *testing.T, job *queuedJob, a *queuedAnswer) {
	if a.Admission == nil {
		t.Fatalf("%s: nothing is said about its queue: %s", job.Name, a.Message)
	}
	got := a.Admission.Outcome
	if len(a.Admission.Reasons) > 0 {
		got += " " + a.Admission.Reasons[0].Code
	}
	s.tally.add(got)
	if got != job.Want {
		t.Errorf("%s: %s, want %s: %s", job.Name, got, job.Want, a.Message)
	}
	if s := a.stage(explain.SchedulerStage); (s.Result == explain.Refuses) != job.Hangs || s.Result == explain.StageUnknown {
		t.Errorf("%s: stage scheduler: %s %s", job.Name, s.Result, s.Message)
	}
}

func (s *queueScene) explain(t *testing.T, args ...string) *queuedAnswer {
	t.Helper()
	result := s.Plugin(t, cluster.Admin, args...)
	var a queuedAnswer
	result.JSON(t, &a)
	if len(a.Items) > 0 {
		a = *a.Items[0]
	}
	if a.Verdict == "" {
		t.Fatalf("nothing is said\n%v", result)
	}
	t.Logf("%s: %s", strings.Join(args[:2], " "), a.Message)
	return &a
}

// hold compares an answer with what Kueue and kube-scheduler do.
func (s *queueScene) hold(t *testing.T, job *queuedJob, said *queuedAnswer) {
	switch kueue.Outcome(said.Admission.Outcome) {
	case kueue.Unknown:
		s.pass(t)
		return
	case kueue.Waits, kueue.Refused:
		s.holdBack(t, job, said)
		return
	}
	w := s.workload(t, job.Name, func(w *realWorkload) error {
		if w.Status.Admission == nil || !w.is("QuotaReserved") {
			return fmt.Errorf("it is said: %s (%s); and there is: %s", said.Message, said.Admission.Outcome, w.message())
		}
		return nil
	})
	for i, set := range w.Status.Admission.PodSetAssignments {
		if i >= len(said.Admission.PodSets) || set.Count != said.Admission.PodSets[i].Count || !maps.Equal(set.Flavors, said.Admission.PodSets[i].Flavors) {
			t.Errorf("%s: admitted with %v, and it is said: %v", job.Name, set, said.Admission.PodSets)
		}
	}
	s.holdVictims(t, said)
	if said.stage(explain.ChecksStage).Result != explain.Passes {
		s.pass(t)
		s.workload(t, job.Name, func(w *realWorkload) error {
			if w.is("Admitted") {
				t.Errorf("%s: admitted, and it is said: %s", job.Name, said.Message)
			}
			return nil
		})
		return
	}
	s.workload(t, job.Name, func(w *realWorkload) error {
		if !w.is("Admitted") {
			return errors.New("not admitted")
		}
		return nil
	})
	var refused []string
	for _, group := range said.Groups {
		refused = append(refused, group.Nodes...)
	}
	s.holdPods(t, job, said.stage(explain.SchedulerStage).Result == explain.Passes, func(node string) bool { return !slices.Contains(refused, node) })
}

// holdBack checks that Kueue does not admit a Job, and says what was said.
func (s *queueScene) holdBack(t *testing.T, job *queuedJob, said *queuedAnswer) {
	s.pass(t)
	s.workload(t, job.Name, func(w *realWorkload) error {
		if w.is("QuotaReserved") {
			t.Fatalf("%s: has quota, and it is said: %s", job.Name, said.Message)
		}
		needed := 0
		for _, r := range said.Admission.Reasons {
			if r.Code != string(kueue.InsufficientUnusedQuota) {
				continue
			}
			if needed++; !strings.Contains(w.message(), r.Message) {
				return fmt.Errorf("Kueue says %q, and it is said: %s", w.message(), r.Message)
			}
		}
		if real := strings.Count(w.message(), " more needed"); needed > 0 && real != needed {
			return fmt.Errorf("Kueue says %q, and it is said: %v", w.message(), said.Admission.Reasons)
		}
		t.Logf("%s: Kueue says %q, and it is said %s", job.Name, w.message(), said.Admission.Reasons[0].Message)
		return nil
	})
}

// holdVictims checks that exactly those were evicted of whom it is said.
func (s *queueScene) holdVictims(t *testing.T, said *queuedAnswer) {
	want := map[string]bool{}
	for _, victim := range said.Admission.Evicts {
		want[victim.Name] = true
	}
	for _, w := range s.workloads(t) {
		if got := w.is("Evicted") || meta.FindStatusCondition(w.Status.Conditions, "Preempted") != nil; got != want[w.Metadata.Name] {
			t.Errorf("%s: evicted is %v, and it is said that these are: %v", w.Metadata.Name, got, said.Admission.Evicts)
		}
	}
}

// holdPods checks that all pods of a Job get nodes that they may have, or that some do not.
func (s *queueScene) holdPods(t *testing.T, job *queuedJob, all bool, may func(node string) bool) {
	left := 0
	for _, name := range s.pods(t, job) {
		expected := cluster.Placed
		if !all {
			expected = func(corev1.PodCondition, string) bool { return false } // it has to stay without
		}
		decision, node := s.PodScheduled(t, s.Name, name, expected)
		if node == "" {
			left++
		}
		if node == "" && all || node != "" && !may(node) {
			t.Errorf("pod %s is on node %q (%s), which is not what was said", name, node, decision.Message)
		}
	}
	if left == 0 && !all {
		t.Errorf("%s: all pods have nodes, and it is said that they hang", job.Name)
	}
	s.tally.add(fmt.Sprintf("pods, all of which find nodes: %v", all))
}

// pods waits for the pods of a Job and names them.
func (s *queueScene) pods(t *testing.T, job *queuedJob) []string {
	t.Helper()
	var names []string
	cluster.Eventually(t, func(ctx context.Context) error {
		found, err := s.Client().BatchV1().Jobs(s.Name).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pods, err := s.Client().CoreV1().Pods(s.Name).List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job.Name})
		if err != nil || len(pods.Items) != int(*found.Spec.Parallelism) {
			return fmt.Errorf("there are %d pods, %w", len(pods.Items), err)
		}
		names = nil
		for _, pod := range pods.Items {
			names = append(names, pod.Name)
		}
		return nil
	})
	return names
}

// fix carries out a fix.
func (s *queueScene) fix(t *testing.T, job *queuedJob, said *queuedAnswer) {
	at := slices.IndexFunc(said.Fixes, func(f queueFix) bool { return f.Kind == job.Fix })
	if at < 0 || len(said.Fixes[at].Commands) == 0 {
		t.Fatalf("no commands for %s: %+v", job.Fix, said.Fixes)
	}
	f := said.Fixes[at]
	t.Logf("fix: %s", f.Message)
	for _, command := range f.Commands {
		runInShell(t, s.Cluster, command)
	}
	s.workload(t, job.Name, func(w *realWorkload) error {
		if !w.is("Admitted") {
			return fmt.Errorf("not admitted after: %s; Kueue says %q", f.Message, w.message())
		}
		return nil
	})
	s.holdPods(t, job, true, func(node string) bool { return f.Nodes != 1 || node == f.Node })
	s.tally.add("fix " + f.Kind)
	s.tally.Lock()
	defer s.tally.Unlock()
	s.tally.fixed++
}

// holdQueues compares what is said of queues with their status.
func (s *queueScene) holdQueues(t *testing.T) {
	for name := range s.Queues {
		cluster.Eventually(t, func(ctx context.Context) error {
			found, err := s.client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"}).Get(ctx, s.Name+"-"+name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			var real struct {
				Status struct {
					FlavorsReservation []struct {
						Name      string
						Resources []struct{ Name, Total, Borrowed string }
					}
				}
			}
			if err := convert(found, &real); err != nil {
				return err
			}
			var said struct {
				Items []struct {
					Queue struct {
						Quotas []struct{ Flavor, Resource, Used, Borrowed string }
					}
				}
			}
			result := s.Plugin(t, cluster.Admin, "explain", "queue", s.Name+"-"+name, "-o", "json")
			result.JSON(t, &said)
			amounts := map[string]string{}
			for _, f := range real.Status.FlavorsReservation {
				for _, r := range f.Resources {
					amounts[f.Name+" "+r.Name] = amount(r.Total) + " " + amount(r.Borrowed)
				}
			}
			for _, item := range said.Items {
				for _, q := range item.Queue.Quotas {
					if got, want := amount(q.Used)+" "+amount(q.Borrowed), amounts[q.Flavor+" "+q.Resource]; got != want {
						return fmt.Errorf("used and borrowed of %s %s are said to be %s, and are %s\n%v", q.Flavor, q.Resource, got, want, result)
					}
				}
			}
			return nil
		})
	}
}

func amount(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return text
	}
	return q.String()
}

func convert(object *unstructured.Unstructured, into any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func (s *queueScene) workloads(t *testing.T) []*realWorkload {
	t.Helper()
	list, err := s.client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}).Namespace(s.Name).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*realWorkload
	for i := range list.Items {
		w := &realWorkload{}
		if err := convert(&list.Items[i], w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// workload waits until what Kueue keeps of a Job is as check wants it.
func (s *queueScene) workload(t *testing.T, job string, check func(*realWorkload) error) *realWorkload {
	t.Helper()
	var out *realWorkload
	cluster.Eventually(t, func(context.Context) error {
		for _, w := range s.workloads(t) {
			if owner := metav1.GetControllerOf(&w.Metadata); owner != nil && owner.Name == job && w.Metadata.DeletionTimestamp == nil {
				out = w
				return check(w)
			}
		}
		return fmt.Errorf("Kueue has made nothing of job %s", job)
	})
	return out
}

// pass waits until Kueue has looked at all that is in its queues: until it has admitted a Job that was
// created afterwards.
func (s *queueScene) pass(t *testing.T) {
	t.Helper()
	s.canaries++
	canary := &queuedJob{Name: fmt.Sprint("canary-", s.canaries), Queue: "canary", CPU: resource.NewMilliQuantity(1, resource.DecimalSI)}
	s.submit(t, s.job(t, canary))
	s.workload(t, canary.Name, func(w *realWorkload) error {
		if !w.is("Admitted") {
			return errors.New("the canary is not admitted")
		}
		return nil
	})
}

// awaitSecond waits for another second than that of the last Job: creation times have no more, and Kueue
// orders by them.
func (s *queueScene) awaitSecond(t *testing.T) {
	cluster.Eventually(t, func(context.Context) error {
		if !time.Now().Truncate(time.Second).After(s.last) {
			return errors.New("still the same second")
		}
		return nil
	})
}

func (s *queueScene) submit(t *testing.T, job *unstructured.Unstructured) {
	t.Helper()
	s.awaitSecond(t)
	createObject(t, s.Cluster, job)
	s.last = time.Now()
}

func (s *queueScene) setUp(t *testing.T) {
	s.ApplyText(t, strings.ReplaceAll(queueNamespaceYAML, "NAME", s.Name))
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		s.setUpNode(t, name)
	}
	flavors := maps.Clone(s.Flavors)
	if flavors == nil {
		flavors = map[string]map[string]any{}
	}
	if flavors["f"] == nil {
		flavors["f"] = map[string]any{}
	}
	for name, spec := range flavors {
		spec["nodeLabels"] = map[string]any{"flavor": s.Name + "-" + name}
		s.make(t, "kueue.x-k8s.io/v1beta2", "ResourceFlavor", "", s.Name+"-"+name, spec)
	}
	for _, object := range cluster.DecodeText(t, s.Objects) {
		if slices.Contains([]string{"LocalQueue", "ResourceClaimTemplate"}, object.GetKind()) {
			object.SetNamespace(s.Name)
		}
		createObject(t, s.Cluster, object)
	}
	for name, spec := range s.Queues {
		quota, _ := spec["quota"].([]any)
		delete(spec, "quota")
		if spec["namespaceSelector"] == nil {
			spec["namespaceSelector"] = map[string]any{}
		}
		if len(quota) > 0 {
			spec["resourceGroups"] = []any{s.group(quota)}
		}
		stop := spec["localStopPolicy"]
		delete(spec, "localStopPolicy")
		s.make(t, "kueue.x-k8s.io/v1beta2", "ClusterQueue", "", s.Name+"-"+name, spec)
		local := map[string]any{"clusterQueue": s.Name + "-" + name}
		if stop != nil {
			local["stopPolicy"] = stop
		}
		s.make(t, "kueue.x-k8s.io/v1beta2", "LocalQueue", s.Name, name, local)
	}
	t.Cleanup(func() { // pods that hang are in the way of others
		background := metav1.DeletePropagationBackground
		err := s.Client().BatchV1().Jobs(s.Name).DeleteCollection(context.WithoutCancel(t.Context()), metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
		if err != nil {
			t.Error(err)
		}
	})
}

// group is a resource group of quotas, such as {flavor: f, gpu: 4, cpu: {nominalQuota: 1, borrowingLimit:
// 2}}.
func (s *queueScene) group(quotas []any) map[string]any {
	var covered, flavors []any
	for i, one := range quotas {
		quota := one.(map[string]any)
		var resources []any
		for _, name := range slices.Sorted(maps.Keys(quota)) {
			if name == "flavor" {
				continue
			}
			full := strings.Replace(name, "gpu", "example.com/gpu", 1)
			limits, ok := quota[name].(map[string]any)
			if !ok {
				limits = map[string]any{"nominalQuota": quota[name]}
			}
			limits["name"] = full
			resources = append(resources, limits)
			if i == 0 {
				covered = append(covered, full)
			}
		}
		flavors = append(flavors, map[string]any{"name": s.Name + "-" + quota["flavor"].(string), "resources": resources})
	}
	return map[string]any{"coveredResources": covered, "flavors": flavors}
}

func (s *queueScene) setUpNode(t *testing.T, name string) {
	node := s.Nodes[name]
	flavor, full := node.Flavor, s.Name+"-"+name
	if flavor == "" {
		flavor = "f"
	}
	s.AddNode(t, full, map[string]string{"flavor": s.Name + "-" + flavor, corev1.LabelHostname: full})
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		nodes := s.Client().CoreV1().Nodes()
		now, err := nodes.Get(t.Context(), full, metav1.GetOptions{})
		if err == nil && node.Taints != nil {
			now.Spec.Taints = node.Taints
			now, err = nodes.Update(t.Context(), now, metav1.UpdateOptions{})
		}
		if err == nil && node.CPU != nil {
			now.Status.Allocatable[corev1.ResourceCPU] = *node.CPU
			_, err = nodes.UpdateStatus(t.Context(), now, metav1.UpdateOptions{})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if node.GPUs == 0 {
		return
	}
	var devices []any
	for i := range node.GPUs {
		device := map[string]any{"name": fmt.Sprint("g", i), "attributes": map[string]any{
			"numa": map[string]any{"int": int64(i % 2)}, "of": map[string]any{"string": s.Name}}}
		if i >= node.GPUs-node.Broken {
			device["taints"] = []any{map[string]any{"key": "broken", "effect": "NoSchedule"}}
		}
		devices = append(devices, device)
	}
	s.make(t, "resource.k8s.io/v1", "ResourceSlice", "", full, map[string]any{
		"driver": "gpu.example.com", "nodeName": full, "devices": devices,
		"pool": map[string]any{"name": full, "generation": int64(1), "resourceSliceCount": int64(1)},
	})
}

func (s *queueScene) make(t *testing.T, version, kind, namespace, name string, spec map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "spec": spec}}
	object.SetNamespace(namespace)
	object.SetName(name)
	createObject(t, s.Cluster, object)
}

// job is a Job, and the template of its claims is made.
func (s *queueScene) job(t *testing.T, job *queuedJob) *unstructured.Unstructured {
	pods := int64(max(1, job.Pods))
	container := map[string]any{"name": "main", "image": "example.com/none", "resources": map[string]any{}}
	pod := map[string]any{"restartPolicy": "Never", "terminationGracePeriodSeconds": int64(0), "containers": []any{container}}
	maps.Copy(pod, job.Pod)
	if job.CPU != nil {
		container["resources"].(map[string]any)["requests"] = map[string]any{"cpu": job.CPU.String()}
	}
	template := job.Template
	if job.GPUs > 0 {
		template = job.Name + "-gpus"
		class := job.Class
		if class == "" {
			class = "gpu"
		}
		s.make(t, "resource.k8s.io/v1", "ResourceClaimTemplate", s.Name, template, map[string]any{"spec": map[string]any{"devices": map[string]any{"requests": []any{
			map[string]any{"name": "gpu", "exactly": map[string]any{"deviceClassName": class, "count": int64(job.GPUs)}}}}}})
	}
	if template != "" {
		container["resources"].(map[string]any)["claims"] = []any{map[string]any{"name": "gpu"}}
		pod["resourceClaims"] = []any{map[string]any{"name": "gpu", "resourceClaimTemplateName": template}}
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"spec": map[string]any{"parallelism": pods, "completions": pods, "template": map[string]any{"spec": pod}}}}
	out.SetNamespace(s.Name)
	out.SetName(job.Name)
	labels := map[string]string{"kueue.x-k8s.io/queue-name": job.Queue}
	if job.Priority != "" {
		labels["kueue.x-k8s.io/priority-class"] = job.Priority
	}
	out.SetLabels(labels)
	out.SetAnnotations(job.Annotations)
	return out
}
