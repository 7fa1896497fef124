package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/podtemplate"
)

const claimsOfPod = `{containers: [{name: c, image: x}], resourceClaims: [{name: gpu, resourceClaimTemplateName: t}], tolerations: [{key: k, operator: Exists}]}`

// TestWorkloads: where pod templates are found, how many pods each is for, and what the pods are called.
func TestWorkloads(t *testing.T) {
	for name, test := range map[string]struct {
		text string // @ is the spec of a pod
		want []string
	}{
		"Deployment":            {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 8, template: {metadata: {labels: {l: v}}, spec: @}}}", []string{"a spec.template /spec/template/spec 8 l=v"}},
		"without a number":      {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {template: {spec: @}}}", []string{"a spec.template /spec/template/spec 1"}},
		"none at present":       {"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 0, template: {spec: @}}}", []string{"a spec.template /spec/template/spec 0"}},
		"DaemonSet":             {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: {spec: @}}}", []string{"a spec.template /spec/template/spec each"}},
		"Job":                   {"{apiVersion: batch/v1, kind: Job, metadata: {generateName: a-}, spec: {parallelism: 4, completions: 3, template: {spec: @}}}", []string{"a spec.template /spec/template/spec 3"}},
		"CronJob":               {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {parallelism: 2, template: {spec: @}}}}}", []string{"a spec.jobTemplate.spec.template /spec/jobTemplate/spec/template/spec 2"}},
		"PodTemplate":           {"{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, template: {spec: @}}", []string{"a template /template/spec ?"}},
		"JobSet":                {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: a}, spec: {replicatedJobs: [{name: lead, template: {spec: {template: {spec: @}}}}, {name: work, replicas: 2, template: {spec: {parallelism: 3, template: {spec: @}}}}]}}", []string{"a-lead spec.replicatedJobs[0].template.spec.template /spec/replicatedJobs/0/template/spec/template/spec 1", "a-work spec.replicatedJobs[1].template.spec.template /spec/replicatedJobs/1/template/spec/template/spec 6"}},
		"LeaderWorkerSet":       {"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}, spec: {replicas: 3, leaderWorkerTemplate: {size: 4, leaderTemplate: {spec: @}, workerTemplate: {spec: @}}}}", []string{"a-leader spec.leaderWorkerTemplate.leaderTemplate /spec/leaderWorkerTemplate/leaderTemplate/spec 3", "a-worker spec.leaderWorkerTemplate.workerTemplate /spec/leaderWorkerTemplate/workerTemplate/spec 9"}},
		"groups without leader": {"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}, spec: {leaderWorkerTemplate: {size: 4, workerTemplate: {spec: @}}}}", []string{"a spec.leaderWorkerTemplate.workerTemplate /spec/leaderWorkerTemplate/workerTemplate/spec 4"}},
		"RayCluster":            {"{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: a}, spec: {headGroupSpec: {template: {spec: @}}, workerGroupSpecs: [{groupName: gpu, replicas: 2, numOfHosts: 4, template: {spec: @}}]}}", []string{"a-head spec.headGroupSpec.template /spec/headGroupSpec/template/spec ?", "a-gpu spec.workerGroupSpecs[0].template /spec/workerGroupSpecs/0/template/spec 8"}},
		"Kueue Workload":        {"{apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: a}, spec: {podSets: [{name: main, count: 5, template: {spec: @}}]}}", []string{"a spec.podSets[0].template /spec/podSets/0/template/spec 5"}},
		"spec by itself":        {"{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {predictor: {minReplicas: 1, containers: [{name: c}], tolerations: [{key: k, operator: Exists}], resourceClaims: [{name: gpu, resourceClaimName: t}]}}}", []string{"a spec.predictor /spec/predictor ?"}},
		"virtual machine":       {"{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: {template: {spec: {domain: {cpu: {cores: 2}}, volumes: [{name: v, containerDisk: {image: i}}], tolerations: [{key: k, operator: Exists}], resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]}}}}", []string{"a spec.template /spec/template/spec 1 unseen"}},
		"nothing known":         {"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {deep: [[{er: {pod/template: {spec: @}}}]]}}", []string{"a spec.deep[0][0].er[pod/template] /spec/deep/0/0/er/pod~1template/spec ?"}},
		"what is reported":      {"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: {template: {spec: @}}}", nil},
		"usage":                 {"{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {name: a}, containers: [{name: c, usage: {cpu: 1}}]}", nil},
		"a copy":                {"{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: a}, data: {spec: {template: {spec: @}}}}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(strings.ReplaceAll(test.text, "@", claimsOfPod))
			r, err := ReadBytes("f", text, Options{Namespace: "ml", Workloads: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range r.Workloads {
				line := fmt.Sprintf("%s %s %s", w.Pod.Name, w.Path, w.SpecPointer)
				switch {
				case w.EachNode:
					line += " each"
				case w.Replicas == nil:
					line += " ?"
				default:
					line += fmt.Sprintf(" %d", *w.Replicas)
				}
				if w.Unseen {
					line += " unseen"
				}
				if label := w.Labels["l"]; label != "" {
					line += " l=" + label
				}
				got = append(got, line)
				if w.Name != "a" || w.Namespace != "ml" || len(w.Spec.ResourceClaims) != 1 || len(w.Spec.Tolerations) == 0 || w.Spec.SchedulerName == "" {
					t.Errorf("incomplete: %+v", w)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			for _, w := range r.Warnings {
				t.Errorf("warning: %s", w)
			}
			if skipped := len(r.Skipped) > 0; skipped != (test.want == nil) {
				t.Errorf("skipped %v", r.Skipped)
			}
			if r, err := ReadBytes("f", text, Options{}); err != nil || len(r.Workloads) > 0 || len(r.Skipped)+len(r.Objects.KueueWorkloads) != 1 {
				t.Errorf("without asking: %v, %+v", err, r)
			}
		})
	}
}

// TestBrokenWorkloads: a template that cannot be decoded is left out with the place of the mistake, and the
// rest goes on.
func TestBrokenWorkloads(t *testing.T) {
	r, err := ReadBytes("f", []byte(`
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: 5}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: {template: {spec: {containers: [{name: c}], resourceClaim: []}}}}
---
{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: c}]}}}}
`), Options{Workloads: true})
	if err != nil || len(r.Workloads) != 1 || len(r.Warnings) != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	for i, want := range []string{
		"f:2: Deployment a: spec.template.spec.containers[0].image: left out, since its pod template cannot be decoded: the number 5 is given where a string is expected",
		"f:4: Deployment default/b: spec.template.spec.resourceClaim: unknown field; it is ignored (field names are case-sensitive: resourceClaims)",
		"f:6: Deployment: metadata.name: left out: an object needs a name",
	} {
		if got := r.Warnings[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestWorkloadsAreBounded: neither deep nor many templates take long or much.
func TestWorkloadsAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 300) + `{"containers":[{"name":"c"}]}` + strings.Repeat("}", 300)
	many := strings.Repeat(`{"containers":[{"name":"c"}]},`, 20_000) + "{}"
	for name, text := range map[string]string{"deep": deep, "many": "[" + many + "]"} {
		r, err := ReadBytes("f", []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":`+text+`}`), Options{Workloads: true})
		if err != nil || len(r.Workloads) > podtemplate.Most || name == "deep" && len(r.Workloads) > 0 {
			t.Errorf("%s: %v, %d workloads", name, err, len(r.Workloads))
		}
	}
}

// TestHostileWorkloads: quantities that take hours to parse are refused in pod templates too, wherever they
// stand.
func TestHostileWorkloads(t *testing.T) {
	const container = `{"name":"c","resources":{"limits":{"cpu":"1e-2000000000"}}}`
	for name, text := range map[string]string{
		"a template":        `{"template":{"spec":{"containers":[` + container + `]}}}`,
		"a spec by itself":  `{"predictor":{"containers":[` + container + `]}}`,
		"beside a mistake":  `{"template":{"spec":{"nodeName":7,"containers":[` + container + `]}}}`,
		"without its field": `{"template":{"spec":{"resourceClaims":[{"name":"a","resourceClaimName":"b"}],"overhead":{"cpu":"1e-2000000000"}}}}`,
	} {
		began := time.Now()
		r, err := ReadBytes("f", []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":`+text+`}`), Options{Workloads: true})
		if err != nil {
			t.Fatal(err)
		}
		if name != "without its field" && (len(r.Workloads) > 0 || len(r.Warnings) != 1) {
			t.Errorf("%s: %d workloads, %v", name, len(r.Workloads), r.Warnings)
		}
		if took := time.Since(began); took > time.Minute { // hours, if they were parsed
			t.Errorf("%s: took %v", name, took)
		}
	}
}
