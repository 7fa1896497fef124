package checkup

import (
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var upgradeRules = []Rule{
	{
		Code: "UpgradeGates", Severity: Note, also: Warning, upgrade: true, needs: []inspect.Resource{inspect.Slices},
		About:  "In the release of --target, some feature gates are on by default that are off now, or the reverse. Some of them make the scheduler run another variant of its allocator, which may choose other devices.",
		Remedy: "Read the release notes of the gates; kubectl dra explain --features GATE=true tries one.",
		find:   findGates,
	},
	{
		Code: "UpgradeVerdict", Severity: Warning, upgrade: true, triage: true,
		needs:  []inspect.Resource{inspect.Pods, inspect.Claims, inspect.Slices, inspect.Classes, inspect.Nodes},
		About:  "Something that waits would be stuck with the rules and feature gates of the release of --target and is not with the present ones, or the reverse.",
		Remedy: "kubectl dra explain with the --features of the other release says why.",
		find:   findVerdicts,
	},
}

// targetFeatures are the gates of the release that the cluster is about to get: its defaults, but for those
// that are not as the release of now has them by default. Somebody has set these, and can still do so.
func (v *visit) targetFeatures() inspect.Features {
	now := v.s.Features()
	usual, target := inspect.DefaultFeatures(now.Minor), inspect.DefaultFeatures(v.opts.Target)
	set := map[inspect.Gate]bool{}
	for _, gate := range inspect.Gates() {
		if on := now.Enabled(gate); on != usual.Enabled(gate) && !target.Locked(gate) {
			set[gate] = on
		}
	}
	return target.With(set)
}

func findGates(v *visit) {
	now, target := v.s.Features(), v.targetFeatures()
	variant := scheduler.NewCluster(v.s.WithRelease(target), scheduler.Options{}).Variant()
	first := texts(v.s.Slices()[:min(1, len(v.s.Slices()))], sliceRef)
	if len(first) == 0 {
		return
	}
	// In 1.38 each variant does what the one after it did, so their names say nothing.
	if v.cluster.Variant() != variant && (now.Minor < 38) == (target.Minor < 38) {
		v.report(Finding{
			Severity: Warning, Subject: "the scheduler", Objects: first, Detail: fmt.Sprintf("it runs the %s variant of its allocator instead of the %s one", variant, v.cluster.Variant()),
		})
	}
	for _, gate := range inspect.Gates() {
		if now.Enabled(gate) == target.Enabled(gate) {
			continue
		}
		v.report(Finding{
			Subject: "feature gate " + string(gate), Objects: first,
			Detail: fmt.Sprintf("it is %s in Kubernetes 1.%d, and is %s now", onOff(target.Enabled(gate)), v.opts.Target, onOff(now.Enabled(gate))),
		})
	}
	if caveat := (inspect.Release{Minor: v.opts.Target}).Caveat(); caveat != "" {
		v.report(Finding{Subject: "the release of --target", Objects: first, Detail: caveat})
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func findVerdicts(v *visit) {
	target := v.targetFeatures()
	if slices.Equal(target.List(), v.s.Features().List()) && target.Minor == v.s.Features().Minor {
		return
	}
	now, err := v.stuck()
	if err != nil {
		v.skip("what is stuck could not be worked out: %v", err)
		return
	}
	then, err := v.waiting(scheduler.NewCluster(v.s.WithRelease(target), scheduler.Options{}))
	if err != nil {
		v.skip("what is stuck could not be worked out: %v", err)
		return
	}
	if n := len(now.triage.NotLookedInto) + len(then.triage.NotLookedInto); n > 0 {
		v.skip("so much is stuck that not all of it was looked into")
	}
	if n := len(now.triage.Depends) + len(then.triage.Depends); n > 0 {
		v.skip("whether some pods find a node depends on which nodes kube-scheduler chooses for others")
	}
	v.verdicts(now.triage, then.triage, fmt.Sprintf("with the rules and gates of Kubernetes 1.%d it is stuck: ", v.opts.Target))
	v.verdicts(then.triage, now.triage, fmt.Sprintf("it is stuck now, and not with the rules and gates of Kubernetes 1.%d: ", v.opts.Target))
}

// verdicts reports what is stuck in one triage and not in another.
func (v *visit) verdicts(before, after *explain.Triage, say string) {
	known := map[explain.Subject]bool{}
	for i := range before.Causes {
		for j := range before.Causes[i].Subjects {
			known[before.Causes[i].Subjects[j].Subject] = true
		}
	}
	for _, s := range slices.Concat(before.NotLookedInto, before.Depends) {
		known[s] = true
	}
	for i := range after.Causes {
		for j := range after.Causes[i].Subjects {
			s := &after.Causes[i].Subjects[j]
			if known[s.Subject] || after.Causes[i].Verdict == explain.Unknown {
				continue
			}
			v.report(about(object(s.Kind, s.Namespace, s.Name), "",
				say+words.OneLine(after.Causes[i].Message)))
		}
	}
}
