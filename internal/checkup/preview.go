package checkup

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RulePreview is what a DeviceTaintRule would do, if it were created now.
type RulePreview struct {
	Rule  string
	Taint resourcev1.DeviceTaint
	// Ignored says that the cluster does not look at such rules, so that nothing of the rest comes true.
	Ignored bool
	// NoSelector says who taints every device because the rule has no device selector. It is empty for
	// other rules, and where nobody does.
	NoSelector string
	// Devices are those that the rule selects, sorted. Of a pool only those of its newest generation count.
	Devices []inspect.DeviceID
	// Claims are those that hold any device that the rule selects, sorted, even if it is no longer published;
	// admin access counts.
	Claims []inspect.ClaimRef
	// Allocated counts such devices in the allocations of all claims: one that two claims share counts twice.
	Allocated int
	// Evicted are the pods that would be evicted, those first that go first. Where the effect is not
	// NoExecute nobody is; then they are those that would be if it were.
	Evicted []Eviction
	// Staying are the other pods that have any of the devices and run, sorted.
	Staying []inspect.PodRef
	now     time.Time
}

// Eviction is a pod that is evicted.
type Eviction struct {
	Pod inspect.PodRef
	// At is when. It is zero if that is not known.
	At time.Time
	// Devices are those for which it is, in the order of its allocation.
	Devices []inspect.DeviceID
}

// Executes reports whether the rule evicts pods.
func (p *RulePreview) Executes() bool { return p.Taint.Effect == resourcev1.DeviceTaintEffectNoExecute }

// PreviewRule supposes that a rule is created now. One of the same name is replaced.
func PreviewRule(s *inspect.Snapshot, rule *resourcev1.DeviceTaintRule) *RulePreview {
	t := rule.Spec.Taint
	p := &RulePreview{
		Rule: rule.Name, Taint: resourcev1.DeviceTaint{Key: t.Key, Value: t.Value, Effect: t.Effect}, now: s.Time(),
		Ignored: !s.Features().Enabled(inspect.GateDeviceTaintRules) || !s.Features().Enabled(inspect.GateDeviceTaints),
	}
	supposed := rule.DeepCopy()
	if supposed.Spec.Taint.TimeAdded == nil { // as the API server does
		supposed.Spec.Taint.TimeAdded = &metav1.Time{Time: s.Time()}
	}
	supposed.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNoExecute
	after := s.With(func(o *inspect.Objects) {
		o.TaintRules = slices.DeleteFunc(o.TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return r.Name == rule.Name })
		o.TaintRules = append(o.TaintRules, supposed)
	})
	after = after.WithFeatures(s.Features().With(map[inspect.Gate]bool{inspect.GateDeviceTaintRules: true, inspect.GateDeviceTaints: true}))
	var users []inspect.PodRef
	if rule.Spec.DeviceSelector == nil && s.NoSelectorTaintsAll() {
		p.NoSelector = "kube-scheduler " + s.Release().String() + " takes that for every device; the controller that evicts pods takes it for none."
		if s.NoSelectorEvictsAll() {
			p.NoSelector = "kube-scheduler and the controller that evicts pods of Kubernetes " + s.Release().String() + " take that for every device."
		}
	}
	for d := range s.Inventory().Newest() {
		if after.RuleTaints(rule, d.ID) {
			p.Devices = append(p.Devices, d.ID)
		}
	}
	for _, claim := range s.Objects().Claims {
		if n := tainted(after, rule, claim); n > 0 {
			p.Allocated += n
			p.Claims = append(p.Claims, inspect.RefOf(claim))
			users = append(users, s.PodsOf(inspect.RefOf(claim))...)
		}
	}
	slices.SortFunc(p.Claims, inspect.ClaimRef.Compare)
	slices.SortFunc(users, inspect.PodRef.Compare)
	for _, ref := range slices.Compact(users) {
		p.follow(after, ref)
	}
	slices.SortStableFunc(p.Evicted, func(a, b Eviction) int {
		return cmp.Or(a.At.Compare(b.At), a.Pod.Compare(b.Pod))
	})
	return p
}

// tainted counts the devices of an allocation that a rule taints.
func tainted(s *inspect.Snapshot, rule *resourcev1.DeviceTaintRule, claim *resourcev1.ResourceClaim) int {
	n := 0
	if claim.Status.Allocation != nil {
		for i := range claim.Status.Allocation.Devices.Results {
			if s.RuleTaints(rule, inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i])) {
				n++
			}
		}
	}
	return n
}

// follow says what becomes of a pod while the rule is there.
func (p *RulePreview) follow(s *inspect.Snapshot, ref inspect.PodRef) {
	pod, ok := s.Pod(ref)
	if !ok || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil {
		return
	}
	problems := lifecycle.DeviceEvictions(s, pod, allocatedOf(s, pod))
	for i := range problems {
		problem := &problems[i]
		if slices.ContainsFunc(problem.TaintRules, func(r explain.TaintRule) bool { return r.Name == p.Rule }) {
			p.Evicted = append(p.Evicted, Eviction{ref, problem.Until, problem.Devices})
			return
		}
	}
	if !inspect.Ended(pod) {
		p.Staying = append(p.Staying, ref)
	}
}

// Lines lays the preview out. It is safe to show.
func (p *RulePreview) Lines(l Layout) []styled.Line {
	out := &page{layout: l}
	out.text("", "  ", styled.Line{
		{Text: "DeviceTaintRule " + p.Rule, Role: styled.Strong}, {Text: fmt.Sprintf(" taints %s with ", words.Count(len(p.Devices), "device"))},
		{Text: words.FormatTaint(&p.Taint), Role: styled.Warn},
	})
	if p.Ignored {
		out.text("! ", "  ", styled.Text(styled.Warn, "The cluster does not look at such rules: a feature gate is off. The rest is what would be if it did."))
	}
	if p.NoSelector != "" {
		out.text("! ", "  ", styled.Text(styled.Warn, "The rule has no device selector. "+p.NoSelector))
	}
	out.listed("devices", texts(p.Devices, inspect.DeviceID.String), l.All)
	out.listed("claims that hold them", texts(p.Claims, inspect.ClaimRef.String), l.All)
	what := "evicts at once, or when a toleration is over"
	if !p.Executes() {
		what = "would evict, if the effect were NoExecute"
	}
	out.listed(what, texts(p.Evicted, func(e Eviction) string {
		when := "at once"
		if e.At.After(p.now) {
			when = "in " + words.Age(p.now, e.At)
		}
		return fmt.Sprintf("pod %s %s (%s)", e.Pod, when, shortDevices(e.Devices))
	}), l.All)
	out.listed("pods that stay", texts(p.Staying, inspect.PodRef.String), l.All)
	return out.lines
}

func shortDevices(ids []inspect.DeviceID) string {
	return words.Shorten(texts(ids, inspect.DeviceID.String), 2)
}

// maxListed is how many items a list shows, unless all are shown.
const maxListed = 8

func texts[T, U any](items []T, text func(T) U) []U {
	out := make([]U, len(items))
	for i, item := range items {
		out[i] = text(item)
	}
	return out
}

// listed lays out items under a heading. It lays out nothing if there are none.
func (p *page) listed(heading string, items []string, all bool) {
	if len(items) == 0 {
		return
	}
	p.text("  ", "  ", styled.Text(styled.Title, fmt.Sprintf("%s: %d", heading, len(items))))
	for i, item := range items {
		if i == maxListed && !all && len(items) > maxListed+1 {
			p.text("    ", "    ", styled.Text(styled.Dim, fmt.Sprintf("and %d more (%s shows all)", len(items)-i, cmp.Or(p.layout.More, "-v"))))
			return
		}
		p.text("    ", "      ", styled.Text(styled.Plain, item))
	}
}
