package checkup_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// tolerant are claims of a device that tolerate the taint hot, for a while and for ever, and a pod of each.
const tolerant = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: patient}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
status:
  reservedFor: [{resource: pods, name: patient, uid: pod-patient}]
  allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: n1, device: gpu-1, tolerations: [{key: hot, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: ml, name: patient, uid: pod-patient}
spec: {nodeName: n1, containers: [{name: m, image: x}], resourceClaims: [{name: gpu, resourceClaimName: patient}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: ml, name: stoic}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
status:
  reservedFor: [{resource: pods, name: stoic, uid: pod-stoic}]
  allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: n2, device: gpu-0, tolerations: [{key: hot, operator: Exists, effect: NoExecute}]}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: ml, name: stoic, uid: pod-stoic}
spec: {nodeName: n2, containers: [{name: m, image: x}], resourceClaims: [{name: gpu, resourceClaimName: stoic}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
`

// TestPreviewRule checks whom a rule evicts, and when: who does not tolerate it at once, who tolerates it for
// a while later.
func TestPreviewRule(t *testing.T) {
	newest, _ := read(t, "", healthy(t), tolerant)
	for name, test := range map[string]struct {
		spec, features string
		want           string
	}{
		"no selector": {"{taint: {key: hot, effect: NoExecute}}", "", `
DeviceTaintRule r taints 0 devices with hot:NoExecute
`},
		"no selector, 1.37.0": {"{taint: {key: hot, effect: NoExecute}}", "server=v1.37.0", `
DeviceTaintRule r taints 4 devices with hot:NoExecute
! The rule has no device selector. kube-scheduler 1.37.0 takes that for every
  device; the controller that evicts pods takes it for none.
  devices: 4
    gpu.example.com/n1/gpu-0
    gpu.example.com/n1/gpu-1
    gpu.example.com/n2/gpu-0
    gpu.example.com/n2/gpu-1
  claims that hold them: 3
    ml/patient
    ml/stoic
    ml/train-0
  pods that stay: 3
    ml/patient
    ml/stoic
    ml/train-0
`},
		"all": {"{deviceSelector: {driver: gpu.example.com}, taint: {key: hot, effect: NoExecute}}", "", `
DeviceTaintRule r taints 4 devices with hot:NoExecute
  devices: 4
    gpu.example.com/n1/gpu-0
    gpu.example.com/n1/gpu-1
    gpu.example.com/n2/gpu-0
    gpu.example.com/n2/gpu-1
  claims that hold them: 3
    ml/patient
    ml/stoic
    ml/train-0
  evicts at once, or when a toleration is over: 2
    pod ml/train-0 at once (gpu.example.com/n1/gpu-0)
    pod ml/patient in 5m (gpu.example.com/n1/gpu-1)
  pods that stay: 1
    ml/stoic
`},
		"another key": {"{deviceSelector: {pool: n2}, taint: {key: cold, effect: NoExecute}}", "", `
DeviceTaintRule r taints 2 devices with cold:NoExecute
  devices: 2
    gpu.example.com/n2/gpu-0
    gpu.example.com/n2/gpu-1
  claims that hold them: 1
    ml/stoic
  evicts at once, or when a toleration is over: 1
    pod ml/stoic at once (gpu.example.com/n2/gpu-0)
`},
		"no eviction": {"{deviceSelector: {pool: n1, device: gpu-0}, taint: {key: hot, effect: NoSchedule}}", "", `
DeviceTaintRule r taints 1 device with hot:NoSchedule
  devices: 1
    gpu.example.com/n1/gpu-0
  claims that hold them: 1
    ml/train-0
  would evict, if the effect were NoExecute: 1
    pod ml/train-0 at once (gpu.example.com/n1/gpu-0)
`},
		"gate off": {"{deviceSelector: {pool: n9}, taint: {key: hot, effect: NoExecute}}", "DRADeviceTaintRules=false", `
DeviceTaintRule r taints 0 devices with hot:NoExecute
! The cluster does not look at such rules: a feature gate is off. The rest is
  what would be if it did.
`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newest
			if strings.HasPrefix(test.features, "server=") {
				s, _ = read(t, test.features, healthy(t), tolerant)
			} else if gates, _ := inspect.ParseFeatures(test.features); len(gates) > 0 {
				s = s.WithFeatures(s.Features().With(gates))
			}
			given, err := manifest.ReadBytes("rule.yaml", []byte("apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: "+test.spec), manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rule := given.Objects.TaintRules[0]
			var b strings.Builder
			for _, line := range checkup.PreviewRule(s, rule).Lines(checkup.Layout{Width: 80}) {
				b.WriteString(line.String() + "\n")
			}
			if got, want := b.String(), strings.TrimPrefix(test.want, "\n"); got != want {
				t.Errorf("preview\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestRulesEvict: the controller of 1.34 sees taints as its scheduler does. So a rule without a selector
// evicts from every device there, and one for a device that is not published from none. Later it is the other
// way around.
func TestRulesEvict(t *testing.T) {
	gone := strings.ReplaceAll(strings.ReplaceAll(tolerant, "key: hot", "key: cold"), "device: gpu-1", "device: gpu-9")
	for _, test := range []struct{ server, spec, want string }{
		{"v1.34.13", "{taint: {key: hot, effect: NoExecute}}", "ml/stoic ml/train-0"},
		{"v1.34.13", "{deviceSelector: {device: gpu-9}, taint: {key: hot, effect: NoExecute}}", ""},
		{"v1.34.13", "{deviceSelector: {device: gpu-0}, taint: {key: hot, effect: NoExecute}}", "ml/stoic ml/train-0"},
		{"v1.35.0", "{taint: {key: hot, effect: NoExecute}}", ""},
		{"v1.35.0", "{deviceSelector: {device: gpu-9}, taint: {key: hot, effect: NoExecute}}", "ml/patient"},
		{"v1.37.2", "{taint: {key: hot, effect: NoExecute}}", ""},
		{"v1.37.2", "{deviceSelector: {device: gpu-9}, taint: {key: hot, effect: NoExecute}}", "ml/patient"},
	} {
		s, _ := read(t, "server="+test.server, healthy(t), gone)
		given, err := manifest.ReadBytes("rule.yaml", []byte("apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: "+test.spec), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var evicted []string
		p := checkup.PreviewRule(s, given.Objects.TaintRules[0])
		for _, e := range p.Evicted {
			evicted = append(evicted, e.Pod.String())
		}
		if got := strings.Join(evicted, " "); got != test.want {
			t.Errorf("%s: %s evicts %q, want %q", test.server, test.spec, got, test.want)
		}
		if says := strings.Contains(p.NoSelector, "and the controller that evicts pods"); says != (test.want != "" && !strings.Contains(test.spec, "deviceSelector")) {
			t.Errorf("%s: %s: %q", test.server, test.spec, p.NoSelector)
		}
	}
}

// TestPreviewEmptied: a pool whose newest slices have no devices has none that a rule could taint.
func TestPreviewEmptied(t *testing.T) {
	const slice = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec: {driver: d, nodeName: n1, pool: {name: emptied, generation: %d, resourceSliceCount: 1}, devices: [%s]}\n"
	s, _ := read(t, "", healthy(t), fmt.Sprintf(slice, "old", 1, "{name: gone}"), fmt.Sprintf(slice, "new", 2, ""))
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: new("d")}
	if p := checkup.PreviewRule(s, rule); len(p.Devices) > 0 {
		t.Errorf("it would taint %v", p.Devices)
	}
}

// TestRuleTable pins what thirty rules of different kinds would do to one cluster. The end-to-end tests
// create each of them, and hold the numbers of devices and pods against what the controller that evicts pods
// says, and the pods against those that it evicts.
func TestRuleTable(t *testing.T) {
	const table = "../../e2e/testdata/taintrules/"
	result, err := manifest.Read(context.Background(), []string{table + "scene.yaml", table + "rules.yaml"}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules := result.Objects.TaintRules
	result.Objects.TaintRules = nil
	s := inspect.New(result.Objects, inspect.Config{Revision: 1, Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health, ServerVersion: "v1.37.2"}) // as that control plane
	var b strings.Builder
	for _, rule := range rules {
		p := checkup.PreviewRule(s, rule)
		fmt.Fprintf(&b, "%s: %d devices, %d allocated, %d pods\n", rule.Name, len(p.Devices), p.Allocated, len(p.Evicted))
		for _, e := range p.Evicted {
			fmt.Fprintf(&b, "    %s after %v\n", e.Pod, e.At.Sub(now))
		}
	}
	const path = "testdata/rules.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("previews\n%s", b.String())
	}
}

// TestEventOfExtendedResources: a pod that has a tainted device as an extended resource is evicted from
// 1.37.2 on, if its claim was made for it. Before, it is named among those that stay, once, whatever number
// of rules taint its device.
func TestEventOfExtendedResources(t *testing.T) {
	given, err := manifest.ReadBytes("rules.yaml", []byte(`
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: all}
spec: {deviceSelector: {driver: gpu.example.com}, taint: {key: hot, effect: NoExecute}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: one}
spec: {deviceSelector: {pool: n1}, taint: {key: broken, effect: NoExecute}}
`), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owned := faultObjects(t, "EvictionSkipped")
	ofNobody := strings.Replace(owned, ", ownerReferences: [{apiVersion: v1, kind: Pod, name: old, uid: pod-old, controller: true}]", "", 1)
	for _, test := range []struct{ server, objects, want string }{
		{"v1.37.1", owned, "ml/old stays on tainted devices: Kubernetes 1.37.1 evicts no pod for devices that it has as extended resources (1.37.2 does); delete it yourself\nml/train-0 goes\n"},
		{"v1.37.2", owned, "ml/old goes\nml/train-0 goes\n"},
		{"v1.37.2", ofNobody, "ml/train-0 goes\n"},
	} {
		s, _ := read(t, "server="+test.server, healthy(t), test.objects)
		e := checkup.RulesEvent(s, given.Objects.TaintRules)
		got := ""
		for _, n := range e.Besides {
			got += n.Namespace + "/" + n.Name + " " + n.Message + "\n"
		}
		var gone []string
		for _, v := range e.Evicted {
			gone = append(gone, v.Pod.Namespace+"/"+v.Pod.Name+" goes\n")
		}
		slices.Sort(gone)
		if got += strings.Join(gone, ""); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.server, got, test.want)
		}
	}
}
