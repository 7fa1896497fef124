package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// demandYAML has levels that lend and borrow in all ways, each for one group.
func demandYAML() (text string, groups []string) {
	for i, limited := range []string{
		"nominalConcurrencyShares: 60, lendablePercent: 90, " + queue,
		"nominalConcurrencyShares: 40, lendablePercent: 33, borrowingLimitPercent: 40, " + queue,
		"nominalConcurrencyShares: 30, borrowingLimitPercent: 0, " + queue,
		"nominalConcurrencyShares: 50, lendablePercent: 50, " + reject,
	} {
		name := fmt.Sprintf("demand-%d", i)
		groups = append(groups, name)
		text += levelYAML(name, limited) + fmt.Sprintf(`---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: %[1]s}
spec:
  matchingPrecedence: 50
  priorityLevelConfiguration: {name: %[1]s}
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects: [{kind: Group, group: {name: %[1]s}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"]}]
`, name)
	}
	return text, groups
}

// TestCurrentLimits recomputes the current limit of every level from the demand that the server saw, every ten seconds under
// changing load: 18 times 12 levels are 216 samples. At least 95 % have to be the server's own number: its metrics are not
// written in one instant, so a reading may have half of an adjustment.
func TestCurrentLimits(t *testing.T) {
	c := cluster.Start(t, cluster.Options{NoScheduler: true, ServerFlags: []string{"--max-requests-inflight=80", "--max-mutating-requests-inflight=40", "--request-timeout=1h"}})
	text, groups := demandYAML()
	c.ApplyText(t, text)
	for _, group := range groups {
		permitGroup(t, c, group)
	}
	agree(t, c, 120, true)
	_, objects, _ := flowControlOf(t, c)
	limits := flowcontrol.Compute(objects, 120)
	reader, err := flowcontrol.NewReader(c.Config(cluster.Admin))
	if err != nil {
		t.Fatal(err)
	}
	random, samples, equal, rules := rand.New(rand.NewPCG(4, 2)), 0, 0, map[flowcontrol.CurrentRule]int{}
	for range 18 {
		var holding []*held
		for i, group := range groups {
			if n := random.IntN(3) * random.IntN(60); n > 0 {
				config := c.Config(cluster.Admin)
				config.Impersonate.UserName, config.Impersonate.Groups = fmt.Sprintf("user-%d-%d", i, n), []string{group}
				holding = append(holding, holdAs(t, config, n))
			}
		}
		time.Sleep(10 * time.Second) // the server adjusts once in that time
		reading := reader.Read(t.Context())
		for _, current := range reading.Metrics.CurrentLimits(&limits, reading.Dump) {
			samples++
			rules[current.Rule]++
			if want := *reading.Metrics.Levels[current.Level].Current; want == current.Limit {
				equal++
			} else {
				t.Logf("%s: the server has %d, computed are %+v", current.Level, want, current)
			}
		}
		for _, h := range holding {
			h.release()
		}
	}
	t.Logf("%d of %d current limits are equal; by rule %v", equal, samples, rules)
	if samples < 200 || equal*100 < samples*95 {
		t.Errorf("%d of %d current limits are equal, want 95 %% of at least 200", equal, samples)
	}
	if rules[flowcontrol.CurrentFair] == 0 || rules[flowcontrol.CurrentLeast] == 0 || rules[flowcontrol.CurrentMost] == 0 || rules[flowcontrol.CurrentExempt] == 0 {
		t.Errorf("some rule was not seen: %v", rules)
	}
}
