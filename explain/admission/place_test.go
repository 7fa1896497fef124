package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// place asks what becomes of the pods of everything in the file.
func (s *stage) place(t *testing.T) *explain.Plan {
	t.Helper()
	config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: s.health}
	if s.config != "" {
		var err error
		if config.Kueue, err = kueueconfig.Read([]byte(s.config), ""); err != nil {
			t.Fatal(err)
		}
	}
	var asked []admission.Asked
	result := read(t, s.file)
	for _, w := range result.Workloads {
		one := admission.Asked{Object: w}
		n := int64(1)
		if w.Replicas != nil {
			n = *w.Replicas
		}
		for i := range n {
			pod := *w.Pod
			pod.Name = fmt.Sprintf("%s-%d", w.Name, i)
			pod.UID = types.UID(pod.Name)
			one.Pods = append(one.Pods, &pod)
		}
		asked = append(asked, one)
	}
	for _, pod := range result.Objects.Pods {
		asked = append(asked, admission.Asked{Object: pod, Pods: []*corev1.Pod{pod}})
	}
	objects := s.objects
	if objects.Pods = slices.Clip(objects.Pods); s.inCluster {
		objects.Pods = append(objects.Pods, result.Objects.Pods...)
	}
	p, err := admission.Place(t.Context(), scheduler.NewCluster(inspect.New(objects, config), scheduler.Options{}), asked, admission.PlaceOptions{Given: !s.inCluster})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// verdictOf is what a plan says of all pods.
func verdictOf(p *explain.Plan) explain.Verdict {
	switch {
	case p.LeavesSome():
		return explain.Unsatisfiable
	case len(p.Replay.Pending) > 0 || !p.Replay.Certain:
		return explain.Unknown
	}
	return explain.Allocatable
}

// TestPlanAsExplained: a plan admits what is explained to be admitted, and places what is explained to find
// nodes.
func TestPlanAsExplained(t *testing.T) {
	t.Parallel()
	asked := map[explain.Verdict]int{}
	for _, name := range []string{"queue.txtar", "queuesquota.txtar", "queuesdevices.txtar", "queuesflavors.txtar"} {
		cluster, config, files := script(t, name)
		for file, text := range files {
			if !strings.Contains(text, "template:") || strings.Contains(text, "kind: Node") {
				continue
			}
			for _, config := range []string{config, ""} {
				s := &stage{objects: read(t, cluster).Objects, config: config, file: text}
				answers := s.explain(t)
				if len(answers) > 1 {
					continue // the others of which come later
				}
				p := s.place(t)
				if got, want := verdictOf(p), answers[0].Verdict; got != want && (got != explain.Unknown || !strings.Contains(answers[0].Message, "only ")) {
					t.Errorf("%s %s: planned %s, explained %s: %s\n%+v", name, file, got, want, answers[0].Message, p.Replay)
				}
				asked[answers[0].Verdict]++
			}
		}
	}
	t.Log(asked)
	for _, v := range []explain.Verdict{explain.Allocatable, explain.Unsatisfiable, explain.Unknown} {
		if asked[v] < 2 {
			t.Errorf("%d jobs were %s", asked[v], v)
		}
	}
}

// pendingCluster has two devices on a node of one flavor and one on that of the other, of which a queue has 2
// and 6; a Job of one pod waits.
const pendingCluster = `
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {pool: one, kubernetes.io/hostname: n1}}, status: {allocatable: {pods: 10, cpu: 8}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {pool: two, kubernetes.io/hostname: n2}}, status: {allocatable: {pods: 10, cpu: 8}}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s1}, spec: {driver: d, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: a}, {name: b}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s2}, spec: {driver: d, nodeName: n2, pool: {name: n2, generation: 1, resourceSliceCount: 1}, devices: [{name: a}]}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: one}, spec: {nodeLabels: {pool: one}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: two}, spec: {nodeLabels: {pool: two}}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: c}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [gpus], flavors: [
  {name: one, resources: [{name: gpus, nominalQuota: 2}]}, {name: two, resources: [{name: gpus, nominalQuota: 6}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: ml}, spec: {clusterQueue: c}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one, namespace: ml}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}}
`

// waitingJob is the workload of a Job of some pods with a device each, and a priority.
func waitingJob(name string, pods, priority int) string {
	return fmt.Sprintf(`---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: job-%s, namespace: ml, creationTimestamp: "2026-11-01T00:00:00Z", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: %[1]s, uid: u-%[1]s, controller: true}]},
  spec: {queueName: q, priority: %[3]d, podSets: [{name: main, count: %[2]d, template: {spec: {containers: [{name: c, image: i}], resourceClaims: [{name: g, resourceClaimTemplateName: one}]}}}]}}
`, name, pods, priority)
}

// TestPlacePending: pods that wait in queues take part in a plan as they are once they are admitted, and as
// far as they are.
func TestPlacePending(t *testing.T) {
	t.Parallel()
	const (
		check = "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: k}, spec: {controllerName: x}, status: {conditions: [{type: Active, status: \"True\"}]}}\n"
		first = "---\n{apiVersion: v1, kind: Pod, metadata: {name: first, namespace: ml, uid: first, creationTimestamp: \"2026-10-01T00:00:00Z\"}, spec: {nodeSelector: {pool: one}, " +
			"containers: [{name: c, image: i}], resourceClaims: [{name: g, resourceClaimTemplateName: one}]}}\n"
		taken = "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: low, namespace: ml}, spec: {queueName: q, priority: -1, podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c}]}}}]}, " +
			"status: {conditions: [{type: QuotaReserved, status: \"True\"}, {type: Admitted, status: \"True\"}], admission: {clusterQueue: c, podSetAssignments: [{name: main, count: 2, flavors: {gpus: one}, resourceUsage: {gpus: 2}}]}}}\n"
	)
	for name, test := range map[string]struct {
		objects string
		change  *strings.Replacer
		config  string
		// want are the pods with their nodes, or with the verdict on those that are left waiting, sorted.
		want, message string
		certain       bool
	}{
		"nobody waits":               {want: "", certain: true},
		"admitted":                   {objects: waitingJob("j", 1, 0), want: "j-0@n1", certain: true},
		"two flavors":                {objects: waitingJob("j", 2, 1) + waitingJob("k", 1, 0), want: "j-0@n1 j-1@n1 k-0@n2", certain: true},
		"no quota":                   {objects: waitingJob("j", 2, 1) + waitingJob("k", 7, 0), want: "j-0@n1 j-1@n1 k-0!Unsatisfiable k-1!Unsatisfiable k-2!Unsatisfiable k-3!Unsatisfiable k-4!Unsatisfiable k-5!Unsatisfiable k-6!Unsatisfiable", message: "Kueue does not admit it: it asks for more than ClusterQueue c can ever have", certain: true},
		"quota and no devices":       {objects: waitingJob("j", 2, 1) + waitingJob("k", 2, 0), want: "j-0@n1 j-1@n1 k-0@n2 k-1!Unknown", message: "in use"}, // a tie: one of two
		"behind a pod":               {objects: first + waitingJob("j", 2, 0), want: "first@n1 j-0@n1 j-1!Unknown", message: "in use"},
		"a check decides":            {objects: check + waitingJob("j", 1, 0), change: strings.NewReplacer("namespaceSelector: {},", "namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: k}]},"), want: "j-0!Unknown", message: "waits for admission check k; admitted, it would find a node", certain: true},
		"Kueue evicts another":       {objects: taken + first + waitingJob("j", 2, 0), change: strings.NewReplacer("namespaceSelector: {},", "namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority}, flavorFungibility: {whenCanPreempt: MayStopSearch},"), want: "first@n1 j-0!Unknown j-1!Unknown", message: "Kueue evicts"},
		"no configuration":           {objects: first + waitingJob("j", 1, 0), config: "none", want: "first@n1 j-0!Unknown", message: "Kueue may admit it or not", certain: true},
		"it may come first":          {objects: first + waitingJob("j", 1, 0), config: "none", change: strings.NewReplacer("template: {spec: {containers", "template: {spec: {priority: 1, containers"), want: "first@n1 j-0!Unknown", message: "Kueue may admit it or not"},
		"another may come, too":      {objects: check + waitingJob("j", 1, 0) + waitingJob("k", 3, 0), change: strings.NewReplacer("namespaceSelector: {},", "namespaceSelector: {}, admissionChecksStrategy: {admissionChecks: [{name: k, onFlavors: [one]}]},"), want: "j-0!Unknown k-0@n2 k-1!Unknown k-2!Unknown", message: "waits for admission check k"},
		"no configuration, it hangs": {objects: waitingJob("j", 1, 0), config: "none", change: strings.NewReplacer("devices: [{name: a}]", "devices: []", "devices: [{name: a}, {name: b}]", "devices: []", "nominalQuota: 2}]}, {name: two, resources: [{name: gpus, nominalQuota: 6}]}]", "nominalQuota: 2}]}]"), want: "j-0!Unsatisfiable", message: "admitted, it would then hang", certain: true},
	} {
		t.Run(name, func(t *testing.T) {
			text := pendingCluster + test.objects
			if test.change != nil {
				text = test.change.Replace(text)
			}
			config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor)}
			if test.config == "" {
				var err error
				if config.Kueue, err = kueueconfig.Read([]byte(fitConfig), ""); err != nil {
					t.Fatal(err)
				}
			}
			s := inspect.New(read(t, text).Objects, config)
			var asked []admission.Asked
			for _, pod := range s.Objects().Pods {
				asked = append(asked, admission.Asked{Object: pod, Pods: []*corev1.Pod{pod}})
			}
			p, err := admission.Place(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), asked, admission.PlaceOptions{
				Workload: func(*kueuev1beta2.Workload) bool { return true },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range p.Replay.Placed {
				got = append(got, p.Replay.Placed[i].Subject.Name+"@"+string(p.Replay.Placed[i].Node))
			}
			message := ""
			for i := range p.Replay.Pending {
				got = append(got, p.Replay.Pending[i].Subject.Name+"!"+string(p.Replay.Pending[i].Verdict))
				message = p.Replay.Pending[i].Message
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != test.want || p.Replay.Certain != test.certain || !strings.Contains(message, test.message) {
				t.Errorf("%s, certain %t, %q\nwant %s, certain %t, %q\n%q", text, p.Replay.Certain, message, test.want, test.certain, test.message, p.Replay.Remarks)
			}
		})
	}
}
