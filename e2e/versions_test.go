package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestReadOldCluster reads a server of Kubernetes 1.34: claims at v1, but taint rules only at v1alpha3,
// where they may select by CEL, and other gates by default. It has to compile a second control plane, so
// it runs only when asked for.
func TestReadOldCluster(t *testing.T) {
	t.Parallel()
	if os.Getenv("KUBECTL_DRA_E2E_OLD") == "" {
		t.Skip("set KUBECTL_DRA_E2E_OLD=1 to compile and start Kubernetes 1.34 as well")
	}
	c := cluster.Start(t, cluster.Options{Version: "v1.34", NoScheduler: true, FeatureGates: "DRADeviceTaints=true"})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2))
	c.ApplyText(t, objectsYAML)
	c.ApplyText(t, `apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: plain}
spec: {deviceSelector: {driver: gpu.example.com, device: gpu-1}, taint: {key: example.com/broken, effect: NoSchedule}}
---
apiVersion: resource.k8s.io/v1alpha3
kind: DeviceTaintRule
metadata: {name: by-cel}
spec: {deviceSelector: {selectors: [{cel: {expression: "false"}}]}, taint: {key: example.com/broken, effect: NoSchedule}}
`)
	got := read(t, c, cluster.Admin, live.Options{PageSize: 1})
	if h := got.Health[inspect.Claims]; h.State != inspect.Synced || h.Version != "resource.k8s.io/v1" || len(got.Objects.Claims) != 2 {
		t.Errorf("claims: %+v, %d of them; want both at v1", h, len(got.Objects.Claims))
	}
	rules := got.Objects.TaintRules
	if h := got.Health[inspect.TaintRules]; h.State != inspect.Broken || h.Version != "resource.k8s.io/v1alpha3" || !strings.Contains(h.Message, "left out by-cel:") {
		t.Errorf("taint rules: %+v, want that by-cel is left out", h)
	}
	if len(rules) != 1 || rules[0].Name != "plain" || *rules[0].Spec.DeviceSelector.Device != "gpu-1" {
		t.Errorf("taint rules: %+v, want only the plain one", rules)
	}
	if got.Features.Minor != 34 || !strings.HasPrefix(got.Features.Source, "feature gates of the API server") {
		t.Errorf("minor %d, source %q", got.Features.Minor, got.Features.Source)
	}
	checkGates(t, c, got.Features, []inspect.Gate{inspect.GateDeviceTaints})
	if !got.Features.Enabled(inspect.GateDeviceTaintRules) {
		t.Error("taint rules are taken to be off, but in 1.34 DRADeviceTaints turns them on")
	}
	var answer explanation
	result := c.Plugin(t, cluster.Admin, "explain", "claim", "two", "-n", "other", "-o", "json")
	result.JSON(t, &answer)
	if len(answer.Partial) == 0 {
		t.Errorf("a taint rule was left out, but nothing is partial\n%v", result)
	}
}
