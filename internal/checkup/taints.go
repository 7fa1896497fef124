package checkup

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var taintRules = []Rule{
	{
		Code: "TaintRuleOfAll", Severity: Warning, files: true, needs: []inspect.Resource{inspect.TaintRules},
		About:  "The device selector of a DeviceTaintRule is empty, so the rule taints all devices of the cluster.",
		Remedy: "Name a driver, a pool or a device in spec.deviceSelector.",
		find:   findRulesOfAll,
	},
	{
		Code: "TaintRuleOfNothing", Severity: Warning, also: Error, needs: []inspect.Resource{inspect.TaintRules, inspect.Slices},
		About:  "A DeviceTaintRule selects no device that is published. An error if it has no device selector at all and the scheduler therefore taints every device, as it does before 1.37.1.",
		Remedy: "Compare its driver, pool and device with kubectl dra get devices; delete it if the device is gone.",
		find:   findRulesOfNothing,
	},
	{
		Code: "TaintRuleIgnored", Severity: Warning, needs: []inspect.Resource{inspect.TaintRules},
		About:  "There are DeviceTaintRules, and the scheduler ignores them, because the feature gate DRADeviceTaintRules or DRADeviceTaints is off.",
		Remedy: "Turn both gates on in kube-apiserver, kube-scheduler and kube-controller-manager.",
		find:   findIgnoredRules,
	},
	{
		Code: "EvictionSkipped", Severity: Warning, needs: []inspect.Resource{inspect.Claims, inspect.Slices, inspect.Pods},
		About:  "A device with a NoExecute taint is held by a claim for extended resources, so its pod is not evicted: before 1.37.2 the controller ignores such claims.",
		Remedy: "Delete the pod by hand.",
		find:   findSkippedEvictions,
	},
	{
		Code: "DeviceTainted", Severity: Note, needs: []inspect.Resource{inspect.Slices},
		About:  "A taint keeps claims off a device, or evicts the pods that use it.",
		Remedy: "A driver removes its taint when the device is healthy again; the taint of a DeviceTaintRule ends when the rule is deleted.",
		find:   findTainted,
	},
	{
		Code: "FenceLeft", Severity: Warning, needs: []inspect.Resource{inspect.TaintRules, inspect.Claims},
		About:  "A rule by which kubectl dra allocate or deallocate kept kube-scheduler off a device still exists, although no claim holds the device any more. While a claim held it, the rule was needed, because the scheduler could have taken the device for free.",
		Remedy: "The next kubectl dra allocate or deallocate removes it; or kubectl delete devicetaintrule NAME.",
		find:   findFences,
	},
	{
		Code: "AnnouncementLeft", Severity: Warning, needs: []inspect.Resource{inspect.Claims},
		About:  "A claim carries the announcement of a run of kubectl dra allocate or deallocate that began more than ten minutes ago: it was killed. Other runs have to wait because of it, and what it wrote may have to be undone.",
		Remedy: "The next kubectl dra allocate or deallocate cleans the claim up; so does kubectl dra deallocate of the claim itself.",
		find:   findAnnouncements,
	},
}

func ruleRef(r *resourcev1.DeviceTaintRule) inspect.ObjectRef {
	return object("DeviceTaintRule", "", r.Name)
}

func (v *visit) reportRule(r *resourcev1.DeviceTaintRule, path, detail string) {
	v.report(about(ruleRef(r), path, detail))
}

func findRulesOfAll(v *visit) {
	for _, rule := range v.s.Objects().TaintRules {
		sel := rule.Spec.DeviceSelector
		if sel != nil && sel.Driver == nil && sel.Pool == nil && sel.Device == nil {
			v.reportRule(rule, "spec.deviceSelector", fmt.Sprintf("it taints all %s with %s", words.Count(len(v.devices()), "device"), words.FormatTaint(&rule.Spec.Taint)))
		}
	}
}

func findRulesOfNothing(v *visit) {
	for _, rule := range v.s.Objects().TaintRules {
		if rule.Spec.DeviceSelector == nil {
			v.reportNoSelector(rule)
			continue
		}
		if !slices.ContainsFunc(v.devices(),
			func(d *inspect.DeviceStatus) bool { return inspect.RuleSelects(rule, d.ID) }) {
			v.reportRule(rule, "spec.deviceSelector", fmt.Sprintf("it selects none of %s", words.Count(len(v.devices()), "device")))
		}
	}
}

func (v *visit) reportNoSelector(rule *resourcev1.DeviceTaintRule) {
	f := about(ruleRef(rule), "spec.deviceSelector", "it has no device selector, and so selects nothing")
	if v.s.NoSelectorTaintsAll() && v.acted() {
		if rule.Spec.Taint.Effect != resourcev1.DeviceTaintEffectNone {
			f.Severity = Error
		}
		f.Detail = fmt.Sprintf("it has no device selector, and kube-scheduler %s therefore taints all %s with %s", v.s.Release(), words.Count(len(v.devices()), "device"), words.FormatTaint(&rule.Spec.Taint))
		if v.s.NoSelectorEvictsAll() && rule.Spec.Taint.Effect == resourcev1.DeviceTaintEffectNoExecute {
			f.Detail += "; pods are evicted from all of them"
		}
		f.Remedy = "Delete the rule, or name a driver, a pool or a device in spec.deviceSelector."
	}
	v.report(f)
}

// acted reports whether the cluster acts on DeviceTaintRules.
func (v *visit) acted() bool {
	f := v.s.Features()
	return f.Enabled(inspect.GateDeviceTaintRules) && f.Enabled(inspect.GateDeviceTaints)
}

func findIgnoredRules(v *visit) {
	if v.acted() {
		return
	}
	for _, rule := range v.s.Objects().TaintRules {
		v.reportRule(rule, "", "the scheduler does not look at it")
	}
}

func findSkippedEvictions(v *visit) {
	if !v.s.Features().Enabled(inspect.GateDeviceTaints) || inspect.EvictsExtended.In(v.s.Release()) {
		return
	}
	for _, d := range v.devices() {
		for j := range d.Device.Taints {
			taint := &d.Device.Taints[j]
			rules := v.s.RulesBehind(d.ID, taint)
			evicts := func(r *resourcev1.DeviceTaintRule) bool { return v.s.RuleEvicts(r, d.ID, true) }
			unseen := len(rules) > 0 && !slices.ContainsFunc(rules, evicts) // by the controller: no selector
			if taint.Effect != resourcev1.DeviceTaintEffectNoExecute || unseen {
				continue
			}
			for _, h := range d.Holders {
				claim, ok := v.s.Claim(h.Claim)
				if !ok || claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "" || h.Admin() {
					continue
				}
				v.reportClaim(claim, "", fmt.Sprintf("it holds %s, which has the taint %s, and its pod stays", d.ID, words.FormatTaint(taint)))
			}
		}
	}
}

func findTainted(v *visit) {
	if !v.s.Features().Enabled(inspect.GateDeviceTaints) {
		return
	}
	for _, d := range v.devices() {
		for j := range d.Device.Taints {
			taint := &d.Device.Taints[j]
			if taint.Effect != resourcev1.DeviceTaintEffectNoExecute && taint.Effect != resourcev1.DeviceTaintEffectNoSchedule {
				continue
			}
			f := aboutDevice(d, "it has the taint "+words.FormatTaint(taint))
			if taint.TimeAdded != nil {
				f.Detail += v.ago(" for ", taint.TimeAdded.Time)
			}
			for _, rule := range v.s.RulesBehind(d.ID, taint) {
				f.Detail += ", of DeviceTaintRule " + rule.Name
				f.Objects = append(f.Objects, ruleRef(rule))
			}
			v.report(f)
		}
	}
}

func findFences(v *visit) {
	for _, rule := range v.s.Objects().TaintRules {
		id, fences := inspect.FencedBy(rule)
		held := slices.ContainsFunc(v.s.Holders(id), func(h inspect.Holder) bool { return !h.Admin() && !h.Shared() })
		if fences && !held && v.age(rule.CreationTimestamp.Time) >= settled {
			v.reportRule(rule, "", fmt.Sprintf("it fences off device %s%s, which no claim holds", id, v.ago(" for ", rule.CreationTimestamp.Time)))
		}
	}
}

func findAnnouncements(v *visit) {
	for _, claim := range v.s.Objects().Claims {
		a, announced := inspect.AnnouncementOn(claim)
		switch {
		case !announced, a.Action != "" && v.age(a.At) < settled:
			continue
		case a.Action == "":
			v.reportClaim(claim, "metadata.annotations", "its annotation "+inspect.AnnouncementKey+" cannot be read")
			continue
		}
		detail := fmt.Sprintf("it carries the announcement of a kubectl dra %s that began %s ago", a.Action, words.Age(a.At, v.now))
		if a.By != "" {
			detail += ", by " + words.OneLine(a.By)
		}
		v.reportClaim(claim, "metadata.annotations", detail)
	}
}
