package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// taintRules has thirty DeviceTaintRules, and a cluster for them.
const taintRules = "testdata/taintrules"

// rulePreview is the output of check --taint-rule.
type rulePreview struct {
	Rule             string
	Devices          []string
	AllocatedDevices int
	Executes         bool
	Evicted          []struct {
		Pod string
		At  time.Time
	}
}

// counts are what the controller says that a rule would do, as it says it.
func (p *rulePreview) counts() string {
	namespaces := map[string]bool{}
	for _, e := range p.Evicted {
		namespace, _, _ := strings.Cut(e.Pod, "/")
		namespaces[namespace] = true
	}
	devices := func(n int) string {
		if n == 1 {
			return "1 %s device selected. "
		}
		return fmt.Sprint(n) + " %s devices selected. "
	}
	return fmt.Sprintf(devices(len(p.Devices)), "published") + fmt.Sprintf(devices(p.AllocatedDevices), "allocated") +
		plural(len(p.Evicted), "pod", "pods") + " would be evicted in " + plural(len(namespaces), "namespace", "different namespaces") + " "
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// readRules reads the rules, with times as if they were written now.
func readRules(t *testing.T) []*resourcev1.DeviceTaintRule {
	t.Helper()
	var rules []*resourcev1.DeviceTaintRule
	for _, o := range cluster.DecodeText(t, asOfNow(t, readText(t, filepath.Join(taintRules, "rules.yaml")))) {
		data, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		rule := &resourcev1.DeviceTaintRule{}
		if err := json.Unmarshal(data, rule); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	return rules
}

// TestTaintRulePreviews asks what thirty rules would do, and creates each: with the effect None the
// controller that evicts pods says how many devices and pods the rule hits, and with its own effect it evicts
// pods.
func TestTaintRulePreviews(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Controllers: []string{"device-taint-eviction-controller"}})
	predicted, evicted, rules := 0, 0, readRules(t)
	asItWas := false // no pod of the scene has been evicted
	for _, rule := range rules {
		t.Run(rule.Name, func(t *testing.T) {
			if !asItWas {
				c.Clear(t)
				if refusals := c.Plant(t, cluster.DecodeText(t, asOfNow(t, readText(t, filepath.Join(taintRules, "scene.yaml"))))); len(refusals) > 0 {
					t.Fatalf("the server refuses %v", refusals)
				}
			}
			asItWas = false
			before := leaving(t, c)
			preview := previewOf(t, c, rule)
			testCounts(t, c, rule, &preview)
			created, err := c.Client().ResourceV1().DeviceTaintRules().Create(t.Context(), rule, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]time.Time{}
			for _, e := range preview.Evicted {
				// Who tolerates the taint for longer than anybody wants to wait has to stay.
				if preview.Executes && time.Until(e.At) < 10*time.Second {
					want[e.Pod] = e.At
				}
			}
			testEvictions(t, c, created, before, want)
			if err := c.Client().ResourceV1().DeviceTaintRules().Delete(t.Context(), rule.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			asItWas = len(want) == 0
			predicted, evicted = predicted+len(preview.Evicted), evicted+len(want)
		})
	}
	t.Logf("%d rules; %d pods hit, of which %d were evicted", len(rules), predicted, evicted)
	if len(rules) < 30 || evicted < 100 {
		t.Errorf("%d rules evicted %d pods, want 30 and 100", len(rules), evicted)
	}
}

// previewOf asks the plugin what a rule would do.
func previewOf(t *testing.T, c *cluster.Cluster, rule *resourcev1.DeviceTaintRule) rulePreview {
	t.Helper()
	data, err := yaml.Marshal(rule)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rule.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var preview rulePreview
	c.Plugin(t, cluster.Admin, "check", "--taint-rule", file, "-o", "json").JSON(t, &preview)
	return preview
}

// testCounts has the controller count, which it does for rules without effect. It counts once for each rule,
// and may not have seen all objects the first time.
func testCounts(t *testing.T, c *cluster.Cluster, rule *resourcev1.DeviceTaintRule, preview *rulePreview) {
	t.Helper()
	rules := c.Client().ResourceV1().DeviceTaintRules()
	trial := rule.DeepCopy()
	trial.Name, trial.Spec.Taint.Effect = "trial", resourcev1.DeviceTaintEffectNone
	last := ""
	for _, pause := range patience {
		created, err := rules.Create(t.Context(), trial, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		last = conditionOf(t, c, created)
		if err := rules.Delete(t.Context(), trial.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(last, "NoEffect: "+preview.counts()) {
			return
		}
		time.Sleep(pause)
	}
	t.Errorf("the controller says %q,\nwant %q of %+v", last, preview.counts(), preview)
}

// conditionOf waits until the controller has said something about a rule.
func conditionOf(t *testing.T, c *cluster.Cluster, rule *resourcev1.DeviceTaintRule) (said string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		now, err := c.Client().ResourceV1().DeviceTaintRules().Get(ctx, rule.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		condition := meta.FindStatusCondition(now.Status.Conditions, resourcev1.DeviceTaintConditionEvictionInProgress)
		if condition == nil || now.UID != rule.UID {
			return fmt.Errorf("the controller has said nothing about rule %s", rule.Name)
		}
		said = condition.Reason + ": " + condition.Message
		return nil
	})
	return said
}

// testEvictions wants a rule to evict exactly the pods that were predicted, and none before its time.
func testEvictions(t *testing.T, c *cluster.Cluster, rule *resourcev1.DeviceTaintRule, before map[string]bool, want map[string]time.Time) {
	t.Helper()
	conditionOf(t, c, rule)
	cluster.Eventually(t, func(context.Context) error {
		now := leaving(t, c)
		for pod := range want {
			if !now[pod] {
				return fmt.Errorf("pod %s is not evicted; evicted are %v", pod, slices.Sorted(maps.Keys(now)))
			}
		}
		return nil
	})
	got := leaving(t, c)
	maps.DeleteFunc(got, func(pod string, _ bool) bool { return before[pod] })
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("evicted: (-predicted +controller):\n%s", diff)
	}
	for pod, at := range want {
		namespace, name, _ := strings.Cut(pod, "/")
		o, err := c.Client().CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // it had ended, and went at once
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, condition := range o.Status.Conditions {
			if condition.Type == corev1.DisruptionTarget && condition.LastTransitionTime.Time.Before(at.Add(-time.Second)) {
				t.Errorf("pod %s was evicted at %v, predicted was %v", pod, condition.LastTransitionTime, at)
			}
		}
	}
}

// scenePods are the pods that the scene has, by namespace and name.
func scenePods(t *testing.T) []string {
	t.Helper()
	var pods []string
	for _, o := range cluster.Decode(t, filepath.Join(taintRules, "scene.yaml")) {
		if o.GetKind() == "Pod" {
			pods = append(pods, o.GetNamespace()+"/"+o.GetName())
		}
	}
	return pods
}

// leaving are the pods that are about to go, or gone.
func leaving(t *testing.T, c *cluster.Cluster) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, pod := range scenePods(t) {
		out[pod] = true
	}
	pods, err := c.Client().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			delete(out, pod.Namespace+"/"+pod.Name)
		}
	}
	return out
}
