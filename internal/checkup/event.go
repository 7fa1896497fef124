package checkup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RulesEvent is that rules are created now: whom they evict, and when. Those of the same names are replaced.
func RulesEvent(s *inspect.Snapshot, rules []*resourcev1.DeviceTaintRule) *disruption.Event {
	var names []string
	e := &disruption.Event{Change: func(o *inspect.Objects) {
		for _, rule := range rules {
			o.TaintRules = slices.DeleteFunc(slices.Clone(o.TaintRules), func(r *resourcev1.DeviceTaintRule) bool { return r.Name == rule.Name })
			o.TaintRules = append(o.TaintRules, rule)
		}
	}}
	seen := map[inspect.PodRef]int{}
	for _, rule := range rules {
		names = append(names, rule.Name)
		preview := PreviewRule(s, rule)
		if preview.Ignored {
			e.Remarks = append(e.Remarks, "the cluster does not look at DeviceTaintRules: a feature gate is off")
			continue
		}
		if !preview.Executes() {
			continue
		}
		for _, v := range preview.Evicted {
			pod, ok := s.Pod(v.Pod)
			if !ok {
				continue
			}
			after := max(v.At.Sub(s.Time()), 0)
			if at, known := seen[v.Pod]; known {
				e.Evicted[at].After = min(e.Evicted[at].After, after)
				continue
			}
			seen[v.Pod] = len(e.Evicted)
			e.Evicted = append(e.Evicted, disruption.Eviction{Pod: pod, After: after.Round(time.Second), Cause: "tainted: " + v.Devices[0].Device})
		}
		for _, note := range skipped(s, rule, preview.Staying) {
			if !slices.Contains(e.Besides, note) {
				e.Besides = append(e.Besides, note)
			}
		}
	}
	e.What = "DeviceTaintRule " + strings.Join(names, ", ")
	return e
}

// skipped notes which of the pods that stay would be evicted if the controller looked at claims for extended
// resources.
func skipped(s *inspect.Snapshot, rule *resourcev1.DeviceTaintRule, staying []inspect.PodRef) []explain.Note {
	if inspect.EvictsExtended.In(s.Release()) {
		return nil
	}
	var out []explain.Note
	for _, ref := range staying {
		pod, _ := s.Pod(ref)
		extended := pod.Status.ExtendedResourceClaimStatus
		if extended == nil {
			continue
		}
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: extended.ResourceClaimName})
		if ok && tainted(s, rule, claim) > 0 {
			out = append(out, explain.Note{
				Kind: "Pod", Namespace: ref.Namespace, Name: ref.Name,
				Message: fmt.Sprintf("stays on tainted devices: Kubernetes %s evicts no pod for devices that it has as extended resources (1.37.2 does); delete it yourself", s.Release()),
			})
		}
	}
	return out
}

// AgainEvicted says which of the pods that come back get tainted devices again, as they tolerate the taints
// for a while, and are evicted again.
func AgainEvicted(a *disruption.Aftermath, rules []*resourcev1.DeviceTaintRule) []string {
	back := map[inspect.PodRef]bool{}
	for i := range a.Gone {
		if g := &a.Gone[i]; g.Then == explain.ComesBack {
			back[inspect.PodRef{Namespace: g.Subject.Namespace, Name: g.Subject.Name}] = true
		}
	}
	var names []string
	for _, rule := range rules {
		preview := PreviewRule(a.With, rule)
		if preview.Ignored || !preview.Executes() {
			continue
		}
		for _, v := range preview.Evicted {
			if name := v.Pod.Namespace + "/" + v.Pod.Name; back[v.Pod] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{words.Shorten(names, 4) + words.Plural(len(names), " gets", " get") +
		" tainted devices again, as the taint is tolerated for a while, and " + words.Plural(len(names), "is", "are") + " evicted again"}
}
