package remedy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// devices is a node with two devices, of which a class with a term accepts none.
const devices = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "1", memory: 1Gi, ephemeral-storage: 1Gi, pods: "9"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: large}
spec: {selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].memory >= 90'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {memory: {int: 80}}}
  - {name: gpu-1, attributes: {memory: {int: 80}}}
---
`

// snapshotOf is a snapshot of what is in texts.
func snapshotOf(t *testing.T, texts ...string) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.ReadBytes("objects.yaml", []byte(strings.Join(texts, "\n---\n")), manifest.Options{})
	if err != nil || len(result.Warnings) > 0 {
		t.Fatal(err, result.Warnings)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateExtendedResource: true})
	return inspect.New(result.Objects, inspect.Config{Features: features})
}

// explained asks about a subject, with the commands of its fixes.
func explained(t *testing.T, s *inspect.Snapshot, kind, name string, asked remedy.Asked) *explain.Explanation {
	t.Helper()
	subject := explain.Subject{Kind: kind, Namespace: "ml", Name: name}
	e, err := question.Named(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), subject, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	remedy.Add(s, e, asked)
	return e
}

// fixOf is the first fix of a kind, and its number.
func fixOf(t *testing.T, e *explain.Explanation, kind explain.FixKind) (*explain.Fix, int) {
	t.Helper()
	at := slices.IndexFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == kind })
	if at < 0 {
		t.Fatalf("%s: no %s among %+v", e.Message, kind, e.Fixes)
	}
	return &e.Fixes[at], at + 1
}

func claim(name, metadata, class, count, status string) string {
	return `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: ` + name + `, namespace: ml` + metadata + `}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: ` + class + `, count: ` + count + `}}]}}
status: {` + status + `}
---
`
}

// allocated is the status of a claim that has a device and that pods have reserved.
func allocated(device string, pods ...string) string {
	status := `allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: n1, device: ` + device + `}]},
  nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}`
	for i, pod := range pods {
		if i == 0 {
			status += ", reservedFor: ["
		}
		status += "{resource: pods, name: " + pod + ", uid: '" + pod + "'},"
	}
	if len(pods) > 0 {
		status += "]"
	}
	return status
}

// pod is a pod that uses claims, each by a claim or template in the words of the API.
func pod(name, metadata, spec string, claims ...string) string {
	text := "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: ml, uid: '" + name + "'" + metadata + "}, spec: {" + spec + "containers: [{name: c, image: i}], resourceClaims: ["
	for i, c := range claims {
		text += "{name: c" + string(rune('0'+i)) + ", " + c + "},"
	}
	return text + "]}}\n---\n"
}

func controlledBy(kind, name string) string {
	return ", ownerReferences: [{apiVersion: apps/v1, kind: " + kind + ", name: " + name + ", uid: x, controller: true}]"
}

// template is one of three devices.
const template = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: three, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 3}}]}}}
---
`

func madeFor(pod string) string {
	return ", annotations: {resource.kubernetes.io/pod-claim-name: c0}, ownerReferences: [{apiVersion: v1, kind: Pod, name: " + pod + ", uid: '" + pod + "', controller: true}]"
}

// waits is a pod that waits with a claim made from the template.
func waits(name, metadata string) string {
	return claim(name+"-c0-x", madeFor(name), "gpu", "3", "") + strings.Replace(pod(name, metadata, "", "resourceClaimTemplateName: three"),
		"]}}", "]}, status: {resourceClaimStatuses: [{name: c0, resourceClaimName: "+name+"-c0-x}]}}", 1)
}

// TestCommands asks how fixes are carried out. The commands were worked out by hand; kubectl 1.37 takes them.
func TestCommands(t *testing.T) {
	args := []string{"claim", "big", "-n", "ml"}
	for _, tt := range []struct {
		name       string
		objects    []string
		kind, asks string
		asked      remedy.Asked
		fix        explain.FixKind
		replaces   bool
		want       []string
	}{
		{
			"a claim", []string{claim("big", "", "gpu", "3", "")}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReduceCount, true,
			[]string{"kubectl dra explain claim big -n ml --fix N -o yaml | kubectl replace --force -f -"},
		},
		{
			"in another context", []string{claim("big", "", "gpu", "3", "")}, "ResourceClaim", "big",
			remedy.Asked{Args: append(slices.Clone(args), "--context", "my cluster"), Flags: []string{"--context", "my cluster"}}, explain.ReduceCount, true,
			[]string{"kubectl dra explain claim big -n ml --context 'my cluster' --fix N -o yaml | kubectl replace --force -f - --context 'my cluster'"},
		},
		{
			"one of several", []string{claim("big", "", "gpu", "3", "")}, "ResourceClaim", "big",
			remedy.Asked{Args: []string{"claim", "big", "other", "-n", "ml"}, Several: true}, explain.ReduceCount, true,
			[]string{"kubectl dra explain claim big other -n ml --fix claim/big:N -o yaml | kubectl replace --force -f -"},
		},
		{
			"a file", []string{claim("big", "", "gpu", "3", "")}, "ResourceClaim", "big",
			remedy.Asked{Args: []string{"-f", "dir/my claim.yaml"}, Files: []string{"dir/my claim.yaml"}}, explain.ReduceCount, true,
			[]string{
				"kubectl dra explain -f 'dir/my claim.yaml' --fix N -o yaml > 'dir/my claim.changed.yaml'",
				"kubectl delete resourceclaim/big -n ml --ignore-not-found",
				"kubectl apply -f 'dir/my claim.changed.yaml'",
			},
		},
		{
			"a class", []string{claim("big", "", "large", "1", "")}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.RelaxSelector, false,
			[]string{"kubectl dra explain claim big -n ml --fix N -o yaml | kubectl replace -f -"},
		},
		{
			"a class that does not exist", []string{claim("big", "", "tpu", "1", "")}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.CreateClass, false,
			[]string{"kubectl dra explain claim big -n ml --fix N -o yaml > fix-N.yaml", "kubectl apply -f fix-N.yaml"},
		},
		{
			"a template, and pods with claims that were made from it", []string{
				template, waits("a", ""), waits("b", controlledBy("Job", "j")), waits("c", controlledBy("Job", "j")),
				pod("d", "", "", "resourceClaimTemplateName: three"), // which has no claim yet
			}, "Pod", "a",
			remedy.Asked{Args: []string{"pod", "a", "-n", "ml"}}, explain.ReduceCount, true,
			[]string{
				"kubectl dra explain pod a -n ml --fix N -o yaml | kubectl replace --force -f -",
				"kubectl get pod a -n ml -o yaml | kubectl replace --force -f -",
				"kubectl delete pod b c -n ml",
			},
		},
		{
			"a claim that nobody reserves", []string{claim("big", "", "gpu", "2", ""), claim("idle", "", "gpu", "1", allocated("gpu-0"))}, "ResourceClaim", "big",
			remedy.Asked{Args: args}, explain.ReleaseClaim, false,
			[]string{"kubectl dra deallocate claim idle -n ml"},
		},
		{
			"a claim that a pod reserves which is gone", []string{claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0", "gone"))},
			"ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReleaseClaim, false, nil,
		},
		{
			"a claim of a pod", []string{claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0", "p")), pod("p", "", "nodeName: n1, ", "resourceClaimName: held")},
			"ResourceClaim", "big", remedy.Asked{Args: args, Flags: []string{"--context", "prod"}}, explain.ReleaseClaim, false,
			[]string{"kubectl delete pod p -n ml --context prod"},
		},
		{
			"a claim of a pod that is being deleted", []string{
				claim("big", "", "gpu", "2", ""), pod("p", "", "nodeName: n1, ", "resourceClaimName: held"),
				strings.Replace(claim("held", "", "gpu", "1", allocated("gpu-0", "p")), "name: held", `name: held, deletionTimestamp: "2026-11-20T00:00:00Z"`, 1),
			},
			"ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReleaseClaim, false,
			[]string{"kubectl delete pod p -n ml"},
		},
		{
			"a claim of all pods of a Deployment", []string{
				claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0", "p", "q")),
				pod("p", ", labels: {pod-template-hash: abc}"+controlledBy("ReplicaSet", "web-abc"), "nodeName: n1, ", "resourceClaimName: held"),
				pod("q", ", labels: {pod-template-hash: abc}"+controlledBy("ReplicaSet", "web-abc"), "nodeName: n1, ", "resourceClaimName: held"),
			}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReleaseClaim, false,
			[]string{"kubectl scale deployment/web -n ml --replicas=0"},
		},
		{
			"a claim of one pod of a StatefulSet", []string{
				claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0", "p-0")),
				pod("p-0", controlledBy("StatefulSet", "p"), "nodeName: n1, ", "resourceClaimName: held"),
				pod("p-1", controlledBy("StatefulSet", "p"), "nodeName: n1, "),
			}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReleaseClaim, false,
			[]string{"kubectl delete pod p-0 -n ml"},
		},
		{
			"a claim of a Job", []string{
				claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0", "p")),
				pod("p", controlledBy("Job", "j"), "nodeName: n1, ", "resourceClaimName: held"),
			}, "ResourceClaim", "big", remedy.Asked{Args: args}, explain.ReleaseClaim, false,
			[]string{`kubectl patch job/j -n ml --type=merge -p '{"spec":{"suspend":true}}'`},
		},
		{
			"a pod", []string{claim("one", "", "gpu", "1", ""), pod("p", "", "", "resourceClaimName: onne")}, "Pod", "p",
			remedy.Asked{Args: []string{"pod", "p", "-n", "ml"}}, explain.UseClaim, true,
			[]string{"kubectl dra explain pod p -n ml --fix N -o yaml | kubectl replace --force -f -"},
		},
		{
			"a pod of a Deployment", []string{
				claim("one", "", "gpu", "1", ""),
				pod("p", ", labels: {pod-template-hash: abc}"+controlledBy("ReplicaSet", "web-abc"), "", "resourceClaimName: onne"),
			}, "Pod", "p", remedy.Asked{Args: []string{"pod", "p", "-n", "ml"}}, explain.UseClaim, false,
			[]string{`kubectl patch deployment/web -n ml --type=json -p '[{"op":"test","path":"/spec/template/spec/resourceClaims/0/resourceClaimName","value":"onne"},{"op":"replace","path":"/spec/template/spec/resourceClaims/0/resourceClaimName","value":"one"}]'`},
		},
		{
			"a pod of a Job", []string{claim("one", "", "gpu", "1", ""), pod("p", controlledBy("Job", "j"), "", "resourceClaimName: onne")}, "Pod", "p",
			remedy.Asked{Args: []string{"pod", "p", "-n", "ml"}}, explain.UseClaim, true, nil,
		},
		{
			"a cordoned node", []string{
				`{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true}, status: {allocatable: {cpu: "1", memory: 1Gi, ephemeral-storage: 1Gi, pods: "9"}}}`,
				claim("one", "", "gpu", "1", ""), pod("p", "", "", "resourceClaimName: one"),
			}, "Pod", "p", remedy.Asked{Args: []string{"pod", "p", "-n", "ml"}}, explain.UncordonNode, false,
			[]string{"kubectl uncordon n1"},
		},
		{
			"a taint rule", []string{
				claim("one", "", "gpu", "1", ""),
				"{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: upgrade}, spec: {deviceSelector: {driver: gpu.example.com}, taint: {key: upgrade, effect: NoSchedule}}}",
			}, "ResourceClaim", "one", remedy.Asked{Args: []string{"claim", "one", "-n", "ml"}}, explain.RemoveTaint, false,
			[]string{"kubectl delete devicetaintrule upgrade"},
		},
		{
			"standard input", []string{claim("big", "", "gpu", "3", "")}, "ResourceClaim", "big",
			remedy.Asked{Args: []string{"-f", "-"}, Files: []string{"-"}, Once: true}, explain.ReduceCount, true, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := devices
			if tt.fix == explain.UncordonNode {
				base = strings.Replace(devices, `{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "1", memory: 1Gi, ephemeral-storage: 1Gi, pods: "9"}}}`, "", 1)
			}
			e := explained(t, snapshotOf(t, append([]string{base}, tt.objects...)...), tt.kind, tt.asks, tt.asked)
			f, n := fixOf(t, e, tt.fix)
			var want []string
			for _, line := range tt.want {
				number := string(rune('0' + n))
				want = append(want, strings.NewReplacer("--fix N", "--fix "+number, ":N ", ":"+number+" ", "fix-N", "fix-"+number).Replace(line))
			}
			if !slices.Equal(f.Commands, want) || f.Replaces != tt.replaces {
				t.Errorf("replaces %t\n%s\nwant\n%s\n%q", f.Replaces, strings.Join(f.Commands, "\n"), strings.Join(want, "\n"), f.Remarks)
			}
		})
	}
}

// TestRemakesOnce: a pod that is written anew with a template is not made anew again for it.
func TestRemakesOnce(t *testing.T) {
	s := snapshotOf(t, devices, template, waits("a", ""), waits("b", ""))
	e := &explain.Explanation{Subject: explain.Subject{Kind: "Pod", Namespace: "ml", Name: "a"}, Fixes: []explain.Fix{{Changes: []explain.ObjectChange{
		{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimTemplate", Namespace: "ml", Name: "three"}, {APIVersion: "v1", Kind: "Pod", Namespace: "ml", Name: "a"},
	}}}}
	remedy.Add(s, e, remedy.Asked{Args: []string{"pod", "a", "-n", "ml"}})
	want := []string{"kubectl dra explain pod a -n ml --fix 1 -o yaml | kubectl replace --force -f -", "kubectl get pod b -n ml -o yaml | kubectl replace --force -f -"}
	if !slices.Equal(e.Fixes[0].Commands, want) {
		t.Errorf("%q, want %q", e.Fixes[0].Commands, want)
	}
}

// TestDemo: commands of the demo say that they would reach a real cluster; where there is no command, nothing
// is said.
func TestDemo(t *testing.T) {
	s := snapshotOf(t, devices, claim("big", "", "gpu", "3", ""))
	for _, demo := range []bool{false, true} {
		e := explained(t, s, "ResourceClaim", "big", remedy.Asked{Args: []string{"claim", "big", "-n", "ml"}, Demo: demo})
		for i := range e.Fixes {
			f := &e.Fixes[i]
			said := slices.ContainsFunc(f.Remarks, func(r string) bool { return strings.HasPrefix(r, "The demo has no API server") })
			if said != (demo && len(f.Commands) > 0) {
				t.Errorf("demo %t: %q with %q", demo, f.Remarks, f.Commands)
			}
		}
	}
}

// TestNamesInCommands: what comes from a cluster cannot become another command, nor a flag.
func TestNamesInCommands(t *testing.T) {
	for _, tt := range []struct {
		word, quoted string
		ok           bool
	}{
		{"train-0", "train-0", true},
		{"a/b.c:d=e,f@g%h+i_j", "a/b.c:d=e,f@g%h+i_j", true},
		{"a b", "'a b'", true},
		{"$(reboot)", "'$(reboot)'", true},
		{"a;b", "'a;b'", true},
		{"~root", "'~root'", true},
		{"a\"b`c\\d!e*f", "'a\"b`c\\d!e*f'", true},
		{"it's", `'it'\''s'`, true},
		{"ä", "'ä'", true},
		{"a\nb", "", false},
		{"a\x1b[2Jb", "", false},
		{"a\u202eb", "", false},
		{"", "", false},
	} {
		if quoted, ok := remedy.Quote(tt.word); quoted != tt.quoted || ok != tt.ok {
			t.Errorf("%q is written as %s, %t, want %s, %t", tt.word, quoted, ok, tt.quoted, tt.ok)
		}
	}
	for name, want := range map[string]string{
		"held; reboot": "kubectl dra deallocate claim 'held; reboot' -n ml", "--all": "", "a\u200bb": "",
	} {
		s := snapshotOf(t, devices, claim("big", "", "gpu", "2", ""), claim("held", "", "gpu", "1", allocated("gpu-0")))
		s = s.With(func(o *inspect.Objects) {
			for i, c := range o.Claims {
				if c.Name == "held" {
					o.Claims[i] = c.DeepCopy()
					o.Claims[i].Name = name
				}
			}
		})
		e := explained(t, s, "ResourceClaim", "big", remedy.Asked{Args: []string{"claim", "big", "-n", "ml"}})
		if f, _ := fixOf(t, e, explain.ReleaseClaim); strings.Join(f.Commands, "\n") != want {
			t.Errorf("a claim called %q: %q, want %q", name, f.Commands, want)
		}
	}
}

// TestMoveWaits: the wait for the pod in the place of another selects by labels that it will have on any
// node, and ends by itself.
func TestMoveWaits(t *testing.T) {
	s := snapshotOf(t, `{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {rack: r1, topology.kubernetes.io/zone: a, tier: gold}}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ml, labels: {app: web, rack: r1, topology.kubernetes.io/zone: b, tier: silver}}, spec: {nodeName: n1, containers: [{name: c, image: x}]}}`)
	m := &explain.Moves{Subject: explain.Subject{Kind: "Pod", Namespace: "ml", Name: "new"}, Target: &explain.PlacedPod{Node: "n1"},
		Moves: []explain.Move{{Pod: explain.Subject{Kind: "Pod", Namespace: "ml", Name: "p"}, From: "n1", To: "n2"}}}
	remedy.AddMoves(s, m, remedy.Asked{})
	script := strings.Join(m.Commands, "\n")
	if !strings.Contains(script, "-l app=web,tier=silver | wc -l) -ge 1 ] && break") || strings.Contains(script, "until ") {
		t.Errorf("commands\n%s", script)
	}
}

// TestManyPods: all pods that wait with a claim of a template that is changed are made anew, the one that was
// asked about too.
func TestManyPods(t *testing.T) {
	waiting := func(n int, owner string) string {
		var b strings.Builder
		for i := range n {
			name := fmt.Sprintf("w-%d", i)
			text := pod(name, `, labels: {app: w, n: "`+fmt.Sprint(i)+`"}, `+owner, "", "resourceClaimTemplateName: t")
			text = strings.TrimSuffix(text, "}\n---\n") + ", status: {phase: Pending, resourceClaimStatuses: [{name: c0, resourceClaimName: c-" + name + "}]}}\n---\n"
			made := ", annotations: {resource.kubernetes.io/pod-claim-name: c0}, ownerReferences: [{apiVersion: v1, kind: Pod, name: " + name + ", uid: " + name + ", controller: true}]"
			b.WriteString(text + claim("c-"+name, made, "gpu", "3", ""))
		}
		return b.String()
	}
	template := `
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 3}}]}}}
`
	owner := func(kind string) string {
		return "ownerReferences: [{apiVersion: apps/v1, kind: " + kind + ", name: w, uid: w, controller: true}]"
	}
	for _, tt := range []struct {
		name, owner string
		pods        int
		want        string
	}{
		{"few", owner("StatefulSet"), 3, "kubectl delete pod w-2 w-0 w-1 -n ml"},
		{"many", owner("StatefulSet"), 20, "kubectl delete pod -l app=w --field-selector=spec.nodeName= -n ml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshotOf(t, devices, template, waiting(tt.pods, tt.owner))
			e := explained(t, s, "Pod", "w-2", remedy.Asked{Args: []string{"pod", "w-2"}})
			f, _ := fixOf(t, e, explain.ReduceCount)
			if last := f.Commands[len(f.Commands)-1]; last != tt.want {
				t.Errorf("commands %q, want the last to be %s", f.Commands, tt.want)
			}
		})
	}
}

// TestCountAnew: Kueue counts what a changed claim template asks for when its Workload changes.
func TestCountAnew(t *testing.T) {
	s := snapshotOf(t, `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: two, namespace: ml, uid: uid-1}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}`)
	workload := &explain.Subject{Kind: "Workload", Namespace: "ml", Name: "job-j"}
	for _, c := range []struct {
		recounts *explain.Subject
		asked    remedy.Asked
		want     string
	}{
		{workload, remedy.Asked{Args: []string{"job/j"}}, "kubectl label workload.kueue.x-k8s.io/job-j -n ml --overwrite kubectl-dra.dev/replaced-template=uid-1"},
		{nil, remedy.Asked{Args: []string{"job/j"}}, "kubectl dra explain job/j --fix 1 -o yaml | kubectl replace --force -f -"},
		{workload, remedy.Asked{Files: []string{"j.yaml"}}, "kubectl apply -f j.changed.yaml"},
	} {
		e := &explain.Explanation{
			Subject: explain.Subject{Kind: "Pod", Namespace: "ml", Name: "j"},
			Fixes:   []explain.Fix{{Kind: explain.ReduceCount, Recounts: c.recounts, Changes: []explain.ObjectChange{{Kind: "ResourceClaimTemplate", Namespace: "ml", Name: "two"}}}},
		}
		remedy.Add(s, e, c.asked)
		if got := e.Fixes[0].Commands; len(got) == 0 || got[len(got)-1] != c.want {
			t.Errorf("%q, want %q as the last", got, c.want)
		}
		want := []explain.Actor{explain.User}
		if c.recounts != nil {
			want = append(want, explain.ClusterAdmin)
		}
		if got := e.Fixes[0].Actors(e.Subject); !slices.Equal(got, want) {
			t.Errorf("%v act, want %v", got, want)
		}
	}
}
