package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

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

// tickYAML is a FlowSchema for nobody. The server adjusts its limits every ten seconds, and, by the same
// function, whenever the spec of a FlowSchema changes (updateBorrowingLocked in apf_controller.go): to change
// this one has it do so at once.
const tickYAML = `---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: tick}
spec:
  matchingPrecedence: 60
  priorityLevelConfiguration: {name: catch-all}
  rules:
  - subjects: [{kind: User, user: {name: nobody}}]
    nonResourceRules: [{verbs: ["*"], nonResourceURLs: ["/tick"]}]
`

// sampling recomputes current limits and compares them with those of the server.
type sampling struct {
	cluster        *cluster.Cluster
	limits         flowcontrol.Limits
	reader         *flowcontrol.Reader
	ticks          int
	samples, equal int
	rules          map[flowcontrol.CurrentRule]int // how many of the equal ones were given by which rule
}

// startSampling starts a server of 120 seats with the levels of demandYAML.
func startSampling(t *testing.T) (s *sampling, c *cluster.Cluster, groups []string) {
	t.Helper()
	c = cluster.Start(t, cluster.Options{NoScheduler: true, ServerFlags: []string{"--max-requests-inflight=80", "--max-mutating-requests-inflight=40", "--request-timeout=1h"}})
	text, groups := demandYAML()
	c.ApplyText(t, text+tickYAML)
	for _, group := range groups {
		permitGroup(t, c, group)
	}
	awaitSchemas(t, c, append([]string{"tick"}, groups...)...)
	agree(t, c, 120, true)
	_, objects, _ := flowControlOf(t, c)
	reader, err := flowcontrol.NewReader(c.Config(cluster.Admin))
	if err != nil {
		t.Fatal(err)
	}
	return &sampling{cluster: c, limits: flowcontrol.Compute(objects, 120), reader: reader, rules: map[flowcontrol.CurrentRule]int{}}, c, groups
}

// still reads the metrics until what they say does not change any more for half a second.
func (s *sampling) still(t *testing.T, say func(*flowcontrol.Metrics) string) (metrics *flowcontrol.Metrics, said string) {
	t.Helper()
	since := time.Now()
	cluster.Eventually(t, func(ctx context.Context) error {
		reading := s.reader.Read(ctx)
		if metrics = reading.Metrics; metrics == nil {
			return errors.New(reading.Health.Message)
		}
		if now := say(metrics); now != said {
			said, since = now, time.Now()
		}
		if time.Since(since) < time.Second/2 {
			return fmt.Errorf("the metrics go on changing: %s", said)
		}
		return nil
	})
	return metrics, said
}

// load is what the levels are doing. demand is what the server saw of it when it last adjusted its limits,
// with the limits.
func (s *sampling) load(m *flowcontrol.Metrics) string {
	return s.each(m, func(l *flowcontrol.Load) any {
		return []int{l.Total.ExecutingRequests, l.Total.QueuedRequests, l.Total.RejectedRequests()}
	})
}

func (s *sampling) demand(m *flowcontrol.Metrics) string {
	return s.each(m, func(l *flowcontrol.Load) any {
		d := l.Demand
		return []float64{ptr.Deref(d.HighWatermark, -1), ptr.Deref(d.Average, -1), ptr.Deref(d.Smoothed, -1), float64(ptr.Deref(l.Current, -1))}
	})
}

func (s *sampling) each(m *flowcontrol.Metrics, of func(*flowcontrol.Load) any) string {
	var out []string
	for _, level := range s.limits.Levels {
		if load := m.Levels[level.Name]; load != nil {
			out = append(out, fmt.Sprint(level.Name, of(load)))
		}
	}
	return strings.Join(out, " ")
}

// sample waits until the server has all that is held now, has it adjust its limits to that, and compares
// them.
func (s *sampling) sample(t *testing.T) {
	t.Helper()
	before, _ := s.still(t, s.load)
	s.ticks++
	patch := fmt.Appendf(nil, `{"spec": {"matchingPrecedence": %d}}`, 60+s.ticks)
	schemas := s.cluster.Client().FlowcontrolV1().FlowSchemas()
	if _, err := schemas.Patch(t.Context(), "tick", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	var metrics *flowcontrol.Metrics
	cluster.Eventually(t, func(context.Context) error {
		var now string
		if metrics, now = s.still(t, s.demand); now == s.demand(before) {
			return errors.New("the server has not adjusted its limits yet")
		}
		return nil
	})
	for _, current := range metrics.CurrentLimits(&s.limits) {
		s.samples++
		if want := *metrics.Levels[current.Level].Current; want == current.Limit {
			s.equal++
			s.rules[current.Rule]++
		} else {
			t.Logf("%s: the server has %d, computed are %+v", current.Level, want, current)
		}
	}
}

// check wants so many samples, 95 % of which are equal, and some equal ones by each of the rules.
func (s *sampling) check(t *testing.T, samples, each int, rules ...flowcontrol.CurrentRule) {
	t.Helper()
	t.Logf("%d of %d current limits are equal; by rule %v", s.equal, s.samples, s.rules)
	if s.samples < samples || s.equal*100 < s.samples*95 {
		t.Errorf("%d of %d current limits are equal, want 95 %% of at least %d", s.equal, s.samples, samples)
	}
	for _, rule := range rules {
		if s.rules[rule] < each {
			t.Errorf("of the limits that are equal, %d are by rule %s, want %d", s.rules[rule], rule, each)
		}
	}
}

// holdGroup holds n requests of one user of a group.
func holdGroup(t *testing.T, c *cluster.Cluster, group string, n int) *held {
	t.Helper()
	config := c.Config(cluster.Admin)
	config.Impersonate.UserName, config.Impersonate.Groups = fmt.Sprintf("user-of-%s-%d", group, n), []string{group}
	return holdAs(t, config, n)
}

// TestCurrentLimits recomputes the current limit of every level from the demand that the server saw, under
// changing load: 18 times 12 levels are 216 samples. At least 95 % have to be the server's own number: its
// metrics are not written in one instant, so a reading may have half of an adjustment.
func TestCurrentLimits(t *testing.T) {
	s, c, groups := startSampling(t)
	random := rand.New(rand.NewPCG(4, 2))
	for range 18 {
		var holding []*held
		for _, group := range groups {
			if n := random.IntN(3) * random.IntN(60); n > 0 {
				holding = append(holding, holdGroup(t, c, group, n))
			}
		}
		s.sample(t)
		for _, h := range holding {
			h.release()
		}
	}
	s.check(t, 200, 1, flowcontrol.CurrentFair, flowcontrol.CurrentLeast, flowcontrol.CurrentMost, flowcontrol.CurrentExempt)
}

// TestCurrentLimitsBesideExempt has exempt requests take so many seats that no other level gets more than its
// lower limit, or only a part of what it keeps otherwise.
func TestCurrentLimitsBesideExempt(t *testing.T) {
	s, c, groups := startSampling(t)
	nominal, lower, kept := 0, 0, 0
	for _, level := range s.limits.Levels {
		nominal += level.Nominal
		if level.Type == flowcontrolv1.PriorityLevelEnablementExempt {
			continue
		}
		lower, kept = lower+level.Lower, kept+level.Lower
		if slices.Contains(groups, level.Name) { // they want more than their nominal limit
			kept += level.Nominal - level.Lower
		}
	}
	// They grow: what was taken in the round before may be in the server's high watermark still.
	for i, taken := range []int{nominal - (lower+3*kept)/4, nominal - (lower+kept)/2, nominal - (3*lower+kept)/4, nominal - lower, nominal - lower + 10, nominal} {
		var holding []*held
		for _, group := range groups {
			holding = append(holding, holdGroup(t, c, group, 50+i))
		}
		holding = append(holding, hold(t, c, cluster.Admin, taken))
		s.sample(t)
		for _, h := range holding {
			h.release()
		}
	}
	s.check(t, 72, 20, flowcontrol.CurrentLower, flowcontrol.CurrentShare)
}
