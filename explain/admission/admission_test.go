package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// now is after everything in the scripts was created.
var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// stage is what is asked about: objects of a cluster, a file, and the configuration of Kueue, or none.
type stage struct {
	objects inspect.Objects
	file    string
	config  string
	health  map[inspect.Resource]inspect.Health
	// inCluster says that the file is in the cluster.
	inCluster bool
}

func read(t testing.TB, text string) *manifest.Result {
	t.Helper()
	result, err := manifest.ReadBytes("file.yaml", []byte(text), manifest.Options{Workloads: true, Namespace: "ml"})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// explain asks about everything in the file.
func (s *stage) explain(t *testing.T) []*explain.Explanation {
	t.Helper()
	config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: s.health}
	if s.config != "" {
		var err error
		if config.Kueue, err = kueueconfig.Read([]byte(s.config), ""); err != nil {
			t.Fatal(err)
		}
	}
	var subjects []metav1.Object
	result := read(t, s.file)
	for _, w := range result.Workloads {
		subjects = append(subjects, w)
	}
	for _, pod := range result.Objects.Pods {
		subjects = append(subjects, pod)
	}
	objects := s.objects
	if objects.Pods = slices.Clip(objects.Pods); s.inCluster {
		objects.Pods = append(objects.Pods, result.Objects.Pods...)
	}
	cluster := scheduler.NewCluster(inspect.New(objects, config), scheduler.Options{})
	answers, err := question.Objects(t.Context(), cluster, subjects, question.Options{})
	if err == nil {
		err = admission.Add(t.Context(), cluster, subjects, answers, admission.Options{Given: !s.inCluster})
	}
	if err != nil || len(answers) == 0 {
		t.Fatalf("%d answers: %v", len(answers), err)
	}
	return answers
}

// script is what a script asks about: the cluster, the configuration and the files.
func script(t *testing.T, name string) (cluster, config string, files map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("../../cmd/kubectl-dra/testdata/script", name))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, f := range archive.Files {
		switch f.Name {
		case "cluster.yaml":
			cluster = string(f.Data)
		case "kueue.yaml":
			config = string(f.Data)
		default:
			if strings.HasSuffix(f.Name, ".yaml") {
				files[f.Name] = string(f.Data)
			}
		}
	}
	return cluster, config, files
}

// job is a Job of one pod with one device, for a queue with room.
const job = `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml, labels: {kueue.x-k8s.io/queue-name: large}, annotations: {}}
spec:
  parallelism: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: "1"}, claims: [{name: g}]}}]
      resourceClaims: [{name: g, resourceClaimTemplateName: one}]
`

// pod is a pod that is held back by two gates.
const pod = `apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml, uid: uid-p, labels: {kueue.x-k8s.io/queue-name: large}}
spec:
  schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: example.com/wait}]
  containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]
`

// podWorkload is the Workload of the pod, admitted.
const podWorkload = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: pod-p, namespace: ml, creationTimestamp: "2026-11-01T00:00:00Z", ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: uid-p, controller: true}]}
spec: {queueName: large, priority: 0, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}
status:
  admission: {clusterQueue: large, podSetAssignments: [{name: main, count: 1, flavors: {cpu: on-demand}, resourceUsage: {cpu: 1}}]}
  conditions:
  - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-11-01T00:00:00Z", message: ""}
  - {type: Admitted, status: "True", reason: Admitted, lastTransitionTime: "2026-11-01T00:00:00Z", message: ""}
`

// replaced is a Workload of the job, which waits, and a claim template that it uses.
const replaced = `
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job-j, namespace: ml, creationTimestamp: "2026-11-02T00:00:00Z", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: uid-j, controller: true}]}
spec: {queueName: large, priority: 0, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}], resourceClaims: [{name: g, resourceClaimTemplateName: new}]}}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: new, namespace: ml, creationTimestamp: "2026-11-03T00:00:00Z"}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 1}}]}}}
`

// TestAdd: what is answered about jobs and pods where Kueue is, and that nothing unknown is a yes.
func TestAdd(t *testing.T) {
	cluster, config, _ := script(t, "queuesquota.txtar")
	const unlabelled, queue = "labels: {}", "labels: {kueue.x-k8s.io/queue-name: large}"
	defaultQueue := "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: default, namespace: ml}\nspec: {clusterQueue: small}\n"
	limits := func(kind string) string {
		return "\n---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: ml}\nspec: {limits: [{type: " + kind + ", max: {cpu: 9}}]}\n"
	}
	const newerQueue = "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: newer, uid: u}\nspec: {future: 1}\n"
	of := func(replace ...string) string { return strings.NewReplacer(replace...).Replace(job) }
	gateless := strings.Replace(pod, "{name: kueue.x-k8s.io/admission}, ", "", 1)
	for name, c := range map[string]struct {
		file, more, config string
		health             map[inspect.Resource]inspect.Health
		inCluster          bool
		want               explain.Verdict
		says               string
		not                bool // Kueue has nothing to do with it
	}{
		"room":                   {file: job, want: explain.Allocatable, says: "is about to be admitted, and then can be scheduled"},
		"a newer queue":          {file: job, more: newerQueue, want: explain.Unknown, says: "field spec.future of ClusterQueue newer is newer than this program"},
		"configuration not read": {file: job, config: "-", want: explain.Unknown, says: "Kueue's Configuration was not read"},
		"configuration not read, no devices": {
			file: of("claims: [{name: g}]", "limits: {}", "resourceClaims:", "x:"), config: "-", want: explain.Unknown, says: "as far as is known"},
		"fields not known":               {file: job, config: config + "\nnewer: true\n", want: explain.Unknown, says: "as far as is known"},
		"LimitRange for containers":      {file: job, more: limits("Container"), want: explain.Unknown, says: "LimitRange l may change"},
		"LimitRange for volumes":         {file: job, more: limits("PersistentVolumeClaim"), want: explain.Allocatable, says: "about to be admitted"},
		"LimitRanges forbidden":          {file: job, health: forbidden(inspect.LimitRanges), want: explain.Unknown, says: "as far as is known"},
		"workloads forbidden":            {file: job, health: forbidden(inspect.KueueWorkloads), want: explain.Unknown, says: "as far as is known"},
		"queues forbidden":               {file: of("large", "none"), health: forbidden(inspect.LocalQueues), want: explain.Unknown, says: "or was not read"},
		"queue that is not there":        {file: of("large", "none"), want: explain.Unsatisfiable, says: "LocalQueue none"},
		"no label":                       {file: of(queue, unlabelled), want: explain.Allocatable, says: "can be scheduled", not: true},
		"no label, configuration unread": {file: of(queue, unlabelled), config: "-", want: explain.Unknown, says: "if Kueue does not hold it back", not: true},
		"no label, managed all the same": {file: of(queue, unlabelled), config: config + "\nmanageJobsWithoutQueueName: true\n", want: explain.Unsatisfiable, says: "names no LocalQueue"},
		"no label, another namespace is managed": {
			file: of(queue, unlabelled), config: config + "\nmanageJobsWithoutQueueName: true\nmanagedJobsNamespaceSelector: {matchLabels: {a: b}}\n",
			want: explain.Allocatable, says: "can be scheduled", not: true},
		"no label, a default queue":        {file: of(queue, unlabelled, "one}", "three}"), more: defaultQueue, want: explain.Unsatisfiable, says: "ClusterQueue small"},
		"its integration is off":           {file: job, config: config + "\nintegrations: {frameworks: [pod]}\n", want: explain.Unknown, says: "once it is admitted", not: true},
		"partial admission":                {file: of("large", "small", "parallelism: 1", "parallelism: 4", "annotations: {}", "annotations: {kueue.x-k8s.io/job-min-parallelism: '1'}"), want: explain.Allocatable, says: "about to be admitted"},
		"partial admission, too many":      {file: of("large", "small", "parallelism: 1", "parallelism: 4", "annotations: {}", "annotations: {kueue.x-k8s.io/job-min-parallelism: '3'}"), want: explain.Unsatisfiable, says: "2 more example.com/gpu needed"},
		"has finished":                     {file: job + "status: {conditions: [{type: Complete, status: 'True'}]}\n", want: explain.Unsatisfiable, says: "it has finished", not: true},
		"pod of a group":                   {file: strings.NewReplacer("labels: {", "labels: {kueue.x-k8s.io/pod-group-name: g, ", "schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: example.com/wait}]", "terminationGracePeriodSeconds: 1").Replace(pod), want: explain.Unknown, says: "the pods of a group", not: true},
		"no label, local queues forbidden": {file: of(queue, unlabelled), health: forbidden(inspect.LocalQueues), want: explain.Unknown, says: "if Kueue does not hold it back", not: true},
		"CronJob": {
			file: "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: ml}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}\n",
			want: explain.Unknown, says: "the Jobs of a CronJob", not: true},
		"Deployment, a default queue, configuration unread": {
			file: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ml}\nspec: {template: {spec: {containers: [{name: c, image: i}]}}}\n", more: defaultQueue, config: "-",
			want: explain.Unknown, says: "if Kueue does not hold it back", not: true},
		"template newer than the Workload": {file: of("Name: one", "Name: new"), more: replaced, inCluster: true, want: explain.Unknown, says: "may still count"},
		"template older than the Workload": {file: of("Name: one", "Name: new"), more: strings.Replace(replaced, "-03T", "-01T", 1), inCluster: true, want: explain.Allocatable, says: "about to be admitted"},
		"another gate":                     {file: pod, inCluster: true, want: explain.Unsatisfiable, says: "example.com/wait"},
		"admitted, and another gate":       {file: gateless, more: "\n---\n" + podWorkload, inCluster: true, want: explain.Unsatisfiable, says: "example.com/wait"},
		"being evicted": {
			file: gateless, more: "\n---\n" + podWorkload + "  - {type: Evicted, status: 'True', reason: Preempted, lastTransitionTime: '2026-11-02T00:00:00Z', message: for another}\n",
			inCluster: true, want: explain.Unsatisfiable, says: "example.com/wait"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage{objects: read(t, cluster+c.more).Objects, file: c.file, config: c.config, health: c.health, inCluster: c.inCluster}
			switch c.config {
			case "":
				s.config = config
			case "-":
				s.config = ""
			}
			e := s.explain(t)[0]
			all := e.Message + "\n" + strings.Join(e.Partial, "\n")
			if e.Verdict != c.want || !strings.Contains(all, c.says) {
				t.Errorf("%s, %s; want %s and %q", e.Verdict, all, c.want, c.says)
			}
			if e.Admission == nil != c.not {
				t.Errorf("admission %+v", e.Admission)
			}
		})
	}
}

// TestHolders: those that hold the quota may be those that hold what the nodes lack.
// holder is the pod of the Job that holds quota.
const holder = `
---
apiVersion: v1
kind: Pod
metadata: {name: holder-x, namespace: ml, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: holder, uid: uid-holder, controller: true}]}
spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: "8"}}}]}
`

func TestHolders(t *testing.T) {
	cluster, config, _ := script(t, "queuesquota.txtar")
	on := strings.NewReplacer("large", "full", "restartPolicy: Never", "nodeSelector: {kubernetes.io/hostname: n1}")
	for template, want := range map[string]explain.StageResult{"one": explain.Passes, "three": explain.Refuses} {
		s := stage{objects: read(t, cluster+holder).Objects, config: config, file: strings.Replace(on.Replace(job), "Name: one", "Name: "+template, 1)}
		e := s.explain(t)[0]
		got := e.Admission.Stages[len(e.Admission.Stages)-1]
		if got.Result != want || strings.Contains(got.Message, "have ended") != (want == explain.Passes) || strings.Contains(e.Message, "hang") != (want == explain.Refuses) {
			t.Errorf("%s: %+v, %s", template, got, e.Message)
		}
	}
}

func forbidden(resource inspect.Resource) map[inspect.Resource]inspect.Health {
	return map[inspect.Resource]inspect.Health{resource: {State: inspect.Forbidden, Message: "may not be listed"}}
}

// TestSeveral: of two Jobs that are created together, the second one finds what the first one leaves.
func TestSeveral(t *testing.T) {
	cluster, config, _ := script(t, "queuesquota.txtar")
	for name, change := range map[string]*strings.Replacer{
		"quota":   strings.NewReplacer("large", "small", "Name: one", "Name: two"),
		"devices": strings.NewReplacer("parallelism: 1", "parallelism: 3"),
	} {
		t.Run(name, func(t *testing.T) {
			s := stage{objects: read(t, cluster).Objects, config: config, file: change.Replace(job) + "---\n" + change.Replace(strings.Replace(job, "name: j,", "name: k,", 1))}
			answers := s.explain(t)
			if answers[0].Verdict != explain.Allocatable || answers[1].Verdict == explain.Allocatable {
				t.Errorf("%s\n%s", answers[0].Message, answers[1].Message)
			}
		})
	}
}

// TestComing: what is admitted and has had no pods yet may take the devices.
func TestComing(t *testing.T) {
	cluster, config, _ := script(t, "queuesquota.txtar")
	fresh := regexp.MustCompile(`(?m)^.*name: holder-0,.*\n`).ReplaceAllString(cluster, "")
	for _, c := range []struct {
		cluster, pods string
		want          explain.Verdict
	}{
		{fresh, "3", explain.Unknown}, {cluster, "3", explain.Allocatable}, {fresh, "2", explain.Allocatable}, {fresh, "1", explain.Allocatable},
	} {
		s := stage{objects: read(t, c.cluster).Objects, config: config, file: strings.Replace(job, "parallelism: 1", "parallelism: "+c.pods, 1)}
		e := s.explain(t)[0]
		const told = "unless job ml/holder, admitted and without pods yet, takes what is needed"
		if e.Verdict != c.want || strings.Contains(e.Message, told) != (c.want == explain.Unknown) {
			t.Errorf("%s pods: %s: %s", c.pods, e.Verdict, e.Message)
		}
	}
}

// TestFixesAreCarriedOut makes each change that is proposed in the scripts, and asks again.
func TestFixesAreCarriedOut(t *testing.T) {
	tried := map[explain.FixKind]int{}
	for _, name := range []string{"queuesquota.txtar", "queuesdevices.txtar", "queuesflavors.txtar"} {
		cluster, config, files := script(t, name)
		for file, text := range files {
			s := stage{objects: read(t, cluster).Objects, config: config, file: text}
			e := s.explain(t)[0]
			if e.Admission == nil {
				continue
			}
			for i := range e.Fixes {
				f := &e.Fixes[i]
				after := stage{objects: read(t, cluster).Objects, config: config, file: text}
				if !after.carryOut(t, f) {
					continue
				}
				tried[f.Kind]++
				if got := after.explain(t)[0]; got.Verdict != explain.Allocatable {
					t.Errorf("%s, %q: %s", file, f.Message, got.Message)
				}
			}
		}
	}
	for _, kind := range []explain.FixKind{explain.ReducePods, explain.UseQueue, explain.EndWorkload, explain.RaiseQuota, explain.TolerateTaint, explain.UseFlavor} {
		if tried[kind] == 0 {
			t.Errorf("no %s was tried: %v", kind, tried)
		}
	}
}

// carryOut makes the changes of a fix. It is false if there are none.
func (s *stage) carryOut(t *testing.T, f *explain.Fix) bool {
	t.Helper()
	for _, end := range f.Ends {
		s.objects.KueueWorkloads = slices.DeleteFunc(s.objects.KueueWorkloads, func(w *kueuev1beta2.Workload) bool {
			return w.Namespace == end.Namespace && slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == end.Kind && o.Name == end.Name })
		})
	}
	for _, c := range f.Changes {
		var to any
		switch c.Kind {
		case "Job":
			s.file = string(patched(t, toJSON(t, s.file), c.Patch))
			continue
		case "ClusterQueue":
			for _, q := range s.objects.ClusterQueues {
				if q.Name == c.Name {
					to = q
				}
			}
		case "ResourceClaimTemplate":
			for _, template := range s.objects.Templates {
				if template.Name == c.Name {
					to = template
				}
			}
		}
		raw, err := json.Marshal(to)
		if err == nil {
			err = json.Unmarshal(patched(t, raw, c.Patch), to)
		}
		if err != nil {
			t.Fatalf("%s %s: %v", c.Kind, c.Name, err)
		}
	}
	return len(f.Ends)+len(f.Changes) > 0
}

func patched(t *testing.T, raw []byte, patch []explain.PatchOperation) []byte {
	t.Helper()
	text, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := jsonpatch.DecodePatch(text)
	if err == nil {
		raw, err = operations.Apply(raw)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}

// TestBroken asks about queues and workloads in states from which objects are missing, or in which they are
// broken: nothing panics, and each answer says why.
func TestBroken(t *testing.T) {
	for name, damage := range map[string]func(*inspect.Objects){
		"nothing":         func(*inspect.Objects) {},
		"no flavors":      func(o *inspect.Objects) { o.ResourceFlavors = nil },
		"no queues":       func(o *inspect.Objects) { o.ClusterQueues = nil },
		"no local queues": func(o *inspect.Objects) { o.LocalQueues = nil },
		"no templates":    func(o *inspect.Objects) { o.Templates = nil },
		"no pod sets":     func(o *inspect.Objects) { each(o, func(w *kueuev1beta2.Workload) { w.Spec.PodSets = nil }) },
		"no admissions":   func(o *inspect.Objects) { each(o, func(w *kueuev1beta2.Workload) { w.Status.Admission = nil }) },
		"a circle": func(o *inspect.Objects) {
			for i, c := range o.Cohorts {
				c.Spec.ParentName = kueuev1beta2.CohortReference(o.Cohorts[(i+1)%len(o.Cohorts)].Name)
			}
		},
		"many pods": func(o *inspect.Objects) {
			each(o, func(w *kueuev1beta2.Workload) { w.Spec.PodSets[0].Count = 2147483647 })
		},
		"fewer than none": func(o *inspect.Objects) { each(o, func(w *kueuev1beta2.Workload) { w.Spec.PodSets[0].Count = -5 }) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				objects, _ := randomqueue.State(seed)
				damage(objects)
				s := inspect.New(*objects, inspect.Config{Time: randomqueue.Now, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
				queues := admission.NewQueues(s)
				for _, q := range objects.ClusterQueues {
					if got := queues.ClusterQueue(q); got.Message == "" {
						t.Errorf("seed %d: nothing is said about ClusterQueue %s: %+v", seed, q.Name, got)
					}
				}
				for _, q := range objects.LocalQueues {
					if got := queues.LocalQueue(q); got.Message == "" {
						t.Errorf("seed %d: nothing is said about LocalQueue %s", seed, q.Name)
					}
				}
				cluster := scheduler.NewCluster(s, scheduler.Options{})
				all := func(*kueuev1beta2.Workload) bool { return true }
				if p, err := admission.Place(t.Context(), cluster, nil, admission.PlaceOptions{Workload: all}); err != nil || name != "no pod sets" && len(p.Replay.Placed)+len(p.Replay.Pending) == 0 && p.Replay.Certain && len(objects.KueueWorkloads) > 8 {
					t.Errorf("seed %d: no plan of %d workloads: %v, %+v", seed, len(objects.KueueWorkloads), err, p)
				}
				for _, w := range objects.KueueWorkloads[:min(4, len(objects.KueueWorkloads))] {
					subjects := []metav1.Object{&inspect.Workload{
						Pod: read(t, strings.Replace(pod, "ml", w.Namespace, 1)).Objects.Pods[0], Type: metav1.TypeMeta{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload"}, Name: w.Name,
						SpecPointer: "/spec/podSets/0/template/spec",
					}}
					answers, err := question.Objects(t.Context(), cluster, subjects, question.Options{})
					if err == nil {
						err = admission.Add(t.Context(), cluster, subjects, answers, admission.Options{})
					}
					if err != nil || answers[0].Message == "" {
						t.Errorf("seed %d, %s: %v, %+v", seed, w.Name, err, answers)
					}
				}
			}
		})
	}
}

func each(o *inspect.Objects, change func(*kueuev1beta2.Workload)) {
	for _, w := range o.KueueWorkloads {
		change(w)
	}
}

// TestWithoutKueue: a cluster without Kueue is answered about as before, word for word.
func TestWithoutKueue(t *testing.T) {
	cluster, _, _ := script(t, "queuesquota.txtar")
	objects := read(t, cluster).Objects
	objects.ClusterQueues, objects.LocalQueues, objects.KueueWorkloads = nil, nil, nil
	s := stage{objects: objects, file: strings.Replace(job, "labels: {kueue.x-k8s.io/queue-name: large}", "labels: {}", 1)}
	if e := s.explain(t)[0]; e.Admission != nil || e.Verdict != explain.Allocatable || strings.Contains(fmt.Sprint(e.Message, e.Partial), "ueue") {
		t.Errorf("%s: %s %q %+v", e.Verdict, e.Message, e.Partial, e.Admission)
	}
}

func toJSON(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestDemo holds the queues of the demo cluster against what its README says of them.
func TestDemo(t *testing.T) {
	c := explaintest.DemoCluster(t)
	queues := admission.NewQueues(c.Snapshot())
	if len(config.Doubts(c.Snapshot().Kueue())) > 0 || c.Snapshot().Kueue().Unreadable() != "" {
		t.Fatal("the configuration of the demo cluster is not read")
	}
	got := map[string]string{}
	for _, queue := range c.Snapshot().Around().ClusterQueues {
		q := queues.ClusterQueue(queue)
		f := q.Quotas[0]
		got[q.Name] = fmt.Sprintf("%s of %s, %s lent, %s borrowed, %d wait, %d hold", f.Used, f.Nominal, f.Lent, f.Borrowed, len(q.Waiting), len(q.Holders))
	}
	want := map[string]string{
		"research": "0 of 4, 4 lent, 0 borrowed, 2 wait, 0 hold",
		"serving":  "14 of 10, 0 lent, 4 borrowed, 0 wait, 3 hold",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	pod, _ := c.Snapshot().Pod(inspect.PodRef{Namespace: "ml", Name: "eval-nightly"})
	answers, err := admission.Objects(t.Context(), c, []metav1.Object{pod}, admission.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := answers[0]
	stages := e.Admission.Stages
	if e.Verdict != explain.Unsatisfiable || stages[0].Result != explain.Refuses || stages[len(stages)-1].Result != explain.Passes {
		t.Errorf("ml/eval-nightly: %s: %+v", e.Message, stages)
	}
	if r := e.Admission.Reasons[0]; r.Code != string(kueue.InsufficientUnusedQuota) || r.Needed != "1" || len(e.Admission.Holders) != 3 {
		t.Errorf("ml/eval-nightly: %+v, held by %v", r, e.Admission.Holders)
	}
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return strings.Contains(f.Message, "gpus from 4 to 5 of flavor default") }) {
		t.Errorf("ml/eval-nightly: %+v", e.Fixes)
	}
	waiting := queues.Waiting()
	if len(waiting) != 2 || waiting[0].Workload.Name != "job-ablation-b91e4" || waiting[0].Reason.Needed != 8 || waiting[1].Workload.Name != queues.WorkloadOf(pod).Name {
		t.Errorf("waiting: %+v", waiting)
	}
}
