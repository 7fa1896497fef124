package cli

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// ownersCluster has a Job with a pod that waits and one that runs, and a Deployment with two that run.
const ownersCluster = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "9", memory: 9Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: train-0, namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: j, controller: true}]}, spec: {containers: [{name: main, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: train-1, namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: j, controller: true}]}, spec: {nodeName: n1, containers: [{name: main, image: i}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: serve-5d8f-a, namespace: default, labels: {pod-template-hash: 5d8f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: serve-5d8f, uid: r, controller: true}]}, spec: {nodeName: n1, containers: [{name: main, image: i}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: serve-5d8f-b, namespace: default, labels: {pod-template-hash: 5d8f}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: serve-5d8f, uid: r, controller: true}]}, spec: {nodeName: n1, containers: [{name: main, image: i}]}, status: {phase: Running}}
---
{apiVersion: scheduling.k8s.io/v1beta1, kind: PodGroup, metadata: {name: gang, namespace: default}, spec: {schedulingPolicy: {basic: {}}}}
`

// ownerObjects are what the server has besides: by path.
var ownerObjects = map[string]string{
	"/apis/batch/v1/namespaces/default/jobs/train": `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"train","namespace":"default","uid":"j"},
		"spec":{"parallelism":2,"template":{"spec":{"containers":[{"name":"main","image":"i"}]}}}}`,
	"/apis/batch/v1/namespaces/default/jobs/new": `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"new","namespace":"default","uid":"n"},
		"spec":{"parallelism":2,"template":{"spec":{"containers":[{"name":"main","image":"i"}]}}}}`,
	"/apis/apps/v1/namespaces/default/deployments/serve": `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"serve","namespace":"default","uid":"d"},
		"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"main","image":"i"}]}}}}`,
	"/apis/batch/v1/namespaces/default/jobs": `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"name":"new"}},{"metadata":{"name":"train"}}]}`,
	"/apis": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"jobset.x-k8s.io"},"versions":[{"version":"v1alpha2","resources":[
		{"resource":"jobsets","singularResource":"jobset","shortNames":["jset"],"scope":"Namespaced","verbs":["get"],"responseKind":{"kind":"JobSet"}}]}]}]}`,
	"/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/many": `{"kind":"JobSet","apiVersion":"jobset.x-k8s.io/v1alpha2","metadata":{"name":"many","namespace":"default","uid":"m"},
		"spec":{"replicatedJobs":[{"name":"w","replicas":2,"template":{"spec":{"parallelism":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}}]}}`,
}

func ownersServer(t *testing.T) (*fakeserver.Server, string) {
	t.Helper()
	fake, url := serverWith(t, ownersCluster)
	for path, body := range ownerObjects {
		fake.Inject(fakeserver.Fault{Match: "^GET " + path + `(\?|$)`, Do: fakeserver.JSON(body)})
	}
	return fake, url
}

// TestOwnersOfAServer asks about objects because of which there are pods: those of their pods that wait, or
// else all, or else one that they would have.
func TestOwnersOfAServer(t *testing.T) {
	const about = `jsonpath={range .items[*]}{.subject.kind} {.subject.name} {.workload.kind};{end}{.subject.kind} {.subject.name} {.workload.kind} {.workload.pods}`
	for args, want := range map[string]string{
		"job/train":                       "Pod train-0  ",
		"jobs train":                      "Pod train-0  ",
		"job.batch/new":                   "Pod new Job 2",
		"deploy serve":                    "Pod serve-5d8f-a ;Pod serve-5d8f-b ;   ",
		"rs/serve-5d8f":                   "Pod serve-5d8f-a ;Pod serve-5d8f-b ;   warning: replicaset default/serve-5d8f was not found; answering for its pods that exist",
		"jset/many":                       "Pod many JobSet 4",
		"job/train pod/train-1 job/new":   "Pod train-0 ;Pod train-1 ;Pod new Job;   ",
		"pod train-0 train-1":             "Pod train-0 ;Pod train-1 ;   ",
		"podgroup gang":                   "error: podgroup default/gang has no pods, and says nothing of those that it would have",
		"job trian":                       `error: job "trian" not found in namespace "default"; did you mean "train"?`,
		"job train -n other":              `error: job "train" not found in namespace "other"; there is one in namespace "default": use -n default`,
		"statefulset x":                   `error: statefulset "x" not found in namespace "default"`,
		"jobsets.example.com x":           `error: unknown type "jobsets.example.com"; there are claim, pod, template, pvc, job and 7 more`,
		"job/train jobset.x-k8s.io/train": `error: unknown type "jobset.x-k8s.io"; there are claim, pod, template, pvc, job and 7 more`,
	} {
		t.Run(args, func(t *testing.T) {
			_, url := ownersServer(t)
			_, stdout, stderr := command(t.Context(), append(append([]string{"explain"}, strings.Fields(args)...), "--server", url, "-o", about)...)
			if got := strings.TrimSuffix(stdout+stderr, "\n"); got != want {
				t.Errorf("%q\nwant %q", got, want)
			}
		})
	}
}

// TestOwnersThatMayNotBeRead: what is missing is named, and the pods that there are still are asked about.
func TestOwnersThatMayNotBeRead(t *testing.T) {
	_, url := func() (*fakeserver.Server, string) {
		fake, url := serverWith(t, ownersCluster)
		fake.Inject(fakeserver.Fault{Match: "^GET /apis/(batch|apps)/", Do: fakeserver.Refuse(http.StatusForbidden, metav1.StatusReasonForbidden, "no")})
		return fake, url
	}()
	code, stdout, stderr := command(t.Context(), "explain", "job/train", "--server", url, "-o", "jsonpath={.subject.name}")
	if want := "warning: cannot get jobs.batch in namespace default: answering for the pods of job default/train that exist\n"; stdout != "train-0" || stderr != want || code == console.ExitUsage {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	code, _, stderr = command(t.Context(), "explain", "sts/none", "--server", url)
	if code != console.ExitFailed || stderr != "error: cannot get statefulsets.apps in namespace default\n" {
		t.Errorf("%d %q", code, stderr)
	}
}

// TestOwnersAreCompleted by their names alone.
func TestOwnersAreCompleted(t *testing.T) {
	fake, url := ownersServer(t)
	for args, want := range map[string]string{
		"explain dep":               "deployment\n:4\n",
		"explain job/":              "job/new\njob/train\n:4\n",
		"explain job/train job/":    "job/new\n:4\n",
		"explain jobs t":            "train\n:4\n",
		"explain claim job/":        ":4\n",
		"explain podgroup ''":       "gang\n:4\n",
		"explain sts/":              ":4\n",
		"explain nothing/":          ":4\n",
		"explain pod/train-0 pod/t": "pod/train-1\n:4\n",
	} {
		fields := strings.Fields(strings.ReplaceAll(args, "''", "\x00"))
		for i := range fields {
			fields[i] = strings.ReplaceAll(fields[i], "\x00", "")
		}
		_, stdout, _ := command(t.Context(), append(append([]string{"__complete"}, fields[:len(fields)-1]...), "--server", url, fields[len(fields)-1])...)
		if stdout != want {
			t.Errorf("%s: %q, want %q", args, stdout, want)
		}
	}
	for _, r := range fake.Requests() {
		if strings.HasSuffix(r.Path, "/jobs/train") {
			t.Errorf("asked for %s", r.Path)
		}
	}
}
