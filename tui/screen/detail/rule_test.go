package detail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestWhomARuleHits: a claim that tolerates a taint for a time does not tolerate it, and a cluster that does
// not act on rules taints nothing.
func TestWhomARuleHits(t *testing.T) {
	const yaml = `
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: r}
spec: {deviceSelector: {driver: d}, taint: {key: k, effect: %s}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: d, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ml}
spec: {devices: {requests: [{name: g, exactly: {deviceClassName: c}}]}}
status: {allocation: {devices: {results: [{request: g, driver: d, pool: n1, device: gpu, tolerations: [%s]}]}}}
`
	for _, tt := range []struct {
		effect, toleration string
		off                bool
		want               string
	}{
		{"NoExecute", "", false, "ml/c does not tolerate it"},
		{"NoExecute", "{key: k, operator: Exists, effect: NoExecute}", false, "ml/c tolerates it"},
		{"NoExecute", "{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 300}", false, "ml/c tolerates it for 300 s"},
		{"NoExecute", "{key: k, operator: Exists}", false, "ml/c does not tolerate it"}, // as the controller that evicts sees it
		{"NoSchedule", "{key: k, operator: Exists}", false, "ml/c tolerates it"},
		{"NoExecute", "", true, "is off"},
	} {
		result, err := manifest.ReadBytes("rule.yaml", fmt.Appendf(nil, yaml, tt.effect, tt.toleration), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateDeviceTaintRules: !tt.off})
		w := screen.NewWorld(t.Context(), 1, inspect.New(result.Objects, inspect.Config{Features: features}))
		s, err := describe(t.Context(), w, screen.Ref{Kind: screen.TaintRule, Name: "r"})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, line := range s.lines(120) {
			b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		}
		if got := b.String(); !strings.Contains(got, tt.want+"\n") || tt.off != strings.Contains(got, "Taints 0 devices") {
			t.Errorf("%s, tolerated by [%s], off %v: %q is missing in\n%s", tt.effect, tt.toleration, tt.off, tt.want, got)
		}
	}
}
