package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// Selectors about which the API server and the scheduler think differently.
const (
	// The API server takes a value of type Any for an attribute, whose type that is while lists are off.
	// The scheduler compiles with all that is known to it, and then attributes are of another type.
	onlyServer = `google.protobuf.Any{}`
	// For the same reason the scheduler takes a value of type dyn, and the API server does not.
	onlyScheduler = `dyn(true)`
	// A function that needs the gate for lists.
	withLists = `device.attributes["gpu.example.com"].index.includes(0)`
)

// further selectors are at the limits of what the API server accepts, or beyond.
var further = []string{
	onlyServer, onlyScheduler, withLists, "", " ", "true", "false", "1", "(", `device`, `device.attributes["d"].x`, `device.attributes["d"].?x`,
	`device.allowMultipleAllocations`, `google.protobuf.BoolValue{value: true}`, `google.protobuf.Value{bool_value: true}`, `[dyn(true)][0]`,
	`true ? device.attributes["d"].x : google.protobuf.Any{}`, "device.driver ==\n\"x\" // why", `cel.bind(d, device.attributes["d"], d.x && d.y)`,
	`device.driver == "` + strings.Repeat("x", selector.MaxLength-len(`device.driver == ""`)) + `"`,
	`device.driver == "` + strings.Repeat("x", selector.MaxLength-len(`device.driver == ""`)+1) + `"`,
	`device.attributes["d"].x.matches("(a+)+$")`, `device.attributes["d"].all(k, device.attributes["d"].all(l, k == l))`,
	`[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, a+b+c+d+e < 50)))))`,
	`device.attributes["d"].x.isSorted()`, `sets.contains([1], [1])`, `ip("10.0.0.1").family() == 4`, `url("https://x").getHost() == "x"`, `"%s".format(["a"]) == "a"`,
	`math.greatest(1, 2) == 2`, `base64.decode("YQ==") == b"a"`, `duration("1s") < duration("2s")`, `timestamp("2024-01-01T00:00:00Z") < timestamp("2025-01-01T00:00:00Z")`,
	`[1, 2].exists(i, v, i == v)`, `device.attributes["d"].transformMap(k, v, v).size() == 0`, `optional.of(1).hasValue()`, `semver("v1.0", true) == semver("1.0.0")`,
}

// TestSelectors compares what the plugin says of selectors with what a real API server and scheduler do.
// In both clusters the scheduler has the gate for lists off. With the API server's own off, new expressions
// and those that the scheduler takes differ most. With it on, objects are stored that the scheduler has to
// know what to do with.
func TestSelectors(t *testing.T) {
	t.Parallel()
	expressions := slices.Concat(publishedSelectors(t), further)
	t.Run("lists off", func(t *testing.T) {
		c := startForSelectors(t, cluster.Options{FeatureGates: "DRAListTypeAttributes=false"})
		compareAcceptance(t, c, expressions)
		schedule(t, c, onlyServer, "must evaluate to bool or the unknown type")
		pluginSays(t, c, onlyServer, true, false)
		pluginSays(t, c, onlyScheduler, false, true)
		pluginSays(t, c, withLists, false, true)
	})
	t.Run("lists on in the API server", func(t *testing.T) {
		c := startForSelectors(t, cluster.Options{ServerFlags: []string{"--feature-gates=DRAListTypeAttributes=true"}})
		compareAcceptance(t, c, expressions)
		schedule(t, c, withLists, "")
		schedule(t, c, onlyScheduler, "")
		pluginSays(t, c, withLists, true, true)
	})
}

func startForSelectors(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	c := cluster.Start(t, options)
	c.AddNode(t, "n1", map[string]string{corev1.LabelHostname: "n1"})
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 4))
	return c
}

// publishedSelectors are those of testdata/cel.
func publishedSelectors(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../testdata/cel/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out, lines []string
	for line := range strings.SplitSeq(string(data), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
		case strings.HasPrefix(line, "=>"):
			out = append(out, strings.Join(lines, "\n"))
			lines = nil
		default:
			lines = append(lines, line)
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d selectors", len(out))
	}
	return out
}

// compareAcceptance has the API server check a class and a claim with each selector, and compares.
func compareAcceptance(t *testing.T, c *cluster.Cluster, expressions []string) {
	t.Helper()
	features := read(t, c, cluster.Admin, live.Options{}).Features
	cache := selector.NewCache(selector.Features{
		ConsumableCapacity: features.Enabled(inspect.GateConsumableCapacity), ListTypeAttributes: features.Enabled(inspect.GateListTypeAttributes),
	})
	accepted := 0
	for i, expression := range expressions {
		said, why := cache.Check(expression).Accepted()
		if said {
			accepted++
		}
		for kind, err := range map[string]error{"class": dryRunClass(t, c, i, expression), "claim": dryRunClaim(t, c, i, expression)} {
			if err != nil && !apierrors.IsInvalid(err) {
				t.Fatalf("%s with %q: %v", kind, expression, err)
			}
			if (err == nil) != said {
				t.Errorf("%s with %q: the API server says %v, we say %v %s", kind, expression, err, said, why)
			}
		}
	}
	t.Logf("%d of %d selectors are accepted", accepted, len(expressions))
	if accepted < 40 || accepted > len(expressions)-10 {
		t.Error("the selectors are too much alike")
	}
}

func celSelectors(expression string) []resourcev1.DeviceSelector {
	return []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
}

func dryRunClass(t *testing.T, c *cluster.Cluster, i int, expression string) error {
	t.Helper()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", i)}, Spec: resourcev1.DeviceClassSpec{Selectors: celSelectors(expression)}}
	_, err := c.Client().ResourceV1().DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func claimWith(name, expression string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "all", Selectors: celSelectors(expression),
		}}}},
	}}
}

func dryRunClaim(t *testing.T, c *cluster.Cluster, i int, expression string) error {
	t.Helper()
	_, err := c.Client().ResourceV1().ResourceClaims("default").Create(t.Context(), claimWith(fmt.Sprintf("claim-%d", i), expression), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// schedule creates a claim with a selector and a pod that uses it. Want is part of what the scheduler says
// when it gives up, or "" when it shall find a node.
func schedule(t *testing.T, c *cluster.Cluster, expression, want string) {
	t.Helper()
	ctx := t.Context()
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	if _, err := c.Client().ResourceV1().DeviceClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	claim, err := c.Client().ResourceV1().ResourceClaims("default").Create(ctx, withGeneratedName(claimWith("", expression)), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("the API server refuses %s: %v", expression, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Namespace: "default"}, Spec: corev1.PodSpec{
		Containers:     []corev1.Container{{Name: "c", Image: "x"}},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "r", ResourceClaimName: &claim.Name}},
	}}
	if _, err := c.Client().CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	decision, node := c.PodScheduled(t, "default", pod.Name, func(decision corev1.PodCondition, node string) bool {
		return want == "" && node != "" || want != "" && node == "" && strings.Contains(decision.Message, want)
	})
	switch {
	case want == "" && node != "n1":
		t.Errorf("%s: the scheduler gives up: %s", expression, decision.Message)
	case want != "" && (node != "" || !strings.Contains(decision.Message, want)):
		t.Errorf("%s: the scheduler chose %q and says %q, want %q", expression, node, decision.Message, want)
	}
}

func withGeneratedName(claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	claim.GenerateName = "selector-"
	return claim
}

// pluginSays compares what kubectl dra cel prints of a selector.
func pluginSays(t *testing.T, c *cluster.Cluster, expression string, server, scheduler bool) {
	t.Helper()
	var test struct {
		Valid     bool
		APIServer struct{ Accepted bool }
		Findings  []struct{ Code string }
	}
	result := c.Plugin(t, cluster.Admin, "cel", expression, "-o", "json")
	result.JSON(t, &test)
	if test.Valid != scheduler || test.APIServer.Accepted != server {
		t.Errorf("want accepted %v by the API server and %v by the scheduler\n%v", server, scheduler, result)
	}
	code := map[[2]bool]string{{true, false}: "SchedulerRefuses", {false, true}: "ServerRefuses"}[[2]bool{server, scheduler}]
	if code != "" && !slices.ContainsFunc(test.Findings, func(f struct{ Code string }) bool { return f.Code == code }) {
		t.Errorf("want a finding %s\n%v", code, result)
	}
}
